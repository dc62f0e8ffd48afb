/**
 * Numbers in place of the names of groups, where these have to be kept very often.
 * @module
 */

/** Numbers of groups, from 1; those of groups that are gone are given again. */
export class GroupNumbers {
  private readonly names: string[] = ['']
  /** How often each number is in use. */
  private readonly uses: number[] = [0]
  private readonly numbers = new Map<string, number>()
  private readonly unused: number[] = []
  /** The number that was taken last: the units of a group are added one after the other. */
  private last = 0

  /** Forgets all groups. */
  clear(): void {
    this.names.length = 1
    this.uses.length = 1
    this.numbers.clear()
    this.unused.length = 0
    this.last = 0
  }

  /** The group of a number that is in use. */
  name(number: number): string {
    return this.names[number] ?? ''
  }

  /** Gives the number of a group, once more. */
  take(name: string): number {
    const isLast = this.last > 0 && this.names[this.last] === name
    const number = isLast ? this.last : (this.numbers.get(name) ?? this.assign(name))
    this.uses[number] = (this.uses[number] ?? 0) + 1
    this.last = number
    return number
  }

  /** Takes a number back, as often as it was given. */
  release(number: number): void {
    const uses = (this.uses[number] ?? 0) - 1
    this.uses[number] = uses
    if (uses > 0) return
    this.numbers.delete(this.name(number))
    this.names[number] = ''
    this.unused.push(number)
    if (this.last === number) this.last = 0
  }

  private assign(name: string): number {
    const number = this.unused.pop() ?? this.names.length
    this.names[number] = name
    this.uses[number] = 0
    this.numbers.set(name, number)
    return number
  }
}
