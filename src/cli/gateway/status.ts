/**
 * `kubedoh status`: what a gateway has of each cluster.
 * @module
 */
import { listOf, parseJson, recordOf } from '../../dns/bytes/unknown.ts'
import type { Output } from '../../server/node/output.ts'
import type { Input } from '../flags/flags.ts'
import { callGateway, formatColumns, printResponse } from '../flags/operator-call.ts'

/** Most pages, of 24 clusters each. */
const PAGES_MAX = 1000
const COLUMNS = 'CLUSTER STATE GENERATION CONFIRMED AGE RECORDS SHARDS BYTES FOLLOWERS'.split(' ')

/** Prints a line for each cluster. */
export async function runStatus(input: Input, output: Output): Promise<void> {
  const clusters = await readStatus(input)
  printResponse(input, output, [`${JSON.stringify({ clusters })}\n`, formatClusters])
}

/** Reads the states of all clusters, as `/v1/status` has them. @throws {CommandError} */
export async function readStatus(input: Input): Promise<readonly unknown[]> {
  const clusters: unknown[] = []
  let after: unknown = ''
  for (let pages = 0; pages < PAGES_MAX && typeof after === 'string'; pages++) {
    const path = `/v1/status?${new URLSearchParams({ after })}`
    const page = recordOf(parseJson(await callGateway(input, 'GET', path)))
    clusters.push(...listOf(page.clusters))
    after = page.next
  }
  return clusters
}

function formatClusters(value: unknown): string {
  const rows = listOf(recordOf(value).clusters).map((one) => {
    const { cluster, state, generation, isPinned, newest, time, ageSeconds, ...sizes } =
      recordOf(one)
    const { records, shards, bytes, followers } = sizes
    const age = ageSeconds === undefined ? undefined : `${ageSeconds}s`
    const note = isPinned === true ? `rolled back; the newest is ${newest}` : ''
    return [
      ...[cluster, String(state).replace('_', ' '), generation, time, age],
      ...[records, shards, bytes, followers ?? undefined],
    ]
      .map((cell) => (cell === undefined ? '-' : String(cell)))
      .concat(note)
  })
  return formatColumns([[...COLUMNS, ''], ...rows])
}
