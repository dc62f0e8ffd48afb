/**
 * `kubedoh cluster rotate`: new keys of a cluster, and the steps by which they replace the old ones
 * without a query that fails. A cluster of the gateway's directory gets them at once; for one of
 * CLUSTERS, prints what the variable becomes.
 * @module
 */
import { isTexts, listOf, parseJson, recordOf } from '../../dns/bytes/unknown.ts'
import { createClusterKeys } from '../../exporter/cluster-keys.ts'
import {
  CLUSTER_KEYS_MAX,
  type ClusterConfig,
  ClusterEntryError,
  readClusterEntry,
} from '../../gateway/config/cluster-entry.ts'
import { CommandError, type Output } from '../../server/node/output.ts'
import { CLUSTER_ID } from '../../snapshot/format/manifest.ts'
import type { Input } from '../flags/flags.ts'
import { callGateway, GatewayRefusal } from '../flags/operator-call.ts'
import { clusterPath } from './cluster.ts'

/** The public half of new keys. */
type NewKeys = { readonly publicKey: string; readonly tokenSha256: string }

/** What to write into the gateway's variable, first and last. */
type Values = { readonly overlap: string; readonly end: string }

/** Prints new keys of a cluster, and how to change over to them. */
export async function runClusterRotate(input: Input, { stdout }: Output): Promise<void> {
  const [cluster = ''] = input.args
  if (!CLUSTER_ID.test(cluster)) {
    throw new CommandError(`"${cluster}": use at most 63 characters of a-z, 0-9 and "-"`)
  }
  if (input.isSet('end')) return endRotation(input, cluster, stdout)
  const { token, signingKey, ...keys } = await createClusterKeys()
  const secrets = [
    '# The new keys, for the exporter in the next steps; keep them secret:',
    `export KUBEDOH_TOKEN=${token}`,
    `export KUBEDOH_SIGNING_KEY=${signingKey}`,
    '#',
  ]
  if (input.text('gateway') !== '' && (await addKeys(input, cluster, keys))) {
    stdout.write([...secrets, ...stepsAtGateway(cluster)].join('\n'))
    return
  }
  const text = input.env('CLUSTERS')
  const values = text === '' ? fieldsOf(cluster, keys) : await valuesOf(text, cluster, keys)
  stdout.write(
    [
      ...secrets,
      `# 1. Let the gateway take both keys: ${values.overlap}`,
      '# 2. Deploy the Worker (npm run deploy) or restart kubedoh gateway, and wait until that is',
      "#    complete; or replace the Secret of the chart's gateway, which its pods read again",
      '#    within two minutes.',
      "# 3. Put the new keys into the exporter's Secret and restart it. It publishes at once:",
      `#    kubedoh generations ${cluster} then lists a new generation as current.`,
      `# 4. Take the old keys out: ${values.end}`,
      '# 5. Do as in step 2. The gateway then refuses the old keys, and generations',
      '#    that they signed, also for a rollback.',
      '',
    ].join('\n'),
  )
}

/** Adds keys in the directory. @returns false for a cluster of CLUSTERS */
async function addKeys(input: Input, cluster: string, keys: NewKeys): Promise<boolean> {
  const { publicKey, tokenSha256 } = keys
  const body = JSON.stringify({ publicKey, tokenSha256 })
  const path = `${clusterPath(cluster)}/keys`
  try {
    await callGateway(input, 'POST', path, body)
    return true
  } catch (error) {
    if (error instanceof GatewayRefusal && error.code === 'configured') return false
    throw error
  }
}

function stepsAtGateway(cluster: string): readonly string[] {
  return [
    '# 1. The gateway takes both keys from now on.',
    "# 2. Put the new keys into the exporter's Secret and restart it. It publishes at once:",
    `#    kubedoh generations ${cluster} then lists a new generation as current.`,
    `# 3. Take the old keys out: kubedoh cluster rotate ${cluster} --end`,
    '#    The gateway then refuses them, and generations that they signed, also for a rollback.',
    '',
  ]
}

/** Removes all keys but the newest. */
async function endRotation(input: Input, cluster: string, stdout: Output['stdout']): Promise<void> {
  const { clusters } = recordOf(JSON.parse(await callGateway(input, 'GET', '/v1/clusters')))
  const found = listOf(clusters)
    .map(recordOf)
    .find(({ id }) => id === cluster)
  if (found?.source !== 'directory') {
    throw new CommandError(`the gateway's directory has no cluster "${cluster}"`)
  }
  const [, ...old] = isTexts(found.publicKeys) ? found.publicKeys : []
  for (const key of old) await callGateway(input, 'DELETE', `${clusterPath(cluster)}/keys/${key}`)
  stdout.write(`old keys of ${cluster}: ${old.length} removed; the newest one stays\n`)
}

/** Returns the fields of the entry, where the whole variable is unknown. */
function fieldsOf(cluster: string, keys: NewKeys): Values {
  const { publicKey, tokenSha256 } = keys
  const textOf = (value: object): string => JSON.stringify(value).slice(1, -1)
  const added = textOf({ publicKeys: [publicKey], tokenSha256s: [tokenSha256] })
  const whole = textOf({ [cluster]: keys })
  return {
    overlap: `add to "${cluster}" in CLUSTERS\n#    ${added}`,
    end: `replace "${cluster}" in CLUSTERS\n#    ${whole}`,
  }
}

/** Returns the values of the variable; the new keys come first. */
async function valuesOf(text: string, cluster: string, keys: NewKeys): Promise<Values> {
  const all = parseJson(text)
  if (typeof all !== 'object' || all === null) throw new CommandError('CLUSTERS is not JSON')
  const clusters = recordOf(all)
  if (clusters[cluster] === undefined) {
    throw new CommandError(
      `CLUSTERS has no cluster "${cluster}"; create its keys with kubedoh keys`,
    )
  }
  const { publicKeyTexts, tokenSha256s } = await entryOf(cluster, clusters[cluster])
  if (Math.max(publicKeyTexts.length, tokenSha256s.length) >= CLUSTER_KEYS_MAX) {
    const message = `CLUSTERS.${cluster} has ${CLUSTER_KEYS_MAX} keys; take an old one out first`
    throw new CommandError(message)
  }
  const { publicKey, tokenSha256 } = keys
  const both = {
    publicKeys: [publicKey, ...publicKeyTexts],
    tokenSha256s: [tokenSha256, ...tokenSha256s],
  }
  const withEntry = (entry: object): string =>
    `\n# CLUSTERS = '${JSON.stringify({ ...clusters, [cluster]: entry })}'`
  return { overlap: `set${withEntry(both)}`, end: `set${withEntry(keys)}` }
}

async function entryOf(cluster: string, value: unknown): Promise<ClusterConfig> {
  try {
    return await readClusterEntry(cluster, value)
  } catch (error) {
    if (error instanceof ClusterEntryError) throw new CommandError(error.message)
    throw error
  }
}
