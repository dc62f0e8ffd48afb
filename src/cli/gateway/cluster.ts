/**
 * `kubedoh cluster add`, `issuers`, `list` and `remove`: the clusters that a gateway takes up while
 * it runs.
 * @module
 */
import { isTexts, listOf, recordOf } from '../../dns/bytes/unknown.ts'
import { createClusterKeys } from '../../exporter/cluster-keys.ts'
import type { Output } from '../../server/node/output.ts'
import type { Input } from '../flags/flags.ts'
import { callGateway, formatColumns, printResponse } from '../flags/operator-call.ts'
import { readIssuersFile } from './issuers-file.ts'

/** Adds a cluster with new keys, and prints those of its exporter: the gateway gets no secret. */
export async function runClusterAdd(input: Input, { stdout, stderr }: Output): Promise<void> {
  const [cluster = ''] = input.args
  const file = input.text('issuers')
  const issuers = file === '' ? undefined : readIssuersFile(file)
  const { token, signingKey, publicKey, tokenSha256 } = await createClusterKeys()
  const body = JSON.stringify({ publicKey, tokenSha256, issuers })
  const added = await callGateway(input, 'PUT', clusterPath(cluster), body)
  stdout.write(
    [
      '# For the exporter; keep them secret:',
      `export KUBEDOH_TOKEN=${token}`,
      `export KUBEDOH_SIGNING_KEY=${signingKey}`,
      `# kubedoh export --gateway ${input.text('gateway')} --cluster ${cluster}`,
      '',
    ].join('\n'),
  )
  const { domains } = recordOf(JSON.parse(added))
  const zones = isTexts(domains) ? domains.join(' ') : ''
  stderr.write(`the gateway answers ${zones} once the exporter has published\n`)
}

/** Replaces the issuers of a cluster. */
export async function runClusterIssuers(input: Input, { stdout }: Output): Promise<void> {
  const [cluster = '', file = ''] = input.args
  const body = JSON.stringify(readIssuersFile(file))
  const changed = await callGateway(input, 'PUT', `${clusterPath(cluster)}/issuers`, body)
  const names = namesOf(recordOf(JSON.parse(changed)).issuers)
  stdout.write(`issuers of ${cluster}: ${names.join(' ') || 'none'}\n`)
}

function namesOf(issuers: unknown): readonly string[] {
  return listOf(issuers).map((one) => String(recordOf(one).issuer))
}

const COLUMNS = 'ID SOURCE KEYS CREATED DOMAINS ISSUERS'.split(' ')

/** Prints all clusters, those of CLUSTERS first. */
export async function runClusterList(input: Input, output: Output): Promise<void> {
  const text = await callGateway(input, 'GET', '/v1/clusters')
  printResponse(input, output, [text, formatClusters])
}

/** Removes a cluster and all that it has published. */
export async function runClusterRemove(input: Input, { stdout }: Output): Promise<void> {
  const [cluster = ''] = input.args
  await callGateway(input, 'DELETE', clusterPath(cluster))
  stdout.write(`removed ${cluster}; running gateways forget its names within seconds\n`)
}

/** Returns the path of a cluster's routes. */
export function clusterPath(cluster: string): string {
  return `/v1/clusters/${encodeURIComponent(cluster)}`
}

function formatClusters(value: unknown): string {
  const rows = listOf(recordOf(value).clusters).map((one) => {
    const { id, source, publicKeys, created, domains, issuers } = recordOf(one)
    const keys = isTexts(publicKeys) ? publicKeys.length : 0
    const zones = isTexts(domains) ? domains.join(',') : ''
    const names = namesOf(issuers).join(',')
    const cells = [String(id), String(source), String(keys), String(created ?? '-')]
    return [...cells, zones || '-', names || '-']
  })
  return formatColumns([COLUMNS, ...rows])
}
