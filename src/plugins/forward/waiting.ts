/**
 * Requests that wait for upstreams.
 * @module
 */

/** Requests that wait, of all `forward` directives of a process together. */
const WAITING_MAX = 4096

type Waiter<T> = (result: T) => void

/** Requests that wait for the same result. */
export type Group<T> = Set<Waiter<T>>

/** All requests that wait, the oldest first. */
export class WaitingRequests<T> {
  private readonly groups = new Map<Waiter<T>, Group<T>>()
  private readonly drop: () => T

  /** @param drop gives the result of a request that makes room for a new one */
  constructor(drop: () => T) {
    this.drop = drop
  }

  /**
   * Resolves with the result of a group. Where 4,096 requests wait, the one that has waited longest
   * makes room: an upstream that answers has done so long before.
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

  /** Gives a group its result. */
  settle(group: Group<T>, result: T): void {
    for (const waiter of group) {
      this.groups.delete(waiter)
      waiter(result)
    }
    group.clear()
  }
}
