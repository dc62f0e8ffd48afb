/**
 * The spans of one request: its own, and one for each plugin that it goes through, each within that
 * of the plugin before.
 * @module
 */
import type { Spans } from '../../chain/request.ts'

/** A piece of time that something took. Identifiers are hexadecimal digits. */
export type Span = {
  /** 32 digits. */
  readonly traceId: string
  /** 16 digits. */
  readonly id: string
  /** `undefined` for the span of the whole request. */
  readonly parentId: string | undefined
  readonly name: string
  /** Milliseconds since 1970. */
  readonly startMs: number
  readonly durationMs: number
  readonly tags: Readonly<Record<string, string>>
}

/** What makes spans needs of its runtime. */
export type SpanClock = {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds since some moment, by a clock that never goes back. */
  readonly elapsed: () => number
  /** A number from 0 to 65535. */
  readonly random16: () => number
}

/** Spans of one request; more are not recorded. */
const SPANS_MAX = 64
/** What CoreDNS calls the span of the whole. */
const REQUEST_SPAN = 'servedns'

/** Records the spans of a request. */
export class RequestSpans implements Spans {
  readonly traceId: string
  private readonly clock: SpanClock
  private readonly id: string
  private readonly startMs: number
  private readonly begunMs: number
  private readonly ended: Span[] = []
  /** The span that is open and has no open span within. */
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

  begin(plugin: string): () => void {
    if (++this.begun >= SPANS_MAX) return () => undefined
    const { clock, traceId, innermost: parentId } = this
    const id = randomDigits(clock, 4)
    const startMs = clock.now()
    const begunMs = clock.elapsed()
    this.innermost = id
    return () => {
      this.innermost = parentId
      const durationMs = clock.elapsed() - begunMs
      this.ended.push({ traceId, id, parentId, name: plugin, startMs, durationMs, tags: {} })
    }
  }

  /** Ends the span of the whole. @returns all spans that have ended, the whole first */
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

function randomDigits({ random16 }: SpanClock, groups: number): string {
  return Array.from({ length: groups }, () => random16().toString(16).padStart(4, '0')).join('')
}
