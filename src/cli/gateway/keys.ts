/**
 * `kubedoh keys`: prints new keys of a cluster or an operator, as lines for a shell.
 * @module
 */
import { createClusterKeys, createToken } from '../../exporter/cluster-keys.ts'
import { CommandError, type Output, UsageError } from '../../server/node/output.ts'
import { CLUSTER_ID } from '../../snapshot/format/manifest.ts'
import { generateKeyPair } from '../../snapshot/format/signature.ts'
import type { Input } from '../flags/flags.ts'

/** A shell takes the line after it as it is; so does TOML, but for the first word. */
const GATEWAY = '# For the gateway; in wrangler.toml under [vars], without "export":'

/** Prints new keys of a cluster, or the token or key that a flag names. */
export async function runKeys(input: Input, output: Output): Promise<void> {
  const [cluster] = input.args
  const kinds = ['admin', 'read-only', 'replica', 'exchange'] as const
  if (kinds.filter((kind) => input.isSet(kind)).length + input.args.length !== 1) {
    throw new UsageError('name a cluster, or give --admin, --read-only, --replica or --exchange')
  }
  if (input.isSet('admin')) {
    const use = 'kubedoh token and other commands of operators'
    const hash = 'ADMIN_TOKEN_SHA256'
    await printToken(output, { use, before: 'export KUBEDOH_ADMIN_TOKEN=', hash })
    return
  }
  if (input.isSet('read-only')) {
    const use = '/readyz, /metrics (scrape_configs of Prometheus), kubedoh explain and status'
    await printToken(output, { use, before: '# credentials: ', hash: 'READ_ONLY_TOKEN_SHA256' })
    return
  }
  if (input.isSet('replica')) {
    const use = 'kubedoh gateway --follow'
    const before = 'export KUBEDOH_REPLICA_TOKEN='
    await printToken(output, { use, before, hash: 'REPLICA_TOKEN_SHA256' })
    return
  }
  if (input.isSet('exchange')) {
    const { privateKey } = await generateKeyPair()
    output.stdout.write(
      [
        '# For the gateway; keep it secret: npx wrangler secret put EXCHANGE_KEY, or',
        `export EXCHANGE_KEY=${privateKey}`,
        '',
      ].join('\n'),
    )
    return
  }
  if (cluster === undefined || !CLUSTER_ID.test(cluster)) {
    throw new CommandError(`"${cluster}": use at most 63 characters of a-z, 0-9 and "-"`)
  }
  const { token, signingKey, tokenSha256, publicKey } = await createClusterKeys()
  const clusters = JSON.stringify({ [cluster]: { publicKey, tokenSha256 } })
  output.stdout.write(
    [
      '# For the exporter; keep them secret:',
      `export KUBEDOH_TOKEN=${token}`,
      `export KUBEDOH_SIGNING_KEY=${signingKey}`,
      GATEWAY,
      `export CLUSTERS='${clusters}'`,
      '',
    ].join('\n'),
  )
}

/** Prints an operator's token, and its hash as a variable of the gateway. */
async function printToken(
  { stdout }: Output,
  { use, before, hash }: { readonly use: string; readonly before: string; readonly hash: string },
): Promise<void> {
  const { token, sha256 } = await createToken()
  stdout.write(
    [
      `# For ${use}; keep it secret:`,
      `${before}${token}`,
      GATEWAY,
      `export ${hash}="${sha256}"`,
      '',
    ].join('\n'),
  )
}
