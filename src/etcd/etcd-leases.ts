/**
 * Remaining times of etcd's leases. Etcd does not push them: requests a lease's time when a key
 * with it is first seen, later in the background of queries that need it.
 * @module
 */

/** Dependencies of `EtcdLeases`. */
export type LeaseOptions = {
  /** Requests the remaining seconds of a lease, 0 or less if it has expired. Can reject. */
  readonly ask: (lease: string) => Promise<number>
  readonly now: () => number
}

type Lease = { readonly endMs: number | undefined; readonly askedMs: number }

/** Minimum time between requests for a lease. */
const AGE_MS = 5000
const ASKING_MAX = 8
/** Maximum number of known leases; beyond it, forgets those with the oldest request. */
const LEASES_MAX = 65_536

/** Leases by ID. */
export class EtcdLeases {
  private readonly options: LeaseOptions
  private readonly leases = new Map<string, Lease>()
  private readonly waiting = new Set<string>()
  private asking = 0

  constructor(options: LeaseOptions) {
    this.options = options
  }

  /**
   * Returns a lower bound of a lease's remaining seconds; 1 if it is unknown yet or seems expired,
   * in which case it was renewed or its keys are about to be deleted. `undefined` if etcd does not
   * know the lease.
   */
  seconds(id: string): number | undefined {
    const nowMs = this.options.now()
    const lease = this.leases.get(id)
    if (lease === undefined || nowMs - lease.askedMs > AGE_MS) this.ask(id)
    if (lease === undefined) return 1
    if (lease.endMs === undefined) return undefined
    return Math.max(1, Math.floor((lease.endMs - nowMs) / 1000))
  }

  private ask(id: string): void {
    if (this.waiting.size >= LEASES_MAX) return
    this.waiting.add(id)
    this.askWaiting()
  }

  private askWaiting(): void {
    for (const id of this.waiting) {
      if (this.asking === ASKING_MAX) return
      this.waiting.delete(id)
      this.asking++
      void this.learn(id).finally(() => {
        this.asking--
        this.askWaiting()
      })
    }
  }

  /** If etcd is unavailable, keeps the last time, which is a lower bound. */
  private async learn(id: string): Promise<void> {
    const { ask, now } = this.options
    const askedMs = now()
    const endMs = this.leases.get(id)?.endMs ?? askedMs
    try {
      const seconds = await ask(id)
      this.put(id, { endMs: seconds > 0 ? askedMs + seconds * 1000 : undefined, askedMs })
    } catch {
      this.put(id, { endMs, askedMs })
    }
  }

  private put(id: string, lease: Lease): void {
    this.leases.delete(id)
    this.leases.set(id, lease)
    if (this.leases.size <= LEASES_MAX) return
    const [oldest] = this.leases.keys()
    if (oldest !== undefined) this.leases.delete(oldest)
  }
}
