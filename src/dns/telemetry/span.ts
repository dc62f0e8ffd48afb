/**
 * Spans: timed operations as collectors of Zipkin and OpenTelemetry take them.
 * @module
 */

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
  /** Its kind at OTLP; `server` for a root span and `internal` for others when left out. */
  readonly kind?: SpanKind
}

/** The side of a request that a span times; `internal` is neither. */
export type SpanKind = 'internal' | 'server' | 'client'

/** The host functions for recording spans. */
export type SpanClock = {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds on a monotonic clock. */
  readonly elapsed: () => number
  /** A number from 0 to 65535. */
  readonly random16: () => number
}

/** Returns random hexadecimal digits, four for each group. */
export function randomDigits({ random16 }: SpanClock, groups: number): string {
  return Array.from({ length: groups }, () => random16().toString(16).padStart(4, '0')).join('')
}

/** The collector's format. */
export type SpanFormat = 'zipkin' | 'otlp'

/** OpenTelemetry's numbers for the kind and the status of a span. */
const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 }
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

function otlpSpan(span: Span): unknown {
  const { traceId, id, parentId, name, startMs, durationMs, tags } = span
  const { kind = parentId === undefined ? 'server' : 'internal' } = span
  const { [ERROR_TAG]: message, ...others } = tags
  return {
    traceId,
    spanId: id,
    ...(parentId !== undefined && { parentSpanId: parentId }),
    name,
    kind: KINDS[kind],
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
