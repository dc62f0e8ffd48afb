/**
 * Queries for the same entry that are under way at once: one goes on, the others wait for it.
 * @module
 */
import type { MaybePromise } from '../../contract/maybe-promise.ts'

/** Waiting requests, and keys under way; requests beyond either bound do not share. */
const WAITING_MAX = 4096

/** The queries under way of one cache, by the key of their entry. */
export class UnderWay<T> {
  private readonly queries = new Map<string, Promise<T>>()
  private waiting = 0

  /** Returns the query for a key that one more request may `wait` for. */
  find(key: string): Promise<T> | undefined {
    return this.waiting < WAITING_MAX ? this.queries.get(key) : undefined
  }

  /** Lets later requests find a query until it ends. The first query for a key counts. */
  share(key: string, query: MaybePromise<T>): void {
    const { queries } = this
    if (!(query instanceof Promise) || queries.has(key) || queries.size >= WAITING_MAX) return
    queries.set(key, query)
    const end = (): void => {
      queries.delete(key)
    }
    query.then(end, end)
  }

  /** Resolves like a query. @throws {unknown} what the query throws */
  async wait(query: Promise<T>): Promise<T> {
    this.waiting++
    try {
      return await query
    } finally {
      this.waiting--
    }
  }
}
