/**
 * Spans as collectors want them: Zipkin's JSON (https://zipkin.io/zipkin-api/, version 2) and
 * OpenTelemetry's (https://opentelemetry.io/docs/specs/otlp/, OTLP over HTTP).
 * @module
 */
import type { Span } from './spans.ts'

/** Which collector it is. */
export type SpanFormat = 'zipkin' | 'otlp'

/** OpenTelemetry's numbers for what a span is, and how it ended. */
const KIND = { INTERNAL: 1, SERVER: 2 } as const
const STATUS_ERROR = 2
const ERROR_TAG = 'error'

/** Writes spans of a service. */
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
    // A duration of 0 would be an unknown one.
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

/** More than a number holds: 64 bits, as a string. */
function nanoseconds(timeMs: number): string {
  return `${Math.round(timeMs * 1000)}000`
}
