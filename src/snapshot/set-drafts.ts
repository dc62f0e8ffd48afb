/**
 * Sets of records in the making: each record once, in an order that does not depend on that of the
 * entries.
 * @module
 */
import { compareBytes, EMPTY, equalBytes, toLatin1 } from '../dns/bytes.ts'
import { TYPE } from '../dns/rr-type.ts'
import type { Rdata } from '../records/zone-entry.ts'
import { RECORDS_PER_SET_MAX, SET_TTL_MAX } from './layout.ts'

/** Records that are compared with each other rather than by a map. */
const FEW = 8

/** One type at a name. `isMerged`: from several entries, so that their order means nothing. */
export type SetDraft = {
  readonly type: number
  ttlSeconds: number
  rdata: Rdata[]
  isMerged: boolean
}

/**
 * Makes records unique. Addresses, pointers and what several entries gave are put in order, the
 * rest stays as it came. Over 65,535 of them the rest is left out.
 */
export function finishSet(set: SetDraft): void {
  set.ttlSeconds = Math.min(set.ttlSeconds, SET_TTL_MAX)
  if (set.rdata.length === 1) return
  const { type, isMerged } = set
  const isOrdered = isMerged || type === TYPE.A || type === TYPE.AAAA || type === TYPE.PTR
  if (isOrdered) set.rdata.sort(compareRdata)
  const unique = isOrdered ? set.rdata.filter(isFirst) : firstOfEach(set.rdata)
  set.rdata = unique.length > RECORDS_PER_SET_MAX ? unique.slice(0, RECORDS_PER_SET_MAX) : unique
}

/** Of records in order, tells which differ from the one before. */
function isFirst(rdata: Rdata, i: number, all: readonly Rdata[]): boolean {
  const before = all[i - 1]
  return before === undefined || !isSameRdata(rdata, before)
}

function firstOfEach(rdata: Rdata[]): Rdata[] {
  if (rdata.length > FEW) return [...new Map(rdata.map((one) => [rdataKey(one), one])).values()]
  return rdata.filter((one, i) => {
    for (let k = 0; k < i; k++) if (isSameRdata(one, rdata[k])) return false
    return true
  })
}

/** Tells whether two records say the same. */
export function isSameRdata(a: Rdata, b: Rdata | undefined): boolean {
  if (b === undefined || (a.bytes !== b.bytes && !equalBytes(a.bytes, b.bytes))) return false
  if (a.target === undefined || b.target === undefined) return a.target === b.target
  return a.target === b.target || equalBytes(a.target, b.target)
}

function rdataKey({ bytes, target }: Rdata): string {
  return `${toLatin1(bytes)}\n${target === undefined ? '' : `.${toLatin1(target)}`}`
}

/** Orders by the name below the origin, none first, then by the octets. */
function compareRdata(a: Rdata, b: Rdata): number {
  return (
    compareBytes(a.target ?? EMPTY, b.target ?? EMPTY) ||
    compareBytes(a.bytes, b.bytes) ||
    Number(a.target !== undefined) - Number(b.target !== undefined)
  )
}
