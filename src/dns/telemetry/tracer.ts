/**
 * Spans of operations that are no DNS requests, in traces that go on in other processes by the
 * header `traceparent` (W3C Trace Context).
 * @module
 */
import { randomDigits, type Span, type SpanClock, type SpanKind } from './span.ts'
import type { Reporter } from './span-reporter.ts'

/** What another span needs to be a child of a span: hexadecimal digits. */
export type SpanContext = Pick<Span, 'traceId' | 'id'>

/** A span that has begun. */
export type OpenSpan = SpanContext & {
  /** Ends it, and queues it for the collector. The tag `error` marks it as failed. */
  readonly end: (tags?: Span['tags']) => void
}

type SpanOptions = {
  /** The span around it; the first one of a trace has none. */
  readonly parent?: SpanContext | undefined
  /** Default: `internal`. */
  readonly kind?: SpanKind
  readonly tags?: Span['tags']
}

/** `traceparent` of version 00, or of a later one, which begins in the same way. */
const TRACEPARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/
const SAMPLED = 1

/** Begins spans, which a reporter sends. Never throws, never waits. */
export class Tracer {
  private readonly reporter: Pick<Reporter, 'add' | 'stop'>
  private readonly clock: SpanClock

  constructor(reporter: Pick<Reporter, 'add' | 'stop'>, clock: SpanClock) {
    this.reporter = reporter
    this.clock = clock
  }

  /** Begins a span. One that never ends is never sent. */
  begin(name: string, { parent, kind = 'internal', tags = {} }: SpanOptions = {}): OpenSpan {
    const { clock, reporter } = this
    const [startMs, begunMs] = [clock.now(), clock.elapsed()]
    const id = randomDigits(clock, 4)
    const traceId = parent?.traceId ?? randomDigits(clock, 8)
    const end = (more: Span['tags'] = {}): void => {
      const durationMs = clock.elapsed() - begunMs
      const times = { startMs, durationMs }
      const all = { ...tags, ...more }
      reporter.add([{ traceId, id, parentId: parent?.id, name, kind, tags: all, ...times }])
    }
    return { traceId, id, end }
  }

  /** Sends the spans that wait, without waiting for the collector. */
  stop(): void {
    this.reporter.stop()
  }
}

/** Formats the header by which a span goes on elsewhere. */
export function formatTraceparent({ traceId, id }: SpanContext): string {
  return `00-${traceId}-${id}-01`
}

/** Parses that header; `undefined` for another text, and for a trace that its sender drops. */
export function parseTraceparent(text = ''): SpanContext | undefined {
  const [, traceId, id, flags = ''] = TRACEPARENT.exec(text) ?? []
  if (traceId === undefined || id === undefined) return undefined
  return (Number.parseInt(flags, 16) & SAMPLED) === 0 ? undefined : { traceId, id }
}
