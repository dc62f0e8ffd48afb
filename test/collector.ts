/**
 * A collector of OpenTelemetry on loopback, by OTLP over HTTP as JSON.
 * @module
 */
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'vitest'
import { isRecord, listOf, recordOf } from '../src/dns/bytes/unknown.ts'

/** A span as the collector got it. */
export type GotSpan = {
  readonly service: string
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  /** '' for a root span. */
  readonly parentSpanId: string
  readonly tags: Readonly<Record<string, string>>
  readonly error: string | undefined
}

/** A collector that runs until its test ends. */
export type TestCollector = { readonly url: string; readonly spans: readonly GotSpan[] }

/** Starts a collector, which answers if it does not hang. */
export async function startCollector(
  t: TestContext,
  { hangs = false }: { readonly hangs?: boolean } = {},
): Promise<TestCollector> {
  const spans: GotSpan[] = []
  const server = createServer(async (request, response) => {
    spans.push(...spansIn(JSON.parse(await text(request))))
    if (!hangs) response.end(request.url === '/v1/traces' ? '{}' : undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${Object(server.address()).port}`, spans }
}

function spansIn(body: unknown): GotSpan[] {
  return listOf(recordOf(body).resourceSpans).flatMap((one) => {
    const { resource, scopeSpans } = recordOf(one)
    const service = attributesOf(recordOf(resource).attributes)['service.name'] ?? ''
    const all = listOf(scopeSpans).flatMap((scope) => listOf(recordOf(scope).spans))
    return all.filter(isRecord).map((span) => ({
      service,
      name: String(span.name),
      kind: Number(span.kind),
      traceId: String(span.traceId),
      spanId: String(span.spanId),
      parentSpanId: String(span.parentSpanId ?? ''),
      tags: attributesOf(span.attributes),
      error: isRecord(span.status) ? String(span.status.message) : undefined,
    }))
  })
}

function attributesOf(attributes: unknown): Record<string, string> {
  return Object.fromEntries(
    listOf(attributes).map((one) => {
      const { key, value } = recordOf(one)
      return [String(key), String(recordOf(value).stringValue)]
    }),
  )
}
