/**
 * The groups that have entries in a unit, by their numbers. Most units have one group.
 *
 * There are as many units as addresses, so they are kept in an open-addressing hash table of
 * numbers: a `Map` takes several times the memory and the time.
 * @module
 */
import { word } from '../../dns/bytes/bytes.ts'

/** Fewest slots of the table; a power of two. */
const SLOTS_LEAST = 64
/** Values of a slot without a group: never used, or deleted. */
const FREE = 0
const DELETED = -1

/** Numbers of groups, from 1, by unit. */
export class UnitGroups {
  private units = new Int32Array(SLOTS_LEAST)
  /** One group of each unit. */
  private groups = new Int32Array(SLOTS_LEAST)
  /** Slots that are not free. */
  private taken = 0
  /** The other groups of units that have several. */
  private readonly others = new Map<number, Set<number>>()

  /** Removes all groups. */
  clear(): void {
    this.units = new Int32Array(SLOTS_LEAST)
    this.groups = new Int32Array(SLOTS_LEAST)
    this.taken = 0
    this.others.clear()
  }

  /** Adds a group to a unit. */
  add(unit: number, group: number): void {
    const slot = this.find(unit)
    if (slot < 0) {
      this.insert(unit, group)
      return
    }
    if (this.groups[slot] === group) return
    const others = this.others.get(unit) ?? new Set()
    this.others.set(unit, others.add(group))
  }

  /** Removes a group from a unit. */
  delete(unit: number, group: number): void {
    const others = this.others.get(unit)
    if (others?.delete(group) !== true) {
      const slot = this.find(unit)
      if (slot < 0 || this.groups[slot] !== group) return
      const [next = DELETED] = others ?? []
      this.groups[slot] = next
      others?.delete(next)
    }
    if (others?.size === 0) this.others.delete(unit)
  }

  /** Returns the groups of a unit. */
  of(unit: number): Iterable<number> {
    const slot = this.find(unit)
    return slot < 0 ? [] : [word(this.groups, slot), ...(this.others.get(unit) ?? [])]
  }

  /** Returns the slot of a unit, or -1. */
  private find(unit: number): number {
    const mask = this.units.length - 1
    for (let slot = unit & mask; ; slot = (slot + stepOf(unit)) & mask) {
      const group = word(this.groups, slot)
      if (group === FREE) return -1
      if (group !== DELETED && this.units[slot] === unit) return slot
    }
  }

  private insert(unit: number, group: number): void {
    if (4 * this.taken >= 3 * this.units.length) this.grow()
    const mask = this.units.length - 1
    let slot = unit & mask
    while (word(this.groups, slot) > FREE) slot = (slot + stepOf(unit)) & mask
    if (this.groups[slot] === FREE) this.taken++
    this.units[slot] = unit
    this.groups[slot] = group
  }

  /** Doubles the table when three quarters are taken, and drops deleted slots. */
  private grow(): void {
    const { units, groups } = this
    let count = 0
    for (const group of groups) if (group > FREE) count++
    let size = SLOTS_LEAST
    while (3 * size < 8 * count) size *= 2
    this.units = new Int32Array(size)
    this.groups = new Int32Array(size)
    this.taken = 0
    for (let slot = 0; slot < units.length; slot++) {
      if (word(groups, slot) > FREE) this.insert(word(units, slot), word(groups, slot))
    }
  }
}

/** Returns the distance between the slots of a unit, odd, so that collisions spread. */
function stepOf(unit: number): number {
  return (unit >>> 15) | 1
}
