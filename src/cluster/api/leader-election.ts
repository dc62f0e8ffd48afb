/**
 * Elects one of several exporters by a Lease. Like client-go, it trusts no clock but its own: a
 * Lease is free when it has not changed for its duration, as observed here.
 * @module
 */
import { type Metrics, metricInfo } from '../../dns/telemetry/metrics.ts'
import { Backoff, type Timing } from './backoff.ts'
import {
  claimRequest,
  LEASES,
  type Lease,
  type LeaseName,
  leasesPath,
  parseLease,
  readLease,
} from './lease.ts'
import {
  ApiError,
  type Listed,
  type ObjectApi,
  STATUS_CONFLICT,
  STATUS_NOT_FOUND,
} from './object-api.ts'

/** Validity of the Lease after a renewal: a follower takes over that long after a crash. */
const LEASE_MS = 2000
/**
 * How long a leader leads after the start of its last successful renewal: less than
 * {@link LEASE_MS}, so that two never lead at once, even if a process stood still.
 */
const LEADS_MS = 1500
/** Interval of renewals. */
const RENEW_MS = 500
/** Longest wait for one request: two more attempts fit before the end of the leadership. */
const REQUEST_MS = 1000
/** Longest pause after a conflict. */
const CONFLICT_MS = 100
/** Longest pause after failures. */
const RETRY_MS_MAX = 2000

const LEADS = metricInfo(
  'leader_election_master_status',
  'Whether this exporter is the leader: 1, or 0 for a follower.',
  'name',
)
const ELECTED = metricInfo(
  'kubedoh_exporter_elected_total',
  'How often this exporter became the leader.',
  'name',
)

/** Options of an election. */
export type ElectionOptions = Timing & {
  readonly api: ObjectApi
  readonly lease: LeaseName
  /** Name of this process that no other has. */
  readonly identity: string
  readonly metrics: Metrics
  /** Called when this process becomes the leader. */
  readonly onElected: () => void
  /** Called when another one leads: its identity. */
  readonly onFollow: (leader: string) => void
  /** Called when the Lease cannot be read or written, once until that succeeds again. */
  readonly onError: (message: string) => void
}

/** The election. */
export class LeaderElection {
  private readonly options: ElectionOptions
  private readonly backoff: Backoff
  private readonly listed: Listed
  private lease: Lease | undefined
  private needsRead = true
  /** When the Lease was last seen to change. */
  private observedMs = 0
  /** Start of the last successful renewal. */
  private renewedMs = Number.NEGATIVE_INFINITY
  private wasLeader = false
  private followed = ''
  private reported = ''

  constructor(options: ElectionOptions) {
    const { lease, random } = options
    this.options = options
    this.backoff = new Backoff(random, RETRY_MS_MAX)
    this.listed = {
      resource: LEASES,
      path: leasesPath(lease),
      fieldSelector: `metadata.name=${lease.name}`,
    }
  }

  /** Returns whether this process may publish now. */
  get isLeader(): boolean {
    return this.options.elapsed() - this.renewedMs < LEADS_MS
  }

  /** Returns the identity of the leader as far as known; '' for none. */
  get leader(): string {
    return this.lease?.holder ?? ''
  }

  /** Takes part until `signal` ends it, then releases the Lease. Never throws an API error. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.step(signal)
        this.backoff.reset()
        this.reported = ''
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        if (signal.aborted) break
        await this.handleError(error, signal)
      }
      this.report()
    }
    await this.release()
  }

  private async step(signal: AbortSignal): Promise<void> {
    const { api, lease, sleep, identity } = this.options
    if (this.needsRead) {
      this.observe(await this.within(signal, (bounded) => readLease(api, lease, bounded)))
      this.needsRead = false
    }
    if (this.leader === identity || this.isFree) {
      await this.claim(identity, signal)
      this.report()
      await sleep(RENEW_MS, signal)
    } else {
      this.report()
      await this.follow(signal)
    }
  }

  private get isFree(): boolean {
    const { lease, observedMs } = this
    if (lease === undefined || lease.holder === '') return true
    return this.options.elapsed() - observedMs >= lease.durationMs
  }

  /** @param lease `undefined` if it does not exist: the leader until then may not know that yet */
  private observe(lease: Lease | undefined): void {
    if (lease === undefined) {
      if (this.lease !== undefined) this.lease = { ...this.lease, resourceVersion: '' }
      return
    }
    if (lease.resourceVersion !== this.lease?.resourceVersion) {
      this.observedMs = this.options.elapsed()
    }
    this.lease = lease
  }

