/**
 * The namespaces whose names a client may see: one byte to read for each name.
 * @module
 */

import { byteAt } from '../../dns/bytes/bytes.ts'
import type { NamespaceFacts, Shard } from './shard.ts'

/** Returns whether a client may see a namespace's names; without facts, by its name alone. */
type SeesNamespace = (namespace: string, facts: NamespaceFacts | undefined) => boolean

type Marks = {
  readonly facts: NamespaceFacts | undefined
  readonly flags: Uint8Array
  /** What `hasOneOf` has returned, by node. */
  readonly lists: Map<number, boolean>
}

const NONE: Marks = { facts: undefined, flags: new Uint8Array(0), lists: new Map() }

/** A client's visible namespaces. Evaluates a shard's namespaces once, and again for new facts. */
export class Visibility {
  private readonly sees: SeesNamespace
  private readonly known = new WeakMap<Shard, Marks>()
  private lastShard: Shard | undefined
  private lastMarks = NONE

  constructor(sees: SeesNamespace) {
    this.sees = sees
  }

  /**
   * Returns whether the client may see the names of a shard's namespace, by its number. Number 0,
   * for names of no namespace, is visible to all.
   */
  has(shard: Shard, namespace: number): boolean {
    if (namespace === 0) return true
    return byteAt(this.current(shard).flags, namespace) === 1
  }

  /**
   * Returns whether the client may see one of the namespaces that a node lists, '' for all clients.
   * There may be thousands, so that they are read once for each node.
   */
  hasOneOf(shard: Shard, node: number, namespacesOf: () => readonly string[]): boolean {
    const { lists } = this.current(shard)
    const known = lists.get(node)
    if (known !== undefined) return known
    const isSeen = namespacesOf().some((one) => one === '' || this.hasNamed(shard, one))
    lists.set(node, isSeen)
    return isSeen
  }

  /** Returns what `has` does, for a namespace by its name. */
  hasNamed({ facts }: Shard, namespace: string): boolean {
    return this.sees(namespace, facts)
  }

  private current(shard: Shard): Marks {
    if (shard !== this.lastShard || shard.facts !== this.lastMarks.facts) {
      this.lastMarks = this.marksOf(shard)
      this.lastShard = shard
    }
    return this.lastMarks
  }

  private marksOf(shard: Shard): Marks {
    const before = this.known.get(shard)
    const { facts } = shard
    if (before !== undefined && before.facts === facts) return before
    const flags = Uint8Array.from(shard.namespaces, (name) => (this.hasNamed(shard, name) ? 1 : 0))
    const marks = { facts, flags, lists: new Map<number, boolean>() }
    this.known.set(shard, marks)
    return marks
  }
}
