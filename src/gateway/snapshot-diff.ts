/**
 * The differences between two snapshots of a cluster, as lines of zone-file text.
 * @module
 */

import { nameOf } from '../dns/name.ts'
import { HttpError } from '../doh/http-error.ts'
import { formatRecord } from '../records/zone-text.ts'
import type { Manifest } from '../snapshot/format/manifest.ts'
import { openShard } from '../snapshot/read/open-shard.ts'
import { shardRecords } from '../snapshot/read/shard-records.ts'

/** Most bytes of differing shards: their records as text must fit in memory. */
const BYTES_MAX = 8 * 1024 * 1024

/** Reads a shard by its hash. */
export type ReadShard = (sha256: string) => Promise<Uint8Array | undefined>

/**
 * Lists the records that are only in `from` after `- `, and those only in `to` after `+ `, sorted
 * by record. Does not read shards that both have.
 * @throws {HttpError} 413 when too much differs, 410 when a shard is missing
 */
export async function diffSnapshots(
  from: Manifest,
  to: Manifest,
  readShard: ReadShard,
): Promise<string[]> {
  const known = [from, to].map(({ shards }) => new Set(shards.map(({ sha256 }) => sha256)))
  const [removed, added] = [from, to].map(({ shards }, i) =>
    shards.filter(({ sha256 }) => known[1 - i]?.has(sha256) === false),
  )
  const all = [...(removed ?? []), ...(added ?? [])]
  const bytes = all.reduce((sum, shard) => sum + shard.bytes, 0)
  if (bytes > BYTES_MAX) {
    const message = `The differing shards have ${bytes} bytes, over ${BYTES_MAX}`
    throw new HttpError(413, 'too_different', message)
  }
  const before = await linesOf(removed ?? [], from, readShard)
  const after = await linesOf(added ?? [], to, readShard)
  const lines = [
    ...[...before].filter((line) => !after.has(line)).map((line) => ({ line, sign: '-' })),
    ...[...after].filter((line) => !before.has(line)).map((line) => ({ line, sign: '+' })),
  ]
  lines.sort((a, b) => (a.line === b.line ? 0 : a.line < b.line ? -1 : 1))
  return lines.map(({ line, sign }) => `${sign} ${line}`)
}

async function linesOf(
  shards: Manifest['shards'],
  { origins: [origin = '.'] }: Manifest,
  readShard: ReadShard,
): Promise<Set<string>> {
  const lines = new Set<string>()
  for (const { sha256 } of shards) {
    const bytes = await readShard(sha256)
    if (bytes === undefined) throw new HttpError(410, 'gone', 'A shard is not kept any more')
    for (const record of shardRecords(openShard(bytes), nameOf(origin))) {
      lines.add(formatRecord(record))
    }
  }
  return lines
}
