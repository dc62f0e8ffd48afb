/**
 * Which namespaces' names may be seen, as one look at an octet for each name.
 * @module
 */
import { octet } from '../dns/bytes.ts'
import type { Shard } from './shard.ts'

/** What may be seen; a shard is asked about when it is first met. */
export class Visibility {
  private readonly sees: (namespace: string) => boolean
  private readonly known = new WeakMap<Shard, Uint8Array>()
  private lastShard: Shard | undefined
  private lastMarks: Uint8Array = new Uint8Array(0)

  /** @param sees tells whether a namespace's names may be seen */
  constructor(sees: (namespace: string) => boolean) {
    this.sees = sees
  }

  /**
   * Whether the names of a shard's namespace may be seen, by its number. Names of no namespace,
   * number 0, are everybody's.
   */
  has(shard: Shard, scope: number): boolean {
    if (scope === 0) return true
    if (shard !== this.lastShard) {
      this.lastMarks = this.marksOf(shard)
      this.lastShard = shard
    }
    return octet(this.lastMarks, scope) === 1
  }

  private marksOf(shard: Shard): Uint8Array {
    const known = this.known.get(shard)
    if (known !== undefined) return known
    const marks = Uint8Array.from(shard.scopes, (namespace) => (this.sees(namespace) ? 1 : 0))
    this.known.set(shard, marks)
    return marks
  }
}
