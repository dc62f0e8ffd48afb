/**
 * Requests that wait for upstreams.
 * @module
 */

/** Waiting requests of all `forward` directives of a process. */
const WAITING_MAX = 4096

/** A request that waits. */
type Waiter<T> = {
  readonly resolve: (result: T) => void
  /** When its client gives up. */
  readonly untilMs: number
}

/** Requests that wait for the same result. */
export type Group<T> = Set<Waiter<T>>

/** What requests get that are not answered. */
type Refusals<T> = {
  /** Milliseconds of the clock of `untilMs`. */
  readonly now: () => number
  /** Returns the result of a request that makes room for a new one. */
  readonly drop: () => T
  /** Returns the result of a request whose client has given up. */
  readonly giveUp: () => T
}

/** All waiting requests, the oldest first. */
export class WaitingRequests<T> {
  private readonly groups = new Map<Waiter<T>, Group<T>>()
  private readonly refusals: Refusals<T>

  constructor(refusals: Refusals<T>) {
    this.refusals = refusals
  }

  /**
   * Resolves with the result of a group. If 4,096 requests wait, drops the oldest: a working
   * upstream would have responded long before.
   */
  join(group: Group<T>, untilMs: number): Promise<T> {
    const { drop } = this.refusals
    const [oldest] = this.groups.size >= WAITING_MAX ? this.groups : []
    if (oldest !== undefined) {
      const [waiter, itsGroup] = oldest
      itsGroup.delete(waiter)
      this.groups.delete(waiter)
      this.answer(waiter, drop)
    }
    return new Promise((resolve) => {
      const waiter = { resolve, untilMs }
      group.add(waiter)
      this.groups.set(waiter, group)
    })
  }

  /** Returns the result of a request whose client has given up before it could wait. */
  giveUp(): T {
    return this.refusals.giveUp()
  }

  /** Whether the client of any request of a group still waits. */
  isAwaited(group: Group<T>): boolean {
    const nowMs = this.refusals.now()
    for (const { untilMs } of group) if (nowMs <= untilMs) return true
    return false
  }

  /** Resolves all requests of a group. */
  settle(group: Group<T>, result: T): void {
    for (const waiter of group) {
      this.groups.delete(waiter)
      this.answer(waiter, () => result)
    }
    group.clear()
  }

  private answer({ resolve, untilMs }: Waiter<T>, result: () => T): void {
    const { now, giveUp } = this.refusals
    resolve(now() <= untilMs ? result() : giveUp())
  }
}
