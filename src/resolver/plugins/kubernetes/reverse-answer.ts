/**
 * Answers for reverse names, which have PTR records only.
 * @module
 */
import type { SizedBytes } from '../../../dns/bytes/bytes.ts'
import { nameOf } from '../../../dns/names/name.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import type { Query } from '../../../dns/wire/query.ts'
import { ReverseAddress, readReverseName } from '../../../dns/wire/reverse-name.ts'
import type { AddressTable } from '../../../snapshot/format/address-table.ts'
import type { SetWriter } from '../../../snapshot/read/set-writer.ts'
import type { Shard } from '../../../snapshot/read/shard.ts'
import type { Snapshot } from '../../../snapshot/read/snapshot.ts'
import type { Visibility } from '../../../snapshot/read/visibility.ts'
import type { Rules } from './nxdomain-rules.ts'
import { VERDICT } from './with-snapshot.ts'

const { DATA, NODATA, NXDOMAIN, UNLOADED } = VERDICT
const { PTR } = TYPE
/** Names below a reverse zone that forward zones have as well. */
const SHARED_NAMES: readonly Uint8Array[] = ['ns.dns', 'dns', 'dns-version'].map((text) =>
  nameOf(text).subarray(0, -1),
)
/** Labels before an IPv6 address that CoreDNS ignores. */
export const SURPLUS_LABELS = 3
const wanted = new ReverseAddress()

/** What an answer depends on, and where it is written. */
type Answering = {
  readonly sets: SetWriter
  readonly rules: Rules
  /** The origin of PTR targets. */
  readonly home: SizedBytes
  readonly namespaces: Visibility | undefined
  /** Set to the index of the shard to load, with UNLOADED. */
  missingShard: number
}

/**
 * Answers for a name below a reverse zone that spells an address.
 *
 * Under the RFCs' rules any part of an address exists: only all shards together know which
 * addresses begin with it, and NXDOMAIN would deny the addresses below it (RFC 8020 §2).
 */
export function answerReverse(answer: Answering, query: Query, snapshot: Snapshot): number {
  const isLenient = answer.rules === 'coredns'
  if (!readReverseName(query, wanted, isLenient ? SURPLUS_LABELS : 0)) return NXDOMAIN
  if (isLenient && query.type !== PTR) return NXDOMAIN
  if (wanted.bitCount < 8 * wanted.addressBytes) {
    return isLenient ? NXDOMAIN : NODATA
  }
  const index = snapshot.shardOfAddress(wanted.bytes, wanted.addressBytes)
  const shard = snapshot.shards[index]
  if (shard === undefined) {
    answer.missingShard = index
    return UNLOADED
  }
  shard.isUsed = true
  const table = tableOf(shard)
  const first = table.firstFrom(wanted.bytes)
  answer.sets.origin = answer.home
  let exists = false
  for (let i = first; table.hasPrefix(i, wanted.bytes, wanted.bitCount); i++) {
    if (!isSeen(answer, shard, i)) continue
    if (table.isYielding(i) && !isAloneIn(answer, shard, first)) continue
    exists = true
    if (query.type !== PTR) return NODATA
    answer.sets.writeSet(shard, table.set(i), table.targetCount(i), PTR)
  }
  return exists ? DATA : NXDOMAIN
}

/** Whether a row has names that the client sees; a row may only record who owns its address. */
const isSeen = ({ namespaces }: Answering, shard: Shard, index: number): boolean => {
  const table = tableOf(shard)
  return table.targetCount(index) > 0 && namespaces?.has(shard, table.namespaceId(index)) !== false
}

/** Whether the client sees none of the rows that take precedence over the yielding ones. */
const isAloneIn = (answer: Answering, shard: Shard, first: number): boolean => {
  if (answer.namespaces === undefined) return false
  const table = tableOf(shard)
  for (let i = first; table.hasPrefix(i, wanted.bytes, wanted.bitCount); i++) {
    if (!table.isYielding(i) && isSeen(answer, shard, i)) return false
  }
  return true
}

const tableOf = (shard: Shard): AddressTable =>
  wanted.addressBytes === 4 ? shard.addresses4 : shard.addresses6

/** Whether a name, or the apex, is one that forward zones have as well. */
export function isInForwardZones({ name }: Query, relativeBytes: number): boolean {
  if (relativeBytes === 0) return true
  for (let which = 0; which < SHARED_NAMES.length; which++) {
    const shared = SHARED_NAMES[which]
    if (shared?.length === relativeBytes && beginsWith(name, shared)) return true
  }
  return false
}

const beginsWith = (name: Uint8Array, labels: Uint8Array): boolean => {
  for (let i = 0; i < labels.length; i++) if (name[i] !== labels[i]) return false
  return true
}
