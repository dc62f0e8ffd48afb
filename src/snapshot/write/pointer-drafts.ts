/**
 * Merges the address entries of a shard into drafts.
 * @module
 */
import { compareBytes, EMPTY, equalBytes } from '../../bytes/bytes.ts'
import { TYPE } from '../../dns/rr-type.ts'
import type { AddressEntry } from '../../records/zone-entry.ts'
import { draftSet, finishSet, mergeRdata, type SetDraft } from './set-drafts.ts'

/** The targets of one address in one namespace, and whether a Pod there has the address. */
export type PointerDraft = {
  readonly address: Uint8Array
  readonly namespace: string
  set: SetDraft | undefined
  isPod: boolean
  /** Whether they yield to the targets of other namespaces that the client sees. */
  isYielding: boolean
}

/**
 * Merges the entries of each address and namespace, and sorts by both. Drops yielding pointers if
 * the same or the empty namespace has others at the address, and marks them if another one has.
 */
export function draftPointers(entries: readonly AddressEntry[]): PointerDraft[] {
  const sorted = [...entries].sort(compareEntries)
  const drafts: PointerDraft[] = []
  for (let at = 0; at < sorted.length; ) {
    const { address } = sorted[at] ?? { address: EMPTY }
    const start = at
    do at++
    while (equalBytes(sorted[at]?.address ?? EMPTY, address))
    draftAddress(drafts, sorted.slice(start, at))
  }
  for (const { set } of drafts) if (set !== undefined) finishSet(set)
  return drafts
}

/** Adds the entries of one address. */
function draftAddress(drafts: PointerDraft[], entries: readonly AddressEntry[]): void {
  const firm = new Set(
    entries.flatMap((entry) =>
      entry.kind === 'pointer' && entry.isYielding !== true ? entry.namespace : [],
    ),
  )
  for (const entry of entries) {
    const isLast = isYielding(entry)
    if (isLast && (firm.has(entry.namespace) || firm.has(''))) continue
    addTo(drafts, entry, isLast && firm.size > 0)
  }
}

/** Adds an entry to the last draft if address and namespace are equal, else as a new one. */
function addTo(drafts: PointerDraft[], entry: AddressEntry, isMarked: boolean): void {
  const { address, namespace } = entry
  let draft = drafts.at(-1)
  if (draft === undefined || draft.namespace !== namespace || !equalBytes(draft.address, address)) {
    draft = { address, namespace, set: undefined, isPod: false, isYielding: false }
    drafts.push(draft)
  }
  if (entry.kind === 'pod-address') {
    draft.isPod = true
    return
  }
  const { ttlSeconds, target } = entry
  const { set } = draft
  draft.isYielding = isMarked
  if (set === undefined) {
    draft.set = draftSet(TYPE.PTR, ttlSeconds, [{ bytes: EMPTY, target }])
  } else mergeRdata(set, ttlSeconds, [{ bytes: EMPTY, target }])
}

function isYielding(entry: AddressEntry): boolean {
  return entry.kind === 'pointer' && entry.isYielding === true
}

function compareEntries(a: AddressEntry, b: AddressEntry): number {
  const order = compareBytes(a.address, b.address)
  if (order !== 0 || a.namespace === b.namespace) return order
  return a.namespace < b.namespace ? -1 : 1
}
