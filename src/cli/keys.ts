/**
 * `kubedoh keys`: the keys by which a cluster publishes to a gateway, ready to be put in place.
 * @module
 */
import { randomBytes } from 'node:crypto'
import { encodeBase64url } from '../bytes/base64url.ts'
import { CommandError, type Output, UsageError } from '../node/output.ts'
import { CLUSTER_ID } from '../snapshot/format/manifest.ts'
import { generateKeyPair, sha256Hex } from '../snapshot/format/signature.ts'
import type { Input } from './flags.ts'

/** Keys of a cluster: what the exporter keeps secret, and what the gateway is told. */
export type ClusterKeys = {
  readonly token: string
  readonly signingKey: string
  /** Of the token, 64 hexadecimal digits. */
  readonly tokenSha256: string
  readonly publicKey: string
}

const TOKEN_BYTES = 32

/** Makes the keys of one cluster. */
export async function createClusterKeys(): Promise<ClusterKeys> {
  const { token, sha256 } = await createToken()
  const { privateKey, publicKey } = await generateKeyPair()
  return { token, signingKey: privateKey, tokenSha256: sha256, publicKey }
}

/** Creates a token of 256 bits and its SHA-256, 64 hexadecimal digits. */
export async function createToken(): Promise<{ readonly token: string; readonly sha256: string }> {
  const token = encodeBase64url(randomBytes(TOKEN_BYTES))
  return { token, sha256: await sha256Hex(new TextEncoder().encode(token)) }
}

/** Prints new keys. */
export async function runKeys(input: Input, output: Output): Promise<void> {
  if (input.isSet('admin')) {
    const use = 'making the tokens of clients (kubedoh token …)'
    await printToken(output, { use, name: 'KUBEDOH_ADMIN_TOKEN', hash: 'ADMIN_TOKEN_SHA256' })
    return
  }
  if (input.isSet('read-only')) {
    const use = 'reading /readyz and /metrics, such as by Prometheus'
    await printToken(output, { use, name: 'KUBEDOH_READ_TOKEN', hash: 'READ_ONLY_TOKEN_SHA256' })
    return
  }
  const [cluster] = input.args
  if (cluster === undefined) throw new UsageError('name a cluster, or give --admin or --read-only')
  if (!CLUSTER_ID.test(cluster)) {
    throw new CommandError(`"${cluster}" is not made of a-z, 0-9 and "-", 63 at most`)
  }
  const { token, signingKey, tokenSha256, publicKey } = await createClusterKeys()
  const clusters = JSON.stringify({ [cluster]: { publicKey, tokenSha256 } })
  output.stdout.write(
    [
      '# For the exporter, to be kept secret:',
      `export KUBEDOH_TOKEN=${token}`,
      `export KUBEDOH_SIGNING_KEY=${signingKey}`,
      '# For the gateway, in wrangler.toml below [vars]:',
      `# CLUSTERS = '${clusters}'`,
      '',
    ].join('\n'),
  )
}

/** Prints an operator's token, and its hash as the variable of the gateway. */
async function printToken(
  { stdout }: Output,
  { use, name, hash }: { readonly use: string; readonly name: string; readonly hash: string },
): Promise<void> {
  const { token, sha256 } = await createToken()
  stdout.write(
    [
      `# For ${use}; keep it secret:`,
      `export ${name}=${token}`,
      '# For the gateway, in wrangler.toml below [vars]:',
      `# ${hash} = "${sha256}"`,
      '',
    ].join('\n'),
  )
}
