/**
 * The `cache` plugin: keeps answers of the plugins behind it for a while.
 *
 * Answers from a snapshot are not kept: looking them up again costs less, and so a name that
 * changes in the cluster never waits for a TTL. Their TTLs are bounded as those of all answers are.
 * @module
 */
import { EMPTY_REPLY, type Reply, type ResourceRecord } from '../../dns/message.ts'
import { equalNames, nameKey } from '../../dns/name.ts'
import { FLAG } from '../../dns/query.ts'
import { TYPE } from '../../dns/rr-type.ts'
import type { MetricInfo, Metrics, Series } from '../../telemetry/metrics.ts'
import {
  andThen,
  type MaybePromise,
  type Next,
  type Outcome,
  type QuickReply,
  type Request,
  type Setup,
} from '../plugin.ts'
import { type ResponseKind, responseKind } from '../response-class.ts'
import { closestZone, closestZoneIndex } from '../zones.ts'
import { type Bounds, type CacheOptions, parseCache } from './options.ts'
import { type Entry, EntryStore, secondsLeft } from './store.ts'

/** TTL of what has no TTL of its own. */
const TTL_SECONDS_FALLBACK = 5

/** Configures `cache [TTL] [ZONE…] { … }`. */
export const setupCache: Setup = (directives, { host, zones, server, view }) => {
  const options = parseCache(directives, zones)
  const cache = new Cache(options, host.now, cacheMetrics(host.metrics, server, view))
  return {
    plugins: [
      {
        name: 'cache',
        quick: {
          prepare: (how, query) => {
            if (closestZoneIndex(options.zones, query) >= 0) cache.prepare(how)
          },
          answered: (query) => {
            if (closestZoneIndex(options.zones, query) >= 0) cache.pass()
          },
        },
        serve: (request, next) =>
          closestZone(options.zones, request.lowerName) === undefined
            ? next(request)
            : cache.serve(request, next),
      },
    ],
  }
}

type CacheMetrics = {
  readonly requests: Series
  readonly misses: Series
  readonly hits: Readonly<Record<Half, Series>>
  readonly entries: Readonly<Record<Half, Series>>
  readonly evictions: Readonly<Record<Half, Series>>
}
type Half = 'success' | 'denial'

class Cache {
  private readonly options: CacheOptions
  private readonly now: () => number
  private readonly metrics: CacheMetrics
  private readonly success: EntryStore
  private readonly denial: EntryStore

  constructor(options: CacheOptions, now: () => number, metrics: CacheMetrics) {
    this.options = options
    this.now = now
    this.metrics = metrics
    this.success = new EntryStore(options.success.entriesMax)
    this.denial = new EntryStore(options.denial.entriesMax)
  }

  /** Bounds the TTLs of an answer from a snapshot. */
  prepare(how: QuickReply): void {
    const { success, denial } = this.options
    how.hasTtlBounds = true
    how.answerTtlMin = success.ttlSecondsMin
    how.answerTtlMax = success.ttlSecondsMax
    how.denialTtlMin = denial.ttlSecondsMin
    how.denialTtlMax = denial.ttlSecondsMax
  }

  /** Counts an answer from a snapshot, which is not kept. */
  pass(): void {
    this.metrics.requests.value++
    this.metrics.misses.value++
  }

  serve(request: Request, next: Next): MaybePromise<Outcome> {
    const key = entryKey(request)
    const nowMs = this.now()
    this.metrics.requests.value++
    const hit = this.find(key, nowMs)
    if (hit !== undefined) return this.answerFrom(hit, request, nowMs)
    this.metrics.misses.value++
    return andThen(next(request), (outcome) =>
      outcome.kind === 'reply' ? this.keep(key, request, outcome) : outcome,
    )
  }

  private find(key: string, nowMs: number): Entry | undefined {
    const denied = this.denial.find(key, nowMs)
    if (denied !== undefined) {
      this.metrics.hits.denial.value++
      return denied
    }
    const entry = this.success.find(key, nowMs)
    if (entry !== undefined) this.metrics.hits.success.value++
    return entry
  }

  /** AA is set because some old resolvers refuse answers without it; so does CoreDNS. */
  private answerFrom(entry: Entry, request: Request, nowMs: number): Reply {
    const seconds = this.options.keepsTtl ? entry.ttlSeconds : secondsLeft(entry, nowMs)
    const reply = withTtl(entry.reply, seconds)
    return {
      ...reply,
      origin: 'server',
      options: [],
      authoritative: true,
      recursionDesired: undefined,
      authenticData: reply.authenticData && wantsAuthenticData(request),
    }
  }

  private keep(key: string, request: Request, reply: Reply): Reply {
    const kind = cacheKind(request, reply)
    const half: Half = kind === 'answer' || kind === 'delegation' ? 'success' : 'denial'
    const bounds = this.options[kind === 'nodata' || kind === 'nxdomain' ? 'denial' : 'success']
    const ttlSeconds =
      kind === 'server-error' ? this.options.failureSeconds : boundedTtl(reply, kind, bounds)
    const bounded = withTtl(reply, ttlSeconds)
    const isKept =
      ttlSeconds > 0 &&
      isCacheable(request, reply, kind) &&
      closestZone(this.options[half].except, request.lowerName) === undefined
    if (isKept) {
      const store = this[half]
      if (store.put(key, { reply: bounded, ttlSeconds, storedMs: this.now() })) {
        this.metrics.evictions[half].value++
      }
      this.metrics.entries[half].value = store.size
    }
    return { ...bounded, authenticData: reply.authenticData && wantsAuthenticData(request) }
  }
}

