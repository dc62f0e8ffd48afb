/**
 * A binary heap whose members may change their rank.
 * @module
 */

/** Members by rank. Reading the first takes O(1), any change O(log n) comparisons. */
export class Heap<T> {
  private readonly members: T[] = []
  private readonly places = new Map<T, number>()
  private readonly goesBefore: (a: T, b: T) => boolean

  /** @param goesBefore returns whether one member ranks before another; false for equal ranks */
  constructor(goesBefore: (a: T, b: T) => boolean) {
    this.goesBefore = goesBefore
  }

  get size(): number {
    return this.members.length
  }

  get first(): T | undefined {
    return this.members[0]
  }

  /** Adds a member, which must not be in the heap. */
  add(member: T): void {
    this.rise(member, this.members.length)
  }

  /** Removes a member, which must be in the heap. */
  delete(member: T): void {
    const place = this.places.get(member)
    const last = this.members.pop()
    this.places.delete(member)
    if (place === undefined || last === undefined || last === member) return
    this.sink(last, this.rise(last, place))
  }

  /** Moves a member to its new place. Call it after each change of a rank. */
  changed(member: T): void {
    const place = this.places.get(member)
    if (place !== undefined) this.sink(member, this.rise(member, place))
  }

  /** Puts a member at a place, or as far above it as it belongs. Returns where it is now. */
  private rise(member: T, from: number): number {
    let place = from
    while (place > 0) {
      const above = (place - 1) >> 1
      const parent = this.members[above]
      if (parent === undefined || !this.goesBefore(member, parent)) break
      this.put(parent, place)
      place = above
    }
    this.put(member, place)
    return place
  }

  /** Puts a member at a place, or as far below it as it belongs. */
  private sink(member: T, from: number): void {
    let place = from
    for (;;) {
      const below = this.earlierChild(place)
      const child = this.members[below]
      if (child === undefined || !this.goesBefore(child, member)) break
      this.put(child, place)
      place = below
    }
    this.put(member, place)
  }

  /** Returns the place of the child that goes first; a place past the end when there is none. */
  private earlierChild(place: number): number {
    const left = 2 * place + 1
    const [a, b] = [this.members[left], this.members[left + 1]]
    return a !== undefined && b !== undefined && this.goesBefore(b, a) ? left + 1 : left
  }

  private put(member: T, place: number): void {
    this.members[place] = member
    this.places.set(member, place)
  }
}
