/**
 * Requests that wait for upstreams.
 * @module
 */

/** Waiting requests of all `forward` directives of a process. */
const WAITING_MAX = 4096

type Waiter<T> = (result: T) => void

/** Requests that wait for the same result. */
export type Group<T> = Set<Waiter<T>>

/** All waiting requests, the oldest first. */
export class WaitingRequests<T> {
  private readonly groups = new Map<Waiter<T>, Group<T>>()
  private readonly drop: () => T

  /** @param drop returns the result of a request that makes room for a new one */
  constructor(drop: () => T) {
    this.drop = drop
  }

  /**
   * Resolves with the result of a group. If 4,096 requests wait, drops the oldest: a working
   * upstream would have responded long before.
   */
  join(group: Group<T>): Promise<T> {
    const [oldest] = this.groups.size >= WAITING_MAX ? this.groups : []
    if (oldest !== undefined) {
      const [waiter, itsGroup] = oldest
      itsGroup.delete(waiter)
      this.groups.delete(waiter)
      waiter(this.drop())
    }
    return new Promise((resolve) => {
      group.add(resolve)
      this.groups.set(resolve, group)
    })
  }

  /** Resolves all requests of a group. */
  settle(group: Group<T>, result: T): void {
    for (const waiter of group) {
      this.groups.delete(waiter)
      waiter(result)
    }
    group.clear()
  }
}
