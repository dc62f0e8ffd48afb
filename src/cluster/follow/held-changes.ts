/**
 * Changes of objects that wait while a snapshot is built of them in slices.
 * @module
 */

/** Changes that wait at most; with more, a build no longer pauses. */
const HELD_MAX = 10_000

/** The changes. */
export class HeldChanges {
  private held: (() => void)[] | undefined

  /** Whether changes wait now. */
  get areHeld(): boolean {
    return this.held !== undefined
  }

  /** Whether so many wait that what they wait for must end. */
  get areMany(): boolean {
    return this.held !== undefined && this.held.length >= HELD_MAX
  }

  /** Has changes wait from now on. */
  hold(): void {
    this.held = []
  }

  /** Applies a change, now or once changes no longer wait. */
  apply(change: () => void): void {
    if (this.held === undefined) change()
    else this.held.push(change)
  }

  /** Applies the changes that have waited. Returns how many there were. */
  release(): number {
    const held = this.held ?? []
    this.held = undefined
    for (const change of held) change()
    return held.length
  }
}
