/**
 * Zones by their names, of which the closest above a name is found in as many steps as that has
 * labels.
 * @module
 */
import { labelOffsets, nameKey } from '../../dns/name.ts'

/** Something for each of some zones. */
export class ZoneMap<T> {
  private readonly byKey = new Map<string, T>()

  /** Number of zones. */
  get size(): number {
    return this.byKey.size
  }

  /** Puts something in place for a zone. */
  set(zone: Uint8Array, value: T): void {
    this.byKey.set(nameKey(zone), value)
  }

  /** Takes a zone away. */
  delete(zone: Uint8Array): void {
    this.byKey.delete(nameKey(zone))
  }

  /** What there is for a zone itself. */
  get(zone: Uint8Array): T | undefined {
    return this.byKey.get(nameKey(zone))
  }

  /** What there is for the longest zone that a name is in. */
  closest(name: Uint8Array): T | undefined {
    const key = nameKey(name)
    for (const at of [...labelOffsets(name), name.length - 1]) {
      const found = this.byKey.get(key.slice(at))
      if (found !== undefined) return found
    }
    return undefined
  }

  /** All there is, in the order in which it came. */
  values(): Iterable<T> {
    return this.byKey.values()
  }
}
