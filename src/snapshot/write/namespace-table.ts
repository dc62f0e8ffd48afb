/**
 * Namespaces of shards in the making as numbers: there are few, which most names share.
 * @module
 */
import { word } from '../../bytes/bytes.ts'

/** Namespaces, numbered as they come; '' for what all may see is 0. */
export class NamespaceTable {
  private readonly names: string[] = ['']
  private readonly ids = new Map<string, number>([['', 0]])
  private last = 0

  /** The number of a namespace, a new one when there is none. */
  idOf(name: string): number {
    if (this.names[this.last] === name) return this.last
    const known = this.ids.get(name)
    this.last = known ?? this.names.length
    if (known !== undefined) return known
    this.names.push(name)
    this.ids.set(name, this.last)
    return this.last
  }

  /** A namespace by its number. */
  nameOf(id: number): string {
    return this.names[id] ?? ''
  }

  /** The numbers of all namespaces so far, in the order that shards have them. */
  inOrder(): Int32Array {
    const order = Int32Array.from(this.names.keys())
    order.subarray(1).sort((a, b) => (this.nameOf(a) < this.nameOf(b) ? -1 : 1))
    return order
  }
}

/** Namespaces of one shard. */
export class NamespaceChoice {
  private readonly table: NamespaceTable
  private readonly order: Int32Array
  private readonly isChosen: Uint8Array
  private readonly places: Int32Array

  /** @param order of all that may be chosen (`inOrder`) */
  constructor(table: NamespaceTable, order: Int32Array) {
    this.table = table
    this.order = order
    this.isChosen = new Uint8Array(order.length)
    this.places = new Int32Array(order.length)
    this.isChosen[0] = 1
  }

  /** Chooses a namespace by its number. */
  add(id: number): void {
    this.isChosen[id] = 1
  }

  /** Chooses a namespace. */
  addName(name: string): void {
    this.isChosen[this.table.idOf(name)] = 1
  }

  /** Lists what was chosen, in order. */
  list(): string[] {
    const names: string[] = []
    for (const id of this.order) {
      if (this.isChosen[id] === 0) continue
      this.places[id] = names.length
      names.push(this.table.nameOf(id))
    }
    return names
  }

  /** The place of a namespace in the list, by its number. */
  placeOf(id: number): number {
    return word(this.places, id)
  }
}
