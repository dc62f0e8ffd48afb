/**
 * Which namespaces' names may be seen, as one look at a byte for each name.
 * @module
 */
import { byteAt } from '../../bytes/bytes.ts'
import { type NamespaceLabels, NO_LABELS } from './namespace-labels.ts'
import type { Shard } from './shard.ts'

/** Tells whether a namespace's names may be seen, by its name and its labels. */
export type SeesNamespace = (namespace: string, labels: readonly string[]) => boolean

type Marks = { readonly labels: NamespaceLabels | undefined; readonly octets: Uint8Array }

const NONE: Marks = { labels: undefined, octets: new Uint8Array(0) }

/** What may be seen; a shard is asked about when it is first met, or its labels are new. */
export class Visibility {
  private readonly sees: SeesNamespace
  private readonly known = new WeakMap<Shard, Marks>()
  private lastShard: Shard | undefined
  private lastMarks = NONE

  constructor(sees: SeesNamespace) {
    this.sees = sees
  }

  /**
   * Whether the names of a shard's namespace may be seen, by its number. Names of no namespace,
   * number 0, are everybody's.
   */
  has(shard: Shard, namespace: number): boolean {
    if (namespace === 0) return true
    if (shard !== this.lastShard || shard.labels !== this.lastMarks.labels) {
      this.lastMarks = this.marksOf(shard)
      this.lastShard = shard
    }
    return byteAt(this.lastMarks.octets, namespace) === 1
  }

  /** As `has`, for a namespace by its name. */
  hasNamed({ labels }: Shard, namespace: string): boolean {
    return this.sees(namespace, (labels ?? NO_LABELS).get(namespace) ?? [])
  }

  private marksOf(shard: Shard): Marks {
    const before = this.known.get(shard)
    const { labels } = shard
    if (before !== undefined && before.labels === labels) return before
    const octets = Uint8Array.from(shard.namespaces, (namespace) =>
      this.sees(namespace, (labels ?? NO_LABELS).get(namespace) ?? []) ? 1 : 0,
    )
    const marks = { labels, octets }
    this.known.set(shard, marks)
    return marks
  }
}