/**
 * DO and CD change what upstreams answer, so they are part of the question (RFC 4035 §3.2), as is
 * what the client may see.
 */
function entryKey({ lowerName, type, class: rrClass, query, client }: Request): string {
  const flags = (query.wantsDnssec ? 1 : 0) | (query.flags & FLAG.CD)
  return `${type} ${rrClass} ${flags} ${client.view?.id ?? ''} ${nameKey(lowerName)}`
}

/** Whether the client wants to know if data is authentic (RFC 6840 §5.7). */
function wantsAuthenticData({ query }: Request): boolean {
  return query.wantsDnssec || (query.flags & FLAG.AD) !== 0
}

/**
 * An alias that leads to no record of the type is no data, when an SOA record says for how long.
 */
function cacheKind(request: Request, reply: Reply): ResponseKind {
  const has = (wanted: number): boolean => reply.authority.some(({ type }) => type === wanted)
  const facts = { rcode: reply.rcode, answerCount: reply.answer.length, hasSoa: has(TYPE.SOA) }
  const kind = responseKind({ ...facts, hasNs: has(TYPE.NS) })
  return kind === 'answer' && facts.hasSoa && leadsNowhere(request, reply.answer) ? 'nodata' : kind
}

/** Errors, truncated answers and what says no TTL for a denial are not kept (RFC 2308 §5). */
function isCacheable(request: Request, reply: Reply, kind: ResponseKind): boolean {
  if (reply.origin === 'snapshot' || reply.truncated || kind === 'other-error') return false
  if (request.type === TYPE.AXFR || request.type === TYPE.IXFR) return false
  const hasSoa = reply.authority.some(({ type }) => type === TYPE.SOA)
  if (kind === 'nxdomain') return hasSoa
  return kind !== 'answer' || hasSoa || !leadsNowhere(request, reply.answer)
}

/** Tells whether an answer section has records, but none of the type at the end of its aliases. */
function leadsNowhere({ name, type }: Request, answer: readonly ResourceRecord[]): boolean {
  if (answer.length === 0) return false
  let owner = name
  for (let links = 0; links <= answer.length; links++) {
    const at = answer.filter((record) => equalNames(record.owner, owner))
    if (at.some((record) => record.type === type || type === TYPE.ANY)) return false
    const alias = at.find((record) => record.type === TYPE.CNAME)
    if (alias === undefined) return true
    owner = alias.rdata
  }
  return true
}

function boundedTtl(reply: Reply, kind: ResponseKind, bounds: Bounds): number {
  const { ttlSecondsMin, ttlSecondsMax } = bounds
  const isCounted = kind === 'answer' || kind === 'nodata' || kind === 'nxdomain'
  const records = [...reply.answer, ...reply.authority, ...reply.additional]
  const smallest =
    isCounted && records.length > 0
      ? records.reduce((ttl, record) => Math.min(ttl, record.ttlSeconds), ttlSecondsMax)
      : TTL_SECONDS_FALLBACK
  return Math.min(Math.max(smallest, ttlSecondsMin), ttlSecondsMax)
}

function withTtl(reply: Reply, ttlSeconds: number): Reply {
  const set = (record: ResourceRecord): ResourceRecord => ({ ...record, ttlSeconds })
  return {
    ...EMPTY_REPLY,
    ...reply,
    answer: reply.answer.map(set),
    authority: reply.authority.map(set),
    additional: reply.additional.map(set),
  }
}

function cacheMetrics(metrics: Metrics, server: string, view: string): CacheMetrics {
  const info = (name: string, help: string, labels: readonly string[]): MetricInfo => ({
    name: `coredns_cache_${name}`,
    help,
    labels,
  })
  const byServer = ['server', 'zones', 'view']
  const byType = ['server', 'type', 'zones', 'view']
  const counter = (one: MetricInfo, half: Half): Series =>
    metrics.counter(one, [server, half, '', view])
  const halves = (one: MetricInfo): Record<Half, Series> => ({
    success: counter(one, 'success'),
    denial: counter(one, 'denial'),
  })
  const entries = info('entries', 'The number of elements in the cache.', byType)
  return {
    requests: metrics.counter(info('requests_total', 'The count of cache requests.', byServer), [
      server,
      '',
      view,
    ]),
    misses: metrics.counter(info('misses_total', 'The count of cache misses.', byServer), [
      server,
      '',
      view,
    ]),
    hits: halves(info('hits_total', 'The count of cache hits.', byType)),
    evictions: halves(info('evictions_total', 'The count of cache evictions.', byType)),
    entries: {
      success: metrics.gauge(entries, [server, 'success', '', view]),
      denial: metrics.gauge(entries, [server, 'denial', '', view]),
    },
  }
}
