/**
 * Which groups say something in which units. Most units have one group.
 * @module
 */

/** Groups by their units. */
export class UnitOwners {
  private readonly only = new Map<number, string>()
  /** Units of several groups, the one above among them. */
  private readonly shared = new Map<number, Set<string>>()

  /** Forgets all groups. */
  clear(): void {
    this.only.clear()
    this.shared.clear()
  }

  /** Notes that a group says something in a unit. */
  add(unit: number, group: string): void {
    const owner = this.only.get(unit)
    if (owner === undefined || owner === group) {
      this.only.set(unit, group)
      return
    }
    const groups = this.shared.get(unit) ?? new Set([owner])
    this.shared.set(unit, groups.add(group))
  }

  /** Notes that a group says nothing in a unit any more. */
  delete(unit: number, group: string): void {
    const groups = this.shared.get(unit)
    if (groups === undefined) {
      if (this.only.get(unit) === group) this.only.delete(unit)
      return
    }
    groups.delete(group)
    const [other] = groups
    if (other !== undefined) this.only.set(unit, other)
    if (groups.size === 1) this.shared.delete(unit)
  }

  /** The groups of a unit. */
  of(unit: number): Iterable<string> {
    const owner = this.only.get(unit)
    return this.shared.get(unit) ?? (owner === undefined ? [] : [owner])
  }
}
