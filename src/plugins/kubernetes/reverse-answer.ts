/**
 * Answers for the names of addresses, which have PTR records only.
 * @module
 */
import { nameOf } from '../../dns/name.ts'
import type { Query } from '../../dns/query.ts'
import { ReverseAddress, readReverseName } from '../../dns/reverse-name.ts'
import { TYPE } from '../../dns/rr-type.ts'
import type { AddressTable } from '../../snapshot/format/address-table.ts'
import type { Shard } from '../../snapshot/read/shard.ts'
import type { Snapshot } from '../../snapshot/read/snapshot.ts'
import { VERDICT } from './verdict.ts'
import type { ZoneAnswer } from './zone-answer.ts'

const { DATA, NODATA, NXDOMAIN, UNLOADED } = VERDICT
const { PTR } = TYPE
/** Names below a reverse zone that are the forward zones' as well. */
const SHARED_NAMES: readonly Uint8Array[] = ['ns.dns', 'dns', 'dns-version'].map((text) =>
  nameOf(text).subarray(0, -1),
)
/** Labels before an IPv6 address that CoreDNS passes over. */
export const SURPLUS_LABELS = 3
const asked = new ReverseAddress()

/**
 * Answers for a name within a reverse zone, `relativeBytes` bytes of which are below the zone.
 *
 * By the RFCs' rules every part of an address exists. Which addresses begin with it would take all
 * shards to know, and NXDOMAIN would deny the addresses below it (RFC 8020 §2).
 */
export function answerReverse(
  answer: ZoneAnswer,
  query: Query,
  relativeBytes: number,
  snapshot: Snapshot,
): number {
  if (relativeBytes === 0 || isShared(query, relativeBytes)) {
    return answer.answerForward(query, relativeBytes, snapshot)
  }
  const isLenient = answer.rules === 'coredns'
  if (!readReverseName(query, asked, isLenient ? SURPLUS_LABELS : 0)) return NXDOMAIN
  if (isLenient && query.type !== PTR) return NXDOMAIN
  if (asked.bitCount < 8 * asked.addressBytes) {
    return isLenient ? NXDOMAIN : NODATA
  }
  const index = snapshot.shardOfAddress(asked.bytes, asked.addressBytes)
  const shard = snapshot.shards[index]
  if (shard === undefined) {
    answer.missingShard = index
    return UNLOADED
  }
  shard.isUsed = true
  const table = tableOf(shard)
  const first = table.firstFrom(asked.bytes)
  answer.sets.origin = answer.home
  let isThere = false
  for (let i = first; table.hasPrefix(i, asked.bytes, asked.bitCount); i++) {
    if (!isSeen(answer, shard, i)) continue
    if (table.isYielding(i) && !isAloneIn(answer, shard, first)) continue
    isThere = true
    if (query.type !== PTR) return NODATA
    answer.sets.writeSet(shard, table.set(i), table.targetCount(i), PTR)
  }
  return isThere ? DATA : NXDOMAIN
}

/** Whether a row has names, for it may only say whose its address is, and the client sees them. */
const isSeen = ({ namespaces }: ZoneAnswer, shard: Shard, index: number): boolean => {
  const table = tableOf(shard)
  return table.targetCount(index) > 0 && namespaces?.has(shard, table.namespaceId(index)) !== false
}

/** Whether the client sees no row of the address that the yielding ones stand back for. */
const isAloneIn = (answer: ZoneAnswer, shard: Shard, first: number): boolean => {
  if (answer.namespaces === undefined) return false
  const table = tableOf(shard)
  for (let i = first; table.hasPrefix(i, asked.bytes, asked.bitCount); i++) {
    if (!table.isYielding(i) && isSeen(answer, shard, i)) return false
  }
  return true
}

const tableOf = (shard: Shard): AddressTable =>
  asked.addressBytes === 4 ? shard.addresses4 : shard.addresses6

const isShared = ({ name }: Query, relativeBytes: number): boolean => {
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
