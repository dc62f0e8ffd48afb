/**
 * How long the leases of etcd have left. Etcd tells only who asks: each lease is asked after when a
 * key that hangs on it is first seen, and later in the background of answers that need it.
 * @module
 */

/** What leases need. */
export type LeaseOptions = {
  /** Asks etcd for the seconds that a lease has left, 0 or less when it is gone. May reject. */
  readonly ask: (lease: string) => Promise<number>
  readonly now: () => number
}

type Lease = { readonly endMs: number | undefined; readonly askedMs: number }

/** What is known of a lease for so long is not asked for again. */
const AGE_MS = 5000
const ASKING_MAX = 8
/** Leases to know of; beyond that, those that were asked after longest ago are forgotten. */
const LEASES_MAX = 65_536

/** Leases by their identifiers. */
export class EtcdLeases {
  private readonly options: LeaseOptions
  private readonly leases = new Map<string, Lease>()
  private readonly waiting = new Set<string>()
  private asking = 0

  constructor(options: LeaseOptions) {
    this.options = options
  }

  /**
   * Seconds that a lease has left, at least; 1 when it is not known yet, or seems to be over: then
   * it was kept alive, or its keys are about to go. `undefined` when etcd does not know it.
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

  /** When etcd does not answer, what was known holds on: it is too little rather than too much. */
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
