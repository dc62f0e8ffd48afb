/**
 * A name that is not yet written, and its order among others.
 * @module
 */
import { byteAt, toLatin1 } from '../../bytes/bytes.ts'
import type { SetDraft } from './set-drafts.ts'

/** A name with its RRsets, sorted by type. */
export class NodeDraft {
  readonly owner: Uint8Array
  /** Its unit (`nameKey`). */
  readonly unit: number
  /** Offset of its unit's labels, and of the label before these; 0 if there is none. */
  readonly unitStart: number
  private readonly topStart: number
  namespace: string
  hasAddressNames: boolean = false
  isImplied: boolean = true
  isGlue: boolean = true
  /** One for each type. */
  sets: readonly SetDraft[] = []
  /** Its offset in the shard; 0 until space is reserved. */
  offset: number = 0
  private ownKey: string | undefined

  constructor(owner: Uint8Array, namespace: string, place: UnitPlace) {
    this.owner = owner
    this.namespace = namespace
    this.unit = place.unit
    this.unitStart = place.unitStart
    let top = 0
    for (let next = 0; next < this.unitStart; next += byteAt(owner, next) + 1) top = next
    this.topStart = top
  }

  /** Returns the sort key: the labels from the last to the first, as Latin-1 text. */
  get key(): string {
    this.ownKey ??= endKey(this.owner)
    return this.ownKey
  }

  /** Returns what `compareNodes` does, for a node of the same unit. */
  compareInUnit(other: NodeDraft): number {
    if (this.unitStart === 0 || other.unitStart === 0) return this.unitStart - other.unitStart
    // Most differ in the label right below the unit's name. Its first byte is its length.
    const { owner, topStart } = this
    const end = this.unitStart - topStart
    for (let i = 0; i < end; i++) {
      const difference = byteAt(owner, topStart + i) - byteAt(other.owner, other.topStart + i)
      if (difference !== 0) return difference
    }
    return compareNodes(this, other)
  }
}

/** The unit of a name, and the offset of its labels. */
export type UnitPlace = { readonly unit: number; readonly unitStart: number }

/** Compares nodes by their keys. */
export function compareNodes(a: NodeDraft, b: NodeDraft): number {
  if (a.key === b.key) return 0
  return a.key < b.key ? -1 : 1
}

/** Returns the key of a name (`NodeDraft.key`). It starts with the key of the name above. */
export function endKey(owner: Uint8Array): string {
  const reversed = new Uint8Array(owner.length)
  for (let at = 0; at < owner.length; ) {
    const next = at + 1 + byteAt(owner, at)
    const start = owner.length - next
    for (let i = at; i < next; i++) reversed[start + i - at] = byteAt(owner, i)
    at = next
  }
  return toLatin1(reversed)
}
