/**
 * The `trace` plugin: reports to a collector which plugins a query passes, and how long each takes.
 * @module
 */

import { errorText } from '../../bytes/unknown.ts'
import type { MaybePromise } from '../../chain/maybe-promise.ts'
import type { Outcome } from '../../chain/outcome.ts'
import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Next, Request } from '../../chain/request.ts'
import { formatName } from '../../dns/name.ts'
import { formatRcode } from '../../dns/rcode.ts'
import { formatType } from '../../dns/rr-type.ts'
import { parseTrace } from './options.ts'
import { Reporter, type TraceHost } from './reporter.ts'
import { RequestSpans } from './spans.ts'

/** Configures `trace [[zipkin|otlp] ENDPOINT] { … }`. */
export const tracePlugin: PluginEntry<TraceHost> = {
  name: 'trace',
  setup: (directives, { host }) => {
    const { reporter: options, every, notices } = parseTrace(directives)
    const { postJson, after, log } = host
    const reporter = new Reporter(options, { postJson, after, log })
    const sampler = new Sampler(every)
    return {
      notices,
      plugin: {
        name: 'trace',
        fastPath: { needsSlowPath: () => sampler.takeOnFastPath() },
        metadata: (label, { trace }) =>
          label === 'trace/traceid' ? trace?.spans?.traceId : undefined,
        stop: () => reporter.stop(),
        serve: (request, next) =>
          sampler.take()
            ? serveTraced(request, next, { reporter, spans: new RequestSpans(host) })
            : next(request),
      },
    }
  },
}

/** Samples queries. A query that moves from the fast path to the slow path counts once. */
class Sampler {
  private readonly every: number
  private count = 0
  private isCounted = false
  private isDue = false

  constructor(every: number) {
    this.every = every
  }

  /** Counts a query on the fast path. @returns whether it must take the slow path */
  takeOnFastPath(): boolean {
    this.isCounted = true
    this.isDue = this.next()
    return this.isDue
  }

  /** Counts a query on the slow path, unless it was counted. @returns whether to trace it */
  take(): boolean {
    const isDue = this.isCounted ? this.isDue : this.next()
    this.isCounted = false
    return isDue
  }

  private next(): boolean {
    if (this.every === 0) return false
    this.count = (this.count + 1) % this.every
    return this.count === 0
  }
}

function serveTraced(
  request: Request,
  next: Next,
  { reporter, spans }: { readonly reporter: Reporter; readonly spans: RequestSpans },
): MaybePromise<Outcome> {
  const { trace } = request
  // A lookup by another plugin belongs to the trace of its request.
  if (trace.spans !== undefined) return next(request)
  trace.spans = spans
  const end = (tags: Readonly<Record<string, string>>): void => {
    reporter.add(spans.finish({ ...tagsOf(request), ...tags }))
  }
  const settle = (outcome: Outcome): Outcome => {
    end(outcomeTags(outcome))
    return outcome
  }
  const fail = (error: unknown): never => {
    end({ error: errorText(error) })
    throw error
  }
  try {
    const outcome = next(request)
    return outcome instanceof Promise ? outcome.then(settle, fail) : settle(outcome)
  } catch (error) {
    return fail(error)
  }
}

function tagsOf({ lowerName, type, client }: Request): Record<string, string> {
  return {
    'coredns.io/name': formatName(lowerName),
    'coredns.io/type': formatType(type),
    'coredns.io/proto': client.transport === 'udp' ? 'udp' : 'tcp',
    'coredns.io/remote': client.address,
  }
}

function outcomeTags(outcome: Outcome): Record<string, string> {
  if (outcome.kind === 'drop' || outcome.kind === 'transfer') return {}
  const rcode = { 'coredns.io/rcode': formatRcode(outcome.rcode) }
  const reason = outcome.kind === 'failure' ? outcome.reason : undefined
  return reason === undefined ? rcode : { ...rcode, error: reason }
}
