/**
 * A cache at work: keeps replies for a while, asks for them again before their time is up or when
 * it is, and serves what it has meanwhile (github.com/coredns/coredns, plugin/cache/handler.go).
 * @module
 */

import { deriveRequest } from '../../chain/derived-request.ts'
import type { FastReplyOptions } from '../../chain/fast-path-part.ts'
import type { Host } from '../../chain/host.ts'
import { andThen, type MaybePromise } from '../../chain/maybe-promise.ts'
import { failure, type Outcome } from '../../chain/outcome.ts'
import type { Next, Request } from '../../chain/request.ts'
import { EXTENDED_ERROR, extendedError } from '../../dns/edns.ts'
import type { Reply, ResourceRecord } from '../../dns/message.ts'
import { FLAG } from '../../dns/query.ts'
import { RCODE } from '../../dns/rcode.ts'
import { closestZone } from '../../plugin-kit/zones.ts'
import { entryKey } from './entry-key.ts'
import { boundedTtl, cacheKind, hasAnswer, isCacheable } from './kinds.ts'
import type { CacheMetrics, Half } from './metrics.ts'
import type { CacheOptions } from './options.ts'
import { type Entry, EntryStore, secondsLeft } from './store.ts'

const STALE = extendedError(EXTENDED_ERROR.STALE_ANSWER)
const STALE_DENIAL = extendedError(EXTENDED_ERROR.STALE_NXDOMAIN)

/** What a cache works with. */
export type CacheParts = {
  readonly options: CacheOptions
  readonly host: Host
  readonly metrics: CacheMetrics
  /** Whether clients learn that an answer is stale. */
  readonly tellsWhy: boolean
}

/** One block's cache. */
export class Cache {
  private readonly options: CacheOptions
  private readonly host: Host
  private readonly metrics: CacheMetrics
  private readonly tellsWhy: boolean
  private readonly success: EntryStore
  private readonly denial: EntryStore

  constructor({ options, host, metrics, tellsWhy }: CacheParts) {
    this.options = options
    this.host = host
    this.metrics = metrics
    this.tellsWhy = tellsWhy
    this.success = new EntryStore(options.success.entriesMax)
    this.denial = new EntryStore(options.denial.entriesMax)
  }

  /** Bounds the TTLs of an answer from a snapshot. */
  prepare(how: FastReplyOptions): void {
    const { success, denial } = this.options
    how.hasTtlBounds = true
    how.answerTtlMin = success.ttlSecondsMin
    how.answerTtlMax = success.ttlSecondsMax
    how.negativeTtlMin = denial.ttlSecondsMin
    how.negativeTtlMax = denial.ttlSecondsMax
  }

  /** Counts an answer from a snapshot, which is not kept. */
  pass(): void {
    this.metrics.requests.value++
    this.metrics.misses.value++
  }

  /** Answers from what is kept, or else keeps what the rest of the chain answers. */
  serve(request: Request, next: Next): MaybePromise<Outcome> {
    const lookup = { key: entryKey(request), request, next }
    const nowMs = this.host.elapsed()
    this.metrics.requests.value++
    const entry = this.find(lookup.key, nowMs)
    if (entry === undefined) {
      this.metrics.misses.value++
      return andThen(next(authentic(request)), (outcome) =>
        outcome.kind === 'reply' ? toClient(this.keep(lookup, outcome), request) : outcome,
      )
    }
    if (secondsLeft(entry, nowMs) <= 0) return this.serveStale(entry, lookup)
    if (this.isPopular(entry, nowMs)) this.refresh(entry, lookup, false)
    return this.answerFrom(entry, request, nowMs)
  }

  private find(key: string, nowMs: number): Entry | undefined {
    const { seconds, prefersPositive } = this.options.stale
    if (prefersPositive && seconds > 0) {
      const found = this.success.find(key, nowMs, seconds)
      const good = found === undefined || found.isAnswer ? found : found.lastGood
      if (good !== undefined && -secondsLeft(good, nowMs) < seconds)
        return this.hit('success', good)
    }
    const negative = this.denial.find(key, nowMs, seconds)
    // A failure passes; what was good before is better than that.
    if (negative !== undefined && negative.reply.rcode !== RCODE.SERVFAIL) {
      return this.hit('denial', negative)
    }
    const entry = this.success.find(key, nowMs, seconds)
    if (entry !== undefined) return this.hit('success', entry)
    return negative && this.hit('denial', negative)
  }

