/**
 * The options of `trace` (CoreDNS, plugin/trace/setup.go), and kubedoh's own collector `otlp`.
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
} from '../../corefile/arguments.ts'
import { configError, type Problem, problemAt } from '../../corefile/problem.ts'
import type { Directive, Word } from '../../corefile/server-block.ts'
import type { ReporterOptions } from './reporter.ts'
import type { SpanFormat } from './spans.ts'

/** A `trace` directive. */
export type TraceOptions = {
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
