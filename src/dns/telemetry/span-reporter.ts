/**
 * Sends spans to a collector in batches, without delaying responses. Spans that cannot be sent in
 * time are lost.
 * @module
 */
import { errorText } from '../bytes/unknown.ts'
import type { Log } from './log.ts'
import { type Span, type SpanFormat, writeSpans } from './span.ts'

/** The collector, and the sizes of batches. */
export type ReporterOptions = {
  readonly format: SpanFormat
  readonly url: string
  readonly service: string
  /** Spans that may wait; further spans push out the oldest. */
  readonly backlogMax: number
  /** Spans that trigger a batch at once. */
  readonly batchMax: number
  /** Time until an incomplete batch is sent, in milliseconds. */
  readonly intervalMs: number
}

/** The functions of the runtime for sending. */
export type ReporterHost = {
  /** Runs a task later; returns a function that cancels it. */
  readonly after: (delayMs: number, task: () => void) => () => void
  readonly log: Log
  /**
   * Sends JSON to a collector; resolves when the collector has accepted it.
   * @throws {Error} later, when the collector rejects it or takes longer than `timeoutMs`
   */
  readonly postJson: (url: string, json: string, timeoutMs: number) => Promise<void>
}

const SEND_MS = 5000
/** Minimum time between two warnings about lost spans. */
const COMPLAINT_MS = 60_000

/** Collects spans and sends them. */
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

  /** Queues spans; never throws, never waits. */
  add(spans: readonly Span[]): void {
    const { backlogMax, batchMax, intervalMs } = this.options
    this.waiting.push(...spans)
    const surplus = this.waiting.length - backlogMax
    if (surplus > 0) this.lose(this.waiting.splice(0, surplus).length, 'the backlog is full')
    if (this.waiting.length >= batchMax) this.send()
    else this.cancelTimer ??= this.host.after(intervalMs, () => this.send())
  }

  /** Sends the queued spans and stops the timers. */
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
