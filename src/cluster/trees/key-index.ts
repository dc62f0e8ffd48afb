/**
 * Identifiers of objects by a key that several share, such as a hostname or a Gateway.
 * @module
 */

/** The index. */
export class KeyIndex {
  private readonly byKey = new Map<string, Set<string>>()

  /** Returns the keys that have identifiers. */
  keys(): Iterable<string> {
    return this.byKey.keys()
  }

  /** Returns whether a key has identifiers. */
  has(key: string): boolean {
    return this.byKey.has(key)
  }

  /** Returns how many identifiers a key has. */
  count(key: string): number {
    return this.byKey.get(key)?.size ?? 0
  }

  /** Returns the identifier of a key that has one alone; '' for none and for several. */
  only(key: string): string {
    const [first = ''] = this.byKey.get(key) ?? []
    return this.count(key) === 1 ? first : ''
  }

  /** Adds an identifier to a key. */
  add(key: string, id: string): void {
    const ids = this.byKey.get(key) ?? new Set<string>()
    ids.add(id)
    this.byKey.set(key, ids)
  }

  /** Removes an identifier from a key. */
  delete(key: string, id: string): void {
    const ids = this.byKey.get(key)
    ids?.delete(id)
    if (ids?.size === 0) this.byKey.delete(key)
  }

  /** Returns them sorted, so that the same objects give the same entries. */
  of(key: string): string[] {
    return [...(this.byKey.get(key) ?? [])].sort()
  }
}
