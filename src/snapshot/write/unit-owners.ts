/**
 * Which groups say something in which units. Most units have one group.
 *
 * There are as many units as addresses: they are kept as numbers in an open table, which takes a
 * fraction of the room and the time of a map.
 * @module
 */
import { word } from '../../bytes/bytes.ts'
import { GroupNumbers } from './group-numbers.ts'

/** Slots of the table; a power of two. */
const SLOTS_LEAST = 64
/** What a slot has in place of a group's number when it never had one, and when it has none now. */
const FREE = 0
const DELETED = -1

/** Groups by their units. */
export class UnitOwners {
  private units = new Int32Array(SLOTS_LEAST)
  /** Numbers of groups, from 1. */
  private owners = new Int32Array(SLOTS_LEAST)
  /** Slots that are not free. */
  private taken = 0
  private readonly groups = new GroupNumbers()
  /** Units of several groups: the others. */
  private readonly others = new Map<number, Set<string>>()

  /** Forgets all groups. */
  clear(): void {
    this.units = new Int32Array(SLOTS_LEAST)
    this.owners = new Int32Array(SLOTS_LEAST)
    this.taken = 0
    this.groups.clear()
    this.others.clear()
  }

  /** Notes that a group says something in a unit. */
  add(unit: number, group: string): void {
    const slot = this.find(unit)
    if (slot < 0) {
      this.insert(unit, this.groups.take(group))
      return
    }
    if (this.groups.name(word(this.owners, slot)) === group) return
    const others = this.others.get(unit) ?? new Set()
    this.others.set(unit, others.add(group))
  }

  /** Notes that a group says nothing in a unit any more. */
  delete(unit: number, group: string): void {
    const others = this.others.get(unit)
    if (others?.delete(group) !== true) {
      const slot = this.find(unit)
      if (slot < 0 || this.groups.name(word(this.owners, slot)) !== group) return
      this.groups.release(word(this.owners, slot))
      const [next] = others ?? []
      this.owners[slot] = next === undefined ? DELETED : this.groups.take(next)
      if (next !== undefined) others?.delete(next)
    }
    if (others?.size === 0) this.others.delete(unit)
  }

  /** The groups of a unit. */
  of(unit: number): Iterable<string> {
    const slot = this.find(unit)
    if (slot < 0) return []
    return [this.groups.name(word(this.owners, slot)), ...(this.others.get(unit) ?? [])]
  }

  /** The slot of a unit; -1 without. */
  private find(unit: number): number {
    const mask = this.units.length - 1
    for (let slot = unit & mask; ; slot = (slot + stepOf(unit)) & mask) {
      const owner = word(this.owners, slot)
      if (owner === FREE) return -1
      if (owner !== DELETED && this.units[slot] === unit) return slot
    }
  }

  private insert(unit: number, owner: number): void {
    if (2 * this.taken >= this.units.length) this.grow()
    const mask = this.units.length - 1
    let slot = unit & mask
    while (word(this.owners, slot) > FREE) slot = (slot + stepOf(unit)) & mask
    if (this.owners[slot] === FREE) this.taken++
    this.units[slot] = unit
    this.owners[slot] = owner
  }

  /** Makes room, and forgets what was deleted. */
  private grow(): void {
    const { units, owners } = this
    let count = 0
    for (const owner of owners) if (owner > FREE) count++
    let size = SLOTS_LEAST
    while (size < 4 * count) size *= 2
    this.units = new Int32Array(size)
    this.owners = new Int32Array(size)
    this.taken = 0
    for (let slot = 0; slot < units.length; slot++) {
      if (word(owners, slot) > FREE) this.insert(word(units, slot), word(owners, slot))
    }
  }
}

/** How far the slots of a unit are apart: units with the same first one go on to others. */
function stepOf(unit: number): number {
  return (unit >>> 15) | 1
}
