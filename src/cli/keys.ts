/**
 * `kubedoh keys`: the keys by which a cluster publishes to a gateway, ready to be put in place.
 * @module
 */
import { randomBytes } from 'node:crypto'
import { encodeBase64url } from '../dns/base64url.ts'
import { CLUSTER_ID } from '../snapshot/manifest.ts'
import { generateKeyPair, sha256Hex } from '../snapshot/signature.ts'
import type { Input } from './flags.ts'
import { CommandError, type Output, UsageError } from './output.ts'

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
  const token = encodeBase64url(randomBytes(TOKEN_BYTES))
  const { privateKey, publicKey } = await generateKeyPair()
  const tokenSha256 = await sha256Hex(new TextEncoder().encode(token))
  return { token, signingKey: privateKey, tokenSha256, publicKey }
}

/** Prints new keys. */
export async function runKeys(input: Input, output: Output): Promise<void> {
  if (input.isSet('admin')) {
    await printAdminToken(output)
    return
  }
  const [cluster] = input.args
  if (cluster === undefined) throw new UsageError('name a cluster, or give --admin')
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

async function printAdminToken({ stdout }: Output): Promise<void> {
  const token = encodeBase64url(randomBytes(TOKEN_BYTES))
  stdout.write(
    [
      '# For who keeps the tokens of clients (kubedoh token …), to be kept secret:',
      `export KUBEDOH_ADMIN_TOKEN=${token}`,
      '# For the gateway, in wrangler.toml below [vars]:',
      `# ADMIN_TOKEN_SHA256 = "${await sha256Hex(new TextEncoder().encode(token))}"`,
      '',
    ].join('\n'),
  )
}