  private hit(half: Half, entry: Entry): Entry {
    this.metrics.hits[half].value++
    return entry
  }

  /** AA is set because some old resolvers refuse answers without it; so does CoreDNS. */
  private answerFrom(entry: Entry, request: Request, nowMs: number): Reply {
    const { keepsTtl, stale } = this.options
    const left = secondsLeft(entry, nowMs)
    const isStale = left <= 0
    const own = keepsTtl ? entry.ttlSeconds : Math.max(left, 0)
    const reply = withTtl(entry.reply, isStale && stale.ttlSeconds > 0 ? stale.ttlSeconds : own)
    const why = reply.rcode === RCODE.NXDOMAIN ? STALE_DENIAL : STALE
    const options = isStale && this.tellsWhy ? [why] : []
    return toClient(
      { ...reply, origin: 'server', options, authoritative: true, recursionDesired: undefined },
      request,
    )
  }

  private serveStale(entry: Entry, lookup: Lookup): MaybePromise<Outcome> {
    const { request } = lookup
    const { isVerified, verifyMs, recheckMs } = this.options.stale
    // Where one request's work may never end, what is not waited for might not be done at all.
    if (!isVerified && !this.host.isolatesRequests) {
      this.refresh(entry, lookup, true)
      return this.answerStale(entry, request)
    }
    if (recheckMs > 0 && !this.mayRefresh(entry)) return this.answerStale(entry, request)
    const verified = this.verify(entry, lookup)
    const isBounded = verified instanceof Promise && verifyMs > 0
    return andThen(isBounded ? this.within(verifyMs, verified) : verified, (better) =>
      better === undefined ? this.answerStale(entry, request) : toClient(better, request),
    )
  }

  private answerStale(entry: Entry, request: Request): Reply {
    this.metrics.servedStale.value++
    return this.answerFrom(entry, request, this.host.elapsed())
  }

  /** Asks again; gives what comes if it is better than the old answer. */
  private verify(entry: Entry, lookup: Lookup): MaybePromise<Reply | undefined> {
    entry.isRefreshing = true
    return andThen(this.ask(lookup, lookup.request), (outcome) => {
      const better = this.keepBetter(lookup, outcome)
      this.endRefresh(entry, better !== undefined)
      return better
    })
  }

