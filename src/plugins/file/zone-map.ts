/**
 * Values by zone; finds the closest zone above a name in one step for each label.
 * @module
 */
import { labelOffsets, nameKey } from '../../dns/name.ts'

/** A value for each of some zones. */
export class ZoneMap<T> {
  private readonly byKey = new Map<string, T>()

  /** Number of zones. */
  get size(): number {
    return this.byKey.size
  }

  /** Sets the value of a zone. */
  set(zone: Uint8Array, value: T): void {
    this.byKey.set(nameKey(zone), value)
  }

  /** Removes a zone. */
  delete(zone: Uint8Array): void {
    this.byKey.delete(nameKey(zone))
  }

  /** Returns the value of a zone itself. */
  get(zone: Uint8Array): T | undefined {
    return this.byKey.get(nameKey(zone))
  }

  /** Returns the value of the longest zone that a name is in. */
  closest(name: Uint8Array): T | undefined {
    const key = nameKey(name)
    for (const at of [...labelOffsets(name), name.length - 1]) {
      const found = this.byKey.get(key.slice(at))
      if (found !== undefined) return found
    }
    return undefined
  }

  /** Lists all values, in the order of insertion. */
  values(): Iterable<T> {
    return this.byKey.values()
  }
}
