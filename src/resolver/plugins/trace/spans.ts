/**
 * The spans of one request: its root span, and one for each plugin, nested in the previous plugin's
 * span.
 * @module
 */
import { randomDigits, type Span, type SpanClock } from '../../../dns/telemetry/span.ts'
import type { Explainer, Spans } from '../../contract/request.ts'

/** Spans per request; further spans are dropped. */
const SPANS_MAX = 64
/** CoreDNS's name for the root span. */
const REQUEST_SPAN = 'servedns'

/** Records the spans of a request. */
export class RequestSpans implements Spans {
  readonly traceId: string
  private readonly clock: SpanClock
  private readonly id: string
  private readonly startMs: number
  private readonly begunMs: number
  private readonly ended: Span[] = []
  /** The innermost open span. */
  private innermost: string
  private begun = 0

  constructor(clock: SpanClock) {
    this.clock = clock
    this.traceId = randomDigits(clock, 8)
    this.id = randomDigits(clock, 4)
    this.innermost = this.id
    this.startMs = clock.now()
    this.begunMs = clock.elapsed()
  }

  begin({ name }: Explainer): () => void {
    if (++this.begun >= SPANS_MAX) return () => undefined
    const { clock, traceId, innermost: parentId } = this
    const id = randomDigits(clock, 4)
    const startMs = clock.now()
    const begunMs = clock.elapsed()
    this.innermost = id
    return () => {
      this.innermost = parentId
      const durationMs = clock.elapsed() - begunMs
      this.ended.push({ traceId, id, parentId, name, startMs, durationMs, tags: {} })
    }
  }

  /** Ends the root span. @returns all ended spans, the root span first */
  finish(tags: Readonly<Record<string, string>>): Span[] {
    const { traceId, id, startMs } = this
    const durationMs = this.clock.elapsed() - this.begunMs
    const whole = {
      traceId,
      id,
      parentId: undefined,
      name: REQUEST_SPAN,
      startMs,
      durationMs,
      tags,
    }
    return [whole, ...this.ended]
  }
}