  /** Writes the Lease, with this process as leader or with none. */
  private async claim(holder: string, signal: AbortSignal): Promise<void> {
    const { api, lease, now, elapsed } = this.options
    const startMs = elapsed()
    const claim = { holder, durationMs: LEASE_MS, nowMs: now() }
    const request = claimRequest(lease, this.lease, claim)
    this.observe(parseLease(await this.within(signal, (bounded) => api.send(request, bounded))))
    this.renewedMs = holder === '' ? Number.NEGATIVE_INFINITY : startMs
  }

  /**
   * Watches the Lease of another leader until it is free. A watch that ends or dies costs nothing:
   * the Lease then seems to expire, and the attempt to take it fails or succeeds.
   */
  private async follow(signal: AbortSignal): Promise<void> {
    const { api, sleep, elapsed } = this.options
    const over = new AbortController()
    const end = AbortSignal.any([signal, over.signal])
    const watched = api.watch(this.listed, {
      resourceVersion: this.lease?.resourceVersion ?? '',
      signal: end,
      onOpen: () => undefined,
      onEvent: ({ type, object }) => {
        if (type === 'DELETED') this.observe(undefined)
        else if (type === 'ADDED' || type === 'MODIFIED') this.observe(parseLease(object))
        if (type === 'ERROR' || this.isFree) over.abort()
      },
    })
    const watching = watched.finally(() => over.abort())
    // An error is thrown by the last line; until then nothing else waits for it.
    watching.catch(() => undefined)
    while (!end.aborted && !this.isFree) {
      await sleep((this.lease?.durationMs ?? 0) - (elapsed() - this.observedMs), end)
    }
    over.abort()
    await watching
    // The watch may have ended because the server no longer has that version.
    this.needsRead = !this.isFree
  }

  /** Releases the Lease, so that a follower need not wait for its end. */
  private async release(): Promise<void> {
    if (this.leader !== this.options.identity) return
    try {
      await this.claim('', new AbortController().signal)
    } catch (error) {
      // It expires.
      if (!(error instanceof ApiError)) throw error
    }
  }

  private async handleError(error: ApiError, signal: AbortSignal): Promise<void> {
    const { onError, sleep, random, lease } = this.options
    this.needsRead = true
    if (error.status === STATUS_CONFLICT || error.status === STATUS_NOT_FOUND) {
      // Another exporter was faster, or an operator deleted the Lease.
      await sleep(CONFLICT_MS * random(), signal)
      return
    }
    const what = `${lease.namespace}/${lease.name}`
    if (this.reported !== error.message) onError(`cannot use Lease ${what}: ${error.message}`)
    this.reported = error.message
    await sleep(Math.max(this.backoff.next(), error.retryAfterMs ?? 0), signal)
  }

  /** Runs a request that may take {@link REQUEST_MS}. */
  private async within<T>(
    signal: AbortSignal,
    request: (bounded: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const over = new AbortController()
    void this.options.sleep(REQUEST_MS, over.signal).then(() => over.abort())
    try {
      return await request(AbortSignal.any([signal, over.signal]))
    } finally {
      over.abort()
    }
  }

  private report(): void {
    const { metrics, lease, identity, onElected, onFollow } = this.options
    const { name } = lease
    const { isLeader, leader } = this
    metrics.gauge(LEADS, [name]).value = isLeader ? 1 : 0
    if (isLeader && !this.wasLeader) {
      metrics.counter(ELECTED, [name]).value++
      onElected()
    }
    if (leader !== this.followed && leader !== identity && leader !== '') onFollow(leader)
    this.wasLeader = isLeader
    this.followed = leader
  }
}
