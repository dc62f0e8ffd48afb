/**
 * Answers for `<zone>.pin._zone.<service>` and `<zone>.prefer._zone.<service>`, for any topology
 * zone. In a zone without endpoints, `pin` is NODATA and `prefer` falls back to the whole Service
 * (CoreDNS, plugin/kubernetes/README.md, "Zonal Names"). The snapshot marks the Services with such
 * names.
 * @module
 */
import { byteAt, wordBytes } from '../../../dns/bytes/bytes.ts'
import { NAME_BYTES_MAX } from '../../../dns/names/limits.ts'
import type { Query } from '../../../dns/wire/query.ts'
import type { Shard } from '../../../snapshot/read/shard.ts'
import type { Snapshot } from '../../../snapshot/read/snapshot.ts'
import type { RelativeName } from './spellings.ts'
import { VERDICT } from './with-snapshot.ts'

/** What finds and writes the Service's records: the answer to a forward name. */
type Finder = {
  tailOf(query: Query, start: number, end: number): RelativeName
  shardFor(snapshot: Snapshot, labels: Uint8Array, size: number): Shard | undefined
  sees(shard: Shard, node: number): boolean
  answerNode(type: number, shard: Shard, node: number): number
}

/** Labels of the shortest such name: zone, directive, `_zone`, service, namespace, `svc`. */
const LABELS_MIN = 6

const ANCHOR = labelOf('_zone')
const PIN = labelOf('pin')
const PREFER = labelOf('prefer')

const pinned: RelativeName = { ...wordBytes(NAME_BYTES_MAX + 1), size: 0 }

/** Answers for a name of `count` labels below the zone; NXDOMAIN if it is not a zonal name. */
export function answerZonal(
  answer: Finder,
  query: Query,
  count: number,
  snapshot: Snapshot,
): number {
  if (count < LABELS_MIN || !isLabel(query, count - 4, ANCHOR)) return VERDICT.NXDOMAIN
  const last = byteAt(query.labels, count - 1)
  const end = last + 1 + byteAt(query.name, last)
  const isPreferred = isLabel(query, count - 5, PREFER)
  if (!isPreferred && !isLabel(query, count - 5, PIN)) return VERDICT.NXDOMAIN
  const anchor = answer.tailOf(query, byteAt(query.labels, count - 4), end)
  const shard = answer.shardFor(snapshot, anchor.bytes, anchor.size)
  if (shard === undefined) return VERDICT.UNLOADED
  const marker = shard.findName(anchor.words, anchor.size)
  if (marker === 0 || !answer.sees(shard, marker)) return VERDICT.NXDOMAIN
  // These names share their last three labels, and so their shard.
  writePinned(query, count, end)
  let node = shard.findName(pinned.words, pinned.size)
  if (node === 0 && isPreferred) {
    const service = answer.tailOf(query, byteAt(query.labels, count - 3), end)
    node = shard.findName(service.words, service.size)
  }
  if (node === 0) return VERDICT.NODATA
  const verdict = answer.answerNode(query.type, shard, node)
  return verdict === VERDICT.NXDOMAIN ? VERDICT.NODATA : verdict
}

/** Writes the name with `pin` as its directive. */
function writePinned({ name, labels }: Query, count: number, end: number): void {
  const { bytes } = pinned
  let size = 0
  for (let at = 0; at < byteAt(labels, count - 5); at++) bytes[size++] = byteAt(name, at)
  for (let i = 0; i < PIN.length; i++) bytes[size++] = byteAt(PIN, i)
  for (let at = byteAt(labels, count - 4); at < end; at++) bytes[size++] = byteAt(name, at)
  pinned.size = size
}

function isLabel({ name, labels }: Query, index: number, label: Uint8Array): boolean {
  const at = byteAt(labels, index)
  for (let i = 0; i < label.length; i++) {
    if (byteAt(name, at + i) !== byteAt(label, i)) return false
  }
  return true
}

function labelOf(text: string): Uint8Array {
  return Uint8Array.of(text.length, ...new TextEncoder().encode(text))
}