  /** What a promise has in time; it is kept going after that. */
  private within<T>(durationMs: number, promise: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve) => {
      const cancel = this.host.after(durationMs, () => resolve(undefined))
      void promise.then((value) => {
        cancel()
        resolve(value)
      })
    })
  }

  /** Asks the rest of the chain. Never throws: there is an answer already. */
  private ask({ next }: Lookup, request: Request): MaybePromise<Outcome> {
    const fail = (error: unknown): Outcome => {
      this.host.log({ level: 'error', message: 'a plugin failed', error: String(error) })
      return failure(RCODE.SERVFAIL)
    }
    try {
      const outcome = next(authentic(request))
      return outcome instanceof Promise ? outcome.catch(fail) : outcome
    } catch (error) {
      return fail(error)
    }
  }

  /** Asks again for nobody, over TCP so that nothing is cut; one at a time for an entry. */
  private refresh(entry: Entry, lookup: Lookup, isStale: boolean): void {
    if (this.host.isolatesRequests || !this.mayRefresh(entry)) return
    entry.isRefreshing = true
    this.metrics.prefetches.value++
    const { client, limits } = lookup.request
    const { address, port, visibility } = client
    const request: Request = {
      ...lookup.request,
      client: { address, port, transport: 'tcp', ...(visibility && { visibility }) },
      limits: { ...limits },
      trace: { plugin: '' },
    }
    void Promise.resolve(this.ask(lookup, request)).then((outcome) => {
      const kept = isStale
        ? this.keepBetter(lookup, outcome)
        : outcome.kind === 'reply' && this.keep(lookup, outcome)
      this.endRefresh(entry, Boolean(kept))
      // The new entry keeps the popularity of the old one.
      const fresh = this.denial.peek(lookup.key) ?? this.success.peek(lookup.key)
      if (!kept || fresh === undefined || fresh === entry) return
      fresh.hits = entry.hits
      fresh.lastHitMs = this.host.elapsed()
    })
  }

  private mayRefresh({ isRefreshing, retryAfterMs }: Entry): boolean {
    return !isRefreshing && this.host.elapsed() >= retryAfterMs
  }

  private endRefresh(entry: Entry, isDone: boolean): void {
    entry.isRefreshing = false
    const { recheckMs } = this.options.stale
    entry.retryAfterMs = isDone || recheckMs === 0 ? 0 : this.host.elapsed() + recheckMs
  }

  private isPopular(entry: Entry, nowMs: number): boolean {
    const { hitsMin, pauseMsMax, percent } = this.options.prefetch
    if (hitsMin === 0) return false
    entry.hits = nowMs - entry.lastHitMs > pauseMsMax ? 1 : entry.hits + 1
    entry.lastHitMs = nowMs
    const threshold = Math.ceil((percent / 100) * entry.ttlSeconds)
    return entry.hits >= hitsMin && secondsLeft(entry, nowMs) <= threshold
  }

  /** Keeps a reply that may take the place of a stale one (RFC 8767 §4), and returns it. */
  private keepBetter(lookup: Lookup, outcome: Outcome): Reply | undefined {
    if (outcome.kind !== 'reply' || outcome.truncated) return undefined
    const { rcode } = outcome
    if (this.options.stale.prefersPositive) {
      const kept = this.keep(lookup, outcome)
      const isGood = cacheKind(lookup.request, outcome) === 'answer'
      return isGood && hasAnswer(lookup.request, outcome.answer) ? kept : undefined
    }
    const isSettled =
      rcode === RCODE.NOERROR || (rcode === RCODE.NXDOMAIN && !outcome.answer.length)
    return isSettled ? this.keep(lookup, outcome) : undefined
  }

  /** Bounds the TTLs of a reply, and keeps it if it may be. */
  private keep({ key, request }: Lookup, reply: Reply): Reply {
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
    if (isKept) this.put(half, { key, request }, { reply: bounded, ttlSeconds })
    return bounded
  }

  private put(
    half: Half,
    { key, request }: Pick<Lookup, 'key' | 'request'>,
    kept: Pick<Entry, 'reply' | 'ttlSeconds'>,
  ): void {
    const nowMs = this.host.elapsed()
    const { seconds, prefersPositive } = this.options.stale
    const isAnswer = half === 'success' && hasAnswer(request, kept.reply.answer)
    const keepsGood = half === 'success' && prefersPositive && !isAnswer
    const before = keepsGood ? this.success.find(key, nowMs, seconds) : undefined
    this.metrics.evictions[half].value += this[half].put(key, {
      ...kept,
      storedMs: nowMs,
      isAnswer,
      lastGood: before?.isAnswer === true ? before : before?.lastGood,
      hits: 0,
      lastHitMs: Number.NEGATIVE_INFINITY,
      isRefreshing: false,
      retryAfterMs: 0,
    })
    // A positive response replaces the negative one.
    if (half === 'success' && (isAnswer || !prefersPositive)) this.denial.remove(key)
    this.metrics.entries.success.value = this.success.size
    this.metrics.entries.denial.value = this.denial.size
  }
}

/** A request, where its reply is kept, and whom to ask for it. */
type Lookup = { readonly key: string; readonly request: Request; readonly next: Next }

/** The request with AD, so that a later query with AD can use the entry (RFC 6840 §5.7). */
function authentic(request: Request): Request {
  const { flags } = request.query
  if ((flags & FLAG.AD) !== 0) return request
  return deriveRequest(request, { flags: (flags & (FLAG.RD | FLAG.CD)) | FLAG.AD })
}

/** What a client gets: AD only if it wants to know. */
function toClient(reply: Reply, { query }: Request): Reply {
  const wants = query.wantsDnssec || (query.flags & FLAG.AD) !== 0
  return wants || !reply.authenticData ? reply : { ...reply, authenticData: false }
}

function withTtl(reply: Reply, ttlSeconds: number): Reply {
  const set = (record: ResourceRecord): ResourceRecord => ({ ...record, ttlSeconds })
  return {
    ...reply,
    answer: reply.answer.map(set),
    authority: reply.authority.map(set),
    additional: reply.additional.map(set),
  }
}
