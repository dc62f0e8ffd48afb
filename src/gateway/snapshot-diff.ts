/**
 * What changed between two snapshots of a cluster, as lines of zone-file text.
 * @module
 */

import { nameOf } from '../dns/name.ts'
import { HttpError } from '../doh/http-error.ts'
import { formatRecord } from '../records/zone-text.ts'
import type { Manifest } from '../snapshot/format/manifest.ts'
import { openShard } from '../snapshot/read/open-shard.ts'
import { shardRecords } from '../snapshot/read/shard-records.ts'

/** Bytes of shards that are looked through: their records as text have to fit in memory. */
const BYTES_MAX = 8 * 1024 * 1024

/** Reads a shard by its hash. */
export type ReadShard = (sha256: string) => Promise<Uint8Array | undefined>

/**
 * Lists the records that are only in `from`, behind `- `, and those only in `to`, behind `+ `,
 * sorted by the record. Shards that both have are not looked at.
 * @throws {HttpError} 413 when too much differs, 410 when a shard is gone
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
    const message = `The shards that differ have ${bytes} bytes, over ${BYTES_MAX}`
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
