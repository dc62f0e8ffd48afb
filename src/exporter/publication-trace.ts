/**
 * The spans of publications: one for each, and in it those of the build and of each request to the
 * gateway, whose own span for it is a child of that.
 * @module
 */
import { errorText } from '../dns/bytes/unknown.ts'
import { formatTraceparent, type OpenSpan, type Tracer } from '../dns/telemetry/tracer.ts'
import type { PublishReport } from './publisher.ts'

/** Traces the publications of one exporter, which come one after the other. */
export class PublicationTrace {
  private readonly tracer: Pick<Tracer, 'begin'>
  private readonly cluster: string
  private current: OpenSpan | undefined

  constructor(tracer: Pick<Tracer, 'begin'>, cluster: string) {
    this.tracer = tracer
    this.cluster = cluster
  }

  /** Runs a publication in a span. */
  async run(publish: () => Promise<PublishReport | undefined>): Promise<PublishReport | undefined> {
    const span = this.tracer.begin('publish', { tags: { 'kubedoh.cluster': this.cluster } })
    this.current = span
    try {
      const report = await publish()
      span.end(tagsOf(report))
      return report
    } catch (error) {
      span.end({ error: errorText(error) })
      throw error
    } finally {
      this.current = undefined
    }
  }

  /** Runs the build of a snapshot, in a span if a publication needs it. */
  async build<T>(build: () => Promise<T>): Promise<T> {
    return this.inSpan('build', 'internal', build)
  }

  /**
   * Returns a function that sends a request; during a publication in a span, which goes along in
   * `traceparent`.
   */
  around(send: typeof fetch = fetch): typeof fetch {
    return (input, init) => {
      const name = `${init?.method ?? 'GET'} ${nameOf(String(input))}`
      return this.inSpan(name, 'client', async (span, tags) => {
        const headers = new Headers(init?.headers)
        if (span !== undefined) headers.set('traceparent', formatTraceparent(span))
        const response = await send(input, { ...init, headers })
        tags['http.response.status_code'] = String(response.status)
        return response
      })
    }
  }

  private async inSpan<T>(
    name: string,
    kind: 'internal' | 'client',
    work: (span: OpenSpan | undefined, tags: Record<string, string>) => Promise<T>,
  ): Promise<T> {
    const { current: parent } = this
    const span = parent && this.tracer.begin(name, { parent, kind })
    const tags: Record<string, string> = {}
    try {
      return await work(span, tags)
    } catch (error) {
      tags.error = errorText(error)
      throw error
    } finally {
      span?.end(tags)
    }
  }
}

/** Returns what a request is for: the names of shards are hashes. */
function nameOf(url: string): string {
  const [, what] = /\/v1\/clusters\/[^/]+\/(\w+)/.exec(url) ?? []
  return what ?? 'state'
}

function tagsOf(report: PublishReport | undefined): Readonly<Record<string, string>> {
  if (report === undefined) return { 'kubedoh.published': 'nothing' }
  const { generation, records, isConfirmation, shards, shardBytes } = report
  return {
    'kubedoh.published': isConfirmation ? 'confirmation' : 'names',
    'kubedoh.generation': String(generation),
    'kubedoh.records': String(records),
    'kubedoh.shards': String(shards),
    'kubedoh.shard_bytes': String(shardBytes),
  }
}
