/**
 * The spans of one request: its root span, and one for each plugin, nested in the previous plugin's
 * span.
 * @module
 */
import type { Explainer, Spans } from '../../contract/request.ts'

/** A timed operation. Identifiers are hexadecimal digits. */
export type Span = {
  /** 32 digits. */
  readonly traceId: string
  /** 16 digits. */
  readonly id: string
  /** `undefined` for the root span. */
  readonly parentId: string | undefined
  readonly name: string
  /** Milliseconds since 1970. */
  readonly startMs: number
  readonly durationMs: number
  readonly tags: Readonly<Record<string, string>>
}

/** The host functions for recording spans. */
export type SpanClock = {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds on a monotonic clock. */
  readonly elapsed: () => number
  /** A number from 0 to 65535. */
  readonly random16: () => number
}

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

function randomDigits({ random16 }: SpanClock, groups: number): string {
  return Array.from({ length: groups }, () => random16().toString(16).padStart(4, '0')).join('')
}

/** The collector's format. */
export type SpanFormat = 'zipkin' | 'otlp'

/** OpenTelemetry's numbers for the kind and the status of a span. */
const KIND = { INTERNAL: 1, SERVER: 2 } as const
const STATUS_ERROR = 2
const ERROR_TAG = 'error'

/** Formats the spans of a service. */
export function writeSpans(format: SpanFormat, service: string, spans: readonly Span[]): string {
  return JSON.stringify(format === 'zipkin' ? zipkin(service, spans) : otlp(service, spans))
}

function zipkin(serviceName: string, spans: readonly Span[]): unknown {
  return spans.map((span) => ({
    traceId: span.traceId,
    id: span.id,
    ...(span.parentId === undefined ? { kind: 'SERVER' } : { parentId: span.parentId }),
    name: span.name,
    timestamp: Math.round(span.startMs * 1000),
    // Zipkin treats a duration of 0 as unknown.
    duration: Math.max(1, Math.round(span.durationMs * 1000)),
    localEndpoint: { serviceName },
    tags: span.tags,
  }))
}

function otlp(service: string, spans: readonly Span[]): unknown {
  const attributes = attributesOf({ 'service.name': service })
  const scopeSpans = [{ scope: { name: 'kubedoh' }, spans: spans.map(otlpSpan) }]
  return { resourceSpans: [{ resource: { attributes }, scopeSpans }] }
}

function otlpSpan({ traceId, id, parentId, name, startMs, durationMs, tags }: Span): unknown {
  const { [ERROR_TAG]: message, ...others } = tags
  return {
    traceId,
    spanId: id,
    ...(parentId !== undefined && { parentSpanId: parentId }),
    name,
    kind: parentId === undefined ? KIND.SERVER : KIND.INTERNAL,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(startMs + durationMs),
    attributes: attributesOf(others),
    ...(message !== undefined && { status: { code: STATUS_ERROR, message } }),
  }
}

function attributesOf(tags: Readonly<Record<string, string>>): unknown[] {
  return Object.entries(tags).map(([key, stringValue]) => ({ key, value: { stringValue } }))
}

/** Returns nanoseconds as a string: 64 bits exceed a JavaScript number. */
function nanoseconds(timeMs: number): string {
  return `${Math.round(timeMs * 1000)}000`
}
