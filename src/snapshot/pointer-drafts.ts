/**
 * Sorts what a shard has by address: where each points, and whose it is.
 * @module
 */
import { compareBytes, EMPTY, equalBytes, readUint32 } from '../dns/bytes.ts'
import { TYPE } from '../dns/rr-type.ts'
import type { AddressEntry } from '../records/zone-entry.ts'
import { draftSet, finishSet, mergeRdata, type SetDraft } from './set-drafts.ts'

/** Entries whose place a number has room for beside an address; a power of two. */
const ENTRIES_NUMBERED_MAX = 2 ** 20

/** The targets of one address in one namespace, if any, and whether a Pod there has the address. */
export type PointerDraft = {
  readonly address: Uint8Array
  readonly scope: string
  set: SetDraft | undefined
  isPod: boolean
}

/**
 * Merges the entries of each address and namespace, and sorts them by both, addresses of four
 * octets first. Pointers that yield are left out where their address has others.
 */
export function draftPointers(entries: readonly AddressEntry[]): PointerDraft[] {
  const sorted = byAddress(entries)
  const drafts: PointerDraft[] = []
  for (let at = 0; at < sorted.length; ) {
    const first = sorted[at++]
    if (first === undefined) continue
    if (!isOf(first.address, sorted[at])) {
      addTo(drafts, first)
      continue
    }
    const same = [first]
    for (let next = sorted[at]; next !== undefined && isOf(first.address, next); ) {
      same.push(next)
      next = sorted[++at]
    }
    const isFirm = same.some((entry) => entry.kind === 'pointer' && entry.isYielding !== true)
    same.sort((a, b) => (a.scope === b.scope ? 0 : a.scope < b.scope ? -1 : 1))
    for (const entry of same) if (!(isFirm && isYielding(entry))) addTo(drafts, entry)
  }
  for (const { set } of drafts) if (set !== undefined) finishSet(set)
  return drafts
}

function isOf(address: Uint8Array, entry: AddressEntry | undefined): boolean {
  return entry !== undefined && equalBytes(entry.address, address)
}

/** Adds an entry, by itself or to the last one when that is of the same address and namespace. */
function addTo(drafts: PointerDraft[], entry: AddressEntry): void {
  const { address, scope } = entry
  let draft = drafts.at(-1)
  if (draft === undefined || draft.scope !== scope || !equalBytes(draft.address, address)) {
    draft = { address, scope, set: undefined, isPod: false }
    drafts.push(draft)
  }
  if (entry.kind === 'pod-address') {
    draft.isPod = true
    return
  }
  const { ttlSeconds, target } = entry
  const { set } = draft
  if (set === undefined) {
    draft.set = draftSet(TYPE.PTR, ttlSeconds, [{ bytes: EMPTY, target }])
  } else mergeRdata(set, ttlSeconds, [{ bytes: EMPTY, target }])
}

function isYielding(entry: AddressEntry): boolean {
  return entry.kind === 'pointer' && entry.isYielding === true
}

/** Sorts by address, those of four octets first. */
function byAddress(entries: readonly AddressEntry[]): AddressEntry[] {
  const short: AddressEntry[] = []
  const long: AddressEntry[] = []
  for (const entry of entries) (entry.address.length === 4 ? short : long).push(entry)
  long.sort((a, b) => compareBytes(a.address, b.address))
  if (short.length > ENTRIES_NUMBERED_MAX) {
    return [...short.sort((a, b) => compareBytes(a.address, b.address)), ...long]
  }
  // Numbers are sorted without a call for each two of them: the address, and behind it the place.
  const numbered = new Float64Array(short.length)
  for (const [i, { address }] of short.entries()) {
    numbered[i] = readUint32(address, 0) * ENTRIES_NUMBERED_MAX + i
  }
  numbered.sort()
  const sorted: AddressEntry[] = []
  for (const number of numbered) {
    const entry = short[number % ENTRIES_NUMBERED_MAX]
    if (entry !== undefined) sorted.push(entry)
  }
  for (const entry of long) sorted.push(entry)
  return sorted
}
