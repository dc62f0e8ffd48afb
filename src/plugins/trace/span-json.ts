/**
 * Spans in the collectors' formats: Zipkin's JSON (https://zipkin.io/zipkin-api/, version 2) and
 * OpenTelemetry's (https://opentelemetry.io/docs/specs/otlp/, OTLP over HTTP).
 * @module
 */
import type { Span } from './spans.ts'

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
