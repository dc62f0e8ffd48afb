/**
 * The names of a zone with an NSEC record, in canonical order (RFC 4034 §6.1).
 * @module
 */
import { byteAt, compareBytes } from '../../../dns/bytes/bytes.ts'
import type { Steps } from '../../../dns/bytes/steps.ts'
import { labelOffsets, lowerName } from '../../../dns/names/name.ts'
import type { NameEntry } from '../../plugin-kit/name-lists.ts'
import type { ZoneNode, ZoneNodes } from './zone-nodes.ts'

/** Comparisons of a step. */
const STEP_COMPARISONS = 500

/** Names in canonical order. */
export class NsecNames {
  private readonly nodes: ZoneNodes
  private readonly entries: Uint32Array

  /** @param entries those of the names, in canonical order */
  constructor(nodes: ZoneNodes, entries: Uint32Array) {
    this.nodes = nodes
    this.entries = entries
  }

  /** Returns the last node that is not after a name: its NSEC record is there or covers it. */
  find(name: Uint8Array): ZoneNode | undefined {
    const wanted = lowerName(name)
    let low = 0
    let high = this.entries.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const node = this.nodeAt(middle)
      if (node !== undefined && compareNames(node.owner, wanted) <= 0) low = middle + 1
      else high = middle
    }
    return this.nodeAt(low - 1)
  }

  /** Lists all nodes in order. */
  values(): ZoneNode[] {
    return Array.from(this.entries, (entry) => this.nodes.nodeAt(entry))
  }

  private nodeAt(index: number): ZoneNode | undefined {
    const entry = this.entries[index]
    return entry === undefined ? undefined : this.nodes.nodeAt(entry)
  }
}

/**
 * Sorts the entries of names with an NSEC record, by merging: `sort` of an array would take a
 * million names in one piece. Signed zone files mostly have them in order.
 */
export function* sortNsecs(nodes: ZoneNodes, found: readonly NameEntry[]): Steps<NsecNames> {
  const isAfter: Order = (a, b) => compareNames(nodes.nodeAt(a).owner, nodes.nodeAt(b).owner) > 0
  let from = Uint32Array.from(new Set(found))
  let to = new Uint32Array(from.length)
  const { length } = from
  for (let width = 1; width < length; width *= 2) {
    for (let start = 0; start < length; start += 2 * width) {
      const middle = Math.min(start + width, length)
      yield* merge(from, to, { start, middle, end: Math.min(start + 2 * width, length), isAfter })
    }
    const merged = to
    to = from
    from = merged
  }
  return new NsecNames(nodes, from)
}

type Order = (a: NameEntry, b: NameEntry) => boolean

type Halves = {
  readonly start: number
  readonly middle: number
  readonly end: number
  readonly isAfter: Order
}

/** Merges two sorted halves of `from` into `to`. */
function* merge(from: Uint32Array, to: Uint32Array, halves: Halves): Steps<void> {
  const { start, middle, end, isAfter } = halves
  if (middle === end || !isAfter(from[middle - 1] ?? 0, from[middle] ?? 0)) {
    to.set(from.subarray(start, end), start)
    yield
    return
  }
  let left = start
  let right = middle
  for (let at = start; at < end; at++) {
    const isRight = left === middle || (right < end && isAfter(from[left] ?? 0, from[right] ?? 0))
    to[at] = from[isRight ? right++ : left++] ?? 0
    if (at % STEP_COMPARISONS === 0) yield
  }
}

/** Compares names in lower case, label by label from the right (RFC 4034 §6.1). */
function compareNames(a: Uint8Array, b: Uint8Array): number {
  const aLabels = labelOffsets(a)
  const bLabels = labelOffsets(b)
  for (let i = 1; i <= Math.min(aLabels.length, bLabels.length); i++) {
    const order = compareBytes(labelAt(a, aLabels.at(-i)), labelAt(b, bLabels.at(-i)))
    if (order !== 0) return order
  }
  return aLabels.length - bLabels.length
}

function labelAt(name: Uint8Array, at = 0): Uint8Array {
  return name.subarray(at + 1, at + 1 + byteAt(name, at))
}
