/**
 * The `trace` plugin: reports to a collector which plugins a query passes, and how long each takes.
 * @module
 */

import {
  argTexts,
  checkArgs,
  type OptionReaders,
  onlyDirective,
  onlyWord,
  parseCount,
  parseDuration,
  readOptions,
} from '../../../corefile/arguments.ts'
import { configError, type Problem, problemAt } from '../../../corefile/problem.ts'
import type { Directive, Word } from '../../../corefile/server-block.ts'
import { errorText } from '../../../dns/bytes/unknown.ts'
import { formatName } from '../../../dns/names/name.ts'
import { formatRcode } from '../../../dns/names/rcode.ts'
import type { SpanFormat } from '../../../dns/telemetry/span.ts'
import {
  Reporter,
  type ReporterHost,
  type ReporterOptions,
} from '../../../dns/telemetry/span-reporter.ts'
import type { Host } from '../../contract/host.ts'
import type { MaybePromise } from '../../contract/maybe-promise.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { Next, Request } from '../../contract/request.ts'
import { typeText } from '../../plugin-kit/mnemonics.ts'
import { RequestSpans } from './spans.ts'

/** A host that sends spans. */
export type TraceHost = Host & Pick<ReporterHost, 'postJson'>

/** Configures `trace [[zipkin|otlp] ENDPOINT] { … }`. */
export const tracePlugin: PluginEntry<TraceHost> = {
  name: 'trace',
  gateways: {
    at: 'worker',
    is: 'ignored',
    because: 'nothing runs between its requests; set "[observability]" in wrangler.toml',
  },
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
    'coredns.io/type': typeText(type),
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

type TraceOptions = {
  readonly reporter: ReporterOptions
  /** Traces one query in so many; 0 traces none. */
  readonly every: number
  readonly notices: readonly Problem[]
}

const ZIPKIN_PATH = '/api/v2/spans'
const OTLP_PATH = '/v1/traces'
const DEFAULTS: Readonly<Record<SpanFormat, string>> = {
  zipkin: 'localhost:9411',
  otlp: 'localhost:4318',
}
const EVERY_MAX = Number.MAX_SAFE_INTEGER
/** Bound of the batch and backlog options. */
const SPANS_MAX = 1_000_000
/** The booleans of Go's strconv. */
const BOOLEANS: ReadonlySet<string> = new Set(
  '1 t T TRUE true True 0 f F FALSE false False'.split(' '),
)

type Draft = Omit<TraceOptions['reporter'], 'format' | 'url'> & {
  readonly every: number
  readonly notices: Problem[]
}

/** Applies each option to the draft; as in CoreDNS, 0 selects the default. */
const READERS: OptionReaders<Draft> = {
  every: (option) => ({ every: parseCount(onlyWord(option), 0, EVERY_MAX) }),
  service: (option) => ({ service: onlyWord(option).text }),
  client_server: (option, { notices }) => {
    argTexts(option, 0, 1)
    const [word] = option.args
    if (word !== undefined && !BOOLEANS.has(word.text)) {
      throw configError(word, `"${word.text}" is neither true nor false`)
    }
    const message = '"client_server" has no effect: kubedoh does not continue clients\' traces'
    notices.push(problemAt(option, message))
  },
  datadog_analytics_rate: (option) => {
    argTexts(option, 0, 1)
    for (const word of option.args) {
      if (/^\d*\.?\d+$/.test(word.text) && Number(word.text) <= 1) continue
      throw configError(word, `"${word.text}" is not a rate from 0 to 1`)
    }
  },
  zipkin_max_backlog_size: (option, { backlogMax }) => ({
    backlogMax: parseCount(onlyWord(option), 0, SPANS_MAX) || backlogMax,
  }),
  zipkin_max_batch_size: (option, { batchMax }) => ({
    batchMax: parseCount(onlyWord(option), 0, SPANS_MAX) || batchMax,
  }),
  zipkin_max_batch_interval: (option, { intervalMs }) => ({
    intervalMs: parseDuration(onlyWord(option)) || intervalMs,
  }),
}

/** Parses the only directive. @throws {ConfigError} */
export function parseTrace(directives: readonly [Directive, ...Directive[]]): TraceOptions {
  const directive = onlyDirective(directives)
  const [first, second] = checkArgs(directive, 2)
  const format = first === undefined || second === undefined ? 'zipkin' : parseFormat(first)
  const url = parseUrl(second ?? first, format)
  const draft: Draft = {
    every: 1,
    service: 'coredns',
    backlogMax: 1000,
    batchMax: 100,
    intervalMs: 1000,
    notices: [],
  }
  readOptions(directive, READERS, draft)
  const { every, notices, ...batches } = draft
  return { reporter: { format, url, ...batches }, every, notices }
}

function parseFormat(word: Word): SpanFormat {
  const text = word.text.toLowerCase()
  if (text === 'zipkin' || text === 'otlp') return text
  const hint = text === 'datadog' ? " with the agent's OTLP port" : ''
  throw configError(word, `"${word.text}" is not a collector; use "zipkin" or "otlp"${hint}`)
}

/** Adds the collector's path for spans. */
function parseUrl(word: Word | undefined, format: SpanFormat): string {
  const text = word === undefined || word.text === '' ? DEFAULTS[format] : word.text
  const path = format === 'zipkin' ? ZIPKIN_PATH : OTLP_PATH
  const url = text.startsWith('http') ? text : `http://${text}${path}`
  if (word === undefined || /^https?:$/.test(URL.parse(url)?.protocol ?? '')) return url
  throw configError(word, `"${word.text}" is neither HOST:PORT nor a URL of a collector`)
}
