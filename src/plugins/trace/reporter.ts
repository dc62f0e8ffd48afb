/**
 * Sends spans to a collector in batches, beside answers: what cannot be sent in time is lost.
 * @module
 */
import { errorText } from '../../bytes/unknown.ts'
import type { TraceHost } from './host.ts'
import { type SpanFormat, writeSpans } from './span-json.ts'
import type { Span } from './spans.ts'

/** Where spans go, and how many at a time. */
export type ReporterOptions = {
  readonly format: SpanFormat
  readonly url: string
  readonly service: string
  /** Spans that may wait; beyond that the oldest are lost. */
  readonly backlogMax: number
  /** Spans that are sent without waiting for more. */
  readonly batchMax: number
  /** How long spans wait for more. */
  readonly intervalMs: number
}

/** What sending needs of the runtime. */
export type ReporterHost = Pick<TraceHost, 'after' | 'log' | 'postJson'>

const SEND_MS = 5000
/** Shortest time between two warnings about lost spans. */
const COMPLAINT_MS = 60_000

/** Spans on their way. */
export class Reporter {
  private readonly options: ReporterOptions
  private readonly host: ReporterHost
  private waiting: Span[] = []
  private isSending = false
  private lost = 0
  private cancelTimer: (() => void) | undefined
  private cancelComplaint: (() => void) | undefined

  constructor(options: ReporterOptions, host: ReporterHost) {
    this.options = options
    this.host = host
  }

  /** Takes spans; never throws, never waits. */
  add(spans: readonly Span[]): void {
    const { backlogMax, batchMax, intervalMs } = this.options
    this.waiting.push(...spans)
    const surplus = this.waiting.length - backlogMax
    if (surplus > 0) this.lose(this.waiting.splice(0, surplus).length, 'too many wait')
    if (this.waiting.length >= batchMax) this.send()
    else this.cancelTimer ??= this.host.after(intervalMs, () => this.send())
  }

  /** Sends what waits, and ends the timers. */
  stop(): void {
    this.send()
    this.cancelTimer?.()
    this.cancelComplaint?.()
  }

  private send(): void {
    this.cancelTimer?.()
    this.cancelTimer = undefined
    if (this.isSending || this.waiting.length === 0) return
    const { url, format, service, batchMax } = this.options
    const batch = this.waiting.splice(0, batchMax)
    this.isSending = true
    void this.host
      .postJson(url, writeSpans(format, service, batch), SEND_MS)
      .catch((error: unknown) => {
        this.lose(batch.length, errorText(error))
      })
      .then(() => {
        this.isSending = false
        if (this.waiting.length > 0) this.add([])
      })
  }

  private lose(count: number, reason: string): void {
    this.lost += count
    if (this.cancelComplaint !== undefined) return
    const { after, log } = this.host
    log({ level: 'warning', message: 'spans are lost', count: this.lost, reason })
    this.lost = 0
    this.cancelComplaint = after(COMPLAINT_MS, () => {
      this.cancelComplaint = undefined
    })
  }
}
