/**
 * Counts the requests of each client token, and stores the day of its last use: at most one write a
 * day for each token, and one a minute for all of them.
 * @module
 */
import { errorText } from '../../dns/bytes/unknown.ts'
import {
  type MetricInfo,
  type Metrics,
  metricInfo,
  type Series,
} from '../../dns/telemetry/metrics.ts'
import type { GatewayClock } from '../timing/held-clock.ts'
import { DAY_MS } from './token.ts'
import { TOKENS_MAX, type TokenStore } from './token-store.ts'

/** Shortest time between two writes. */
const WRITE_MS = 60_000

const REQUESTS: MetricInfo = {
  ...metricInfo(
    'kubedoh_gateway_token_requests_total',
    'Requests by client token; the first 100 tokens used, and the rest as "other".',
    'token',
  ),
  seriesMax: 100,
}

/** What the use of tokens needs. */
export type TokenUseOptions = {
  readonly store: Pick<TokenStore, 'noteUse'>
  readonly metrics: Metrics
  readonly clock: GatewayClock
  /** Gets the text of an error of the store. */
  readonly onError: (message: string) => void
}

type Use = { readonly requests: Series; day: number }

/** The use of tokens, as one process or isolate sees it. */
export class TokenUse {
  private readonly options: TokenUseOptions
  private readonly uses = new Map<string, Use>()
  private unwritten = new Map<string, number>()
  private writtenMs = Number.NEGATIVE_INFINITY

  constructor(options: TokenUseOptions) {
    this.options = options
  }

  /** Counts a request of a token. */
  note(id: string): void {
    const use = this.uses.get(id) ?? this.add(id)
    use.requests.value++
    const day = Math.floor(this.options.clock.now() / DAY_MS)
    if (use.day === day) return
    use.day = day
    this.unwritten.set(id, day)
  }

  /** Starts to write new days when it is time; returns the promise to keep alive. */
  writeIfDue(): Promise<void> | undefined {
    const nowMs = this.options.clock.elapsed()
    if (this.unwritten.size === 0 || nowMs - this.writtenMs < WRITE_MS) return undefined
    this.writtenMs = nowMs
    const days = this.unwritten
    this.unwritten = new Map()
    return this.options.store.noteUse([...days]).catch((error: unknown) => {
      this.unwritten = new Map([...days, ...this.unwritten])
      this.options.onError(errorText(error))
    })
  }

  private add(id: string): Use {
    // Also holds tokens that were revoked since.
    if (this.uses.size >= TOKENS_MAX) this.uses.clear()
    const use = { requests: this.options.metrics.counter(REQUESTS, [id]), day: -1 }
    this.uses.set(id, use)
    return use
  }
}
