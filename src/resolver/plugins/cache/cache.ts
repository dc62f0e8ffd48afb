/**
 * The cache of one server block: stores replies, refreshes popular and expired entries, and serves
 * stale ones meanwhile (github.com/coredns/coredns, plugin/cache/handler.go).
 * @module
 */

import { RCODE } from '../../../dns/names/rcode.ts'
import { EXTENDED_ERROR, extendedError } from '../../../dns/wire/edns.ts'
import type { Reply, ResourceRecord } from '../../../dns/wire/message.ts'
import { FLAG } from '../../../dns/wire/query.ts'
import { deriveRequest } from '../../chain/derived-request.ts'
import type { FastReplyOptions } from '../../contract/fast-path-part.ts'
import type { Host } from '../../contract/host.ts'
import { andThen, type MaybePromise } from '../../contract/maybe-promise.ts'
import { failure, type Outcome } from '../../contract/outcome.ts'
import type { Next, Request } from '../../contract/request.ts'
import { closestZone } from '../../plugin-kit/zones.ts'
import type { CacheMemory } from './cache-memory.ts'
import { boundedTtl, cacheKind, entryKey, hasAnswer, isCacheable } from './kinds.ts'
import type { CacheMetrics, Half } from './metrics.ts'
import type { CacheOptions } from './options.ts'
import { unpackReply } from './packed-reply.ts'
import { type Entry, EntryStore, newEntry, secondsLeft } from './store.ts'
import { UnderWay } from './under-way.ts'

const STALE = extendedError(EXTENDED_ERROR.STALE_ANSWER)
const STALE_DENIAL = extendedError(EXTENDED_ERROR.STALE_NXDOMAIN)

/** Average bytes of an entry by default: replies come from outside and may be large. */
const BYTES_PER_ENTRY = 8192

/** The options and services of a cache. */
export type CacheParts = {
  readonly options: CacheOptions
  readonly host: Host
  readonly metrics: CacheMetrics
  /** The memory of all caches without `max_bytes`. */
  readonly memory: CacheMemory
  /** Whether clients learn that an answer is stale. */
  readonly showsErrors: boolean
}

/** One block's cache. */
export class Cache {
  private readonly options: CacheOptions
  private readonly host: Host
  private readonly metrics: CacheMetrics
  private readonly showsErrors: boolean
  readonly success: EntryStore
  readonly denial: EntryStore
  /** Misses and refreshes; a refresh that brought nothing better resolves with `undefined`. */
  private readonly underWay = new UnderWay<Outcome | undefined>()

  constructor({ options, host, metrics, memory, showsErrors }: CacheParts) {
    this.options = options
    this.host = host
    this.metrics = metrics
    this.showsErrors = showsErrors
    this.success = this.openStore('success', memory)
    this.denial = this.openStore('denial', memory)
  }

  /** How long expired entries are of use. */
  get staleSeconds(): number {
    return this.options.stale.seconds
  }

  /** Bounds the TTLs of an answer from a snapshot. */
  prepare(options: FastReplyOptions): void {
    const { success, denial } = this.options
    options.hasTtlBounds = true
    options.answerTtlMin = success.ttlSecondsMin
    options.answerTtlMax = success.ttlSecondsMax
    options.negativeTtlMin = denial.ttlSecondsMin
    options.negativeTtlMax = denial.ttlSecondsMax
  }

  /** Counts a response from a snapshot, which the cache does not store. */
  pass(): void {
    this.metrics.requests.value++
    this.metrics.misses.value++
  }

  /** Answers from an entry, or else caches the response of the rest of the chain. */
  serve(request: Request, next: Next): MaybePromise<Outcome> {
    this.metrics.requests.value++
    return this.answer({ key: entryKey(request), request, next }, true)
  }

  /** Answers from an entry. On a miss, waits for a query for the same entry if it may, or asks. */
  private answer(lookup: Lookup, mayWait: boolean): MaybePromise<Outcome> {
    const { key, request, next } = lookup
    const nowMs = this.host.elapsed()
    const entry = this.find(key, nowMs)
    if (entry === undefined) {
      const other = mayWait ? this.underWay.find(key) : undefined
      if (other !== undefined) return this.join(other, lookup)
      this.metrics.misses.value++
      const running = andThen(next(authentic(request)), (outcome) =>
        outcome.kind === 'reply' ? this.keep(lookup, outcome) : outcome,
      )
      this.share(key, running)
      return andThen(running, (outcome) =>
        outcome.kind === 'reply' ? toClient(outcome, request) : outcome,
      )
    }
    if (secondsLeft(entry, nowMs) <= 0) return this.serveStale(entry, lookup)
    if (this.isPopular(entry, nowMs)) this.refresh(entry, lookup, false)
    return this.answerFrom(entry, request, nowMs)
  }

  /** Lets later requests wait for a query, where one request may wait for another. */
  private share(key: string, query: MaybePromise<Outcome | undefined>): void {
    if (!this.host.isolatesRequests) this.underWay.share(key, query)
  }

  /**
   * Answers like the query under way: from the entry that it stored, or with its failure. If the
   * cache may not store its response, that response may be for its client alone: asks again.
   */
  private async join(other: Promise<Outcome | undefined>, lookup: Lookup): Promise<Outcome> {
    const outcome = await this.underWay.wait(other)
    if (outcome?.kind !== 'failure') return this.answer(lookup, false)
    this.metrics.misses.value++
    return outcome
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
    // A cached failure is worse than a positive entry.
    if (negative !== undefined && negative.packed.rcode !== RCODE.SERVFAIL) {
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

  private answerFrom(entry: Entry, request: Request, nowMs: number): Reply {
    const { keepsTtl, stale } = this.options
    const left = secondsLeft(entry, nowMs)
    const isStale = left <= 0
    const own = keepsTtl ? entry.ttlSeconds : Math.max(left, 0)
    const ttlSeconds = isStale && stale.ttlSeconds > 0 ? stale.ttlSeconds : own
    const reply = unpackReply(entry.packed, ttlSeconds)
    const why = reply.rcode === RCODE.NXDOMAIN ? STALE_DENIAL : STALE
    return toClient(isStale && this.showsErrors ? { ...reply, options: [why] } : reply, request)
  }

  private serveStale(entry: Entry, lookup: Lookup): MaybePromise<Outcome> {
    const { request } = lookup
    const { isVerified, verifyMs, recheckMs } = this.options.stale
    // On Workers, work that no request waits for may never end.
    if (!isVerified && !this.host.isolatesRequests) {
      this.refresh(entry, lookup, true)
      return this.answerStale(entry, request)
    }
    if (recheckMs > 0 && !this.mayRefresh(entry)) return this.answerStale(entry, request)
    const other = this.underWay.find(lookup.key)
    const verified = other === undefined ? this.verify(entry, lookup) : this.renewed(other, lookup)
    const isBounded = verified instanceof Promise && verifyMs > 0
    return andThen(isBounded ? this.within(verifyMs, verified) : verified, (better) =>
      better === undefined ? this.answerStale(entry, request) : toClient(better, request),
    )
  }

  private answerStale(entry: Entry, request: Request): Reply {
    this.metrics.servedStale.value++
    return this.answerFrom(entry, request, this.host.elapsed())
  }

  /** Refreshes an entry; returns the new reply if it may replace the stale one. */
  private verify(entry: Entry, lookup: Lookup): MaybePromise<Reply | undefined> {
    entry.isRefreshing = true
    const running = andThen(this.ask(lookup, lookup.request), (outcome) => {
      const better = this.keepBetter(lookup, outcome)
      this.endRefresh(entry, better !== undefined)
      return better
    })
    this.share(lookup.key, running)
    return running
  }

  /** Waits for a query under way, and returns the response if it replaced the stale one. */
  private async renewed(
    other: Promise<Outcome | undefined>,
    { key, request }: Lookup,
  ): Promise<Reply | undefined> {
    const outcome = await this.underWay.wait(other).catch(() => undefined)
    const nowMs = this.host.elapsed()
    const fresh = [this.success.peek(key), this.denial.peek(key)].find(
      (one) => one !== undefined && secondsLeft(one, nowMs) > 0,
    )
    const isBetter = outcome?.kind === 'reply' && fresh?.packed.rcode === outcome.rcode
    return isBetter && outcome.rcode !== RCODE.SERVFAIL
      ? this.answerFrom(fresh, request, nowMs)
      : undefined
  }

  /** Returns a promise's value, or `undefined` after a time-out; does not cancel the promise. */
  private within<T>(durationMs: number, promise: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve) => {
      const cancel = this.host.after(durationMs, () => resolve(undefined))
      void promise.then((value) => {
        cancel()
        resolve(value)
      })
    })
  }

  /** Calls the rest of the chain. Never throws: the cache already has a response. */
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

  /** Refreshes an entry in the background, over TCP to avoid truncation; once at a time. */
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
    const running = Promise.resolve(this.ask(lookup, request)).then((outcome) => {
      const isReply = outcome.kind === 'reply'
      const kept =
        isStale || !isReply ? this.keepBetter(lookup, outcome) : this.keep(lookup, outcome)
      this.endRefresh(entry, kept !== undefined)
      // The new entry keeps the popularity of the old one.
      const fresh = this.denial.peek(lookup.key) ?? this.success.peek(lookup.key)
      if (kept !== undefined && fresh !== undefined && fresh !== entry) {
        fresh.hits = entry.hits
        fresh.lastHitMs = this.host.elapsed()
      }
      return kept
    })
    this.share(lookup.key, running)
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

  /** Caches and returns a reply that may replace a stale one (RFC 8767 §4). */
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

  /** Bounds the TTLs of a reply, and caches it if allowed. */
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
    kept: { readonly reply: Reply; readonly ttlSeconds: number },
  ): void {
    const nowMs = this.host.elapsed()
    const { seconds, prefersPositive } = this.options.stale
    const isAnswer = half === 'success' && hasAnswer(request, kept.reply.answer)
    const keepsGood = half === 'success' && prefersPositive && !isAnswer
    const before = keepsGood ? this.success.find(key, nowMs, seconds) : undefined
    const lastGood = before?.isAnswer === true ? before : before?.lastGood
    const entry = newEntry({ ...kept, storedMs: nowMs, isAnswer }, lastGood)
    this[half].put(key, entry)
    // A positive response replaces the negative one.
    if (half === 'success' && (isAnswer || !prefersPositive)) this.denial.remove(key)
    this.noteSizes()
  }

  /** Forgets all entries, and stores no more. */
  close(): void {
    this.success.close()
    this.denial.close()
  }

  private openStore(half: Half, memory: CacheMemory): EntryStore {
    const { [half]: bounds, bytesMax } = this.options
    const { entriesMax } = bounds
    return new EntryStore({
      entriesMax,
      bytesMax: bytesMax ?? BYTES_PER_ENTRY * entriesMax,
      memory: bytesMax === undefined ? memory : undefined,
      onEvicted: () => {
        this.metrics.evictions[half].value++
        this.noteSizes()
      },
    })
  }

  /** Publishes the sizes of both halves. */
  noteSizes(): void {
    this.metrics.entries.success.value = this.success.size
    this.metrics.entries.denial.value = this.denial.size
    this.metrics.bytes.success.value = this.success.bytes
    this.metrics.bytes.denial.value = this.denial.bytes
  }
}

/** A request, the key of its entry, and the rest of the chain. */
type Lookup = { readonly key: string; readonly request: Request; readonly next: Next }

/** Sets AD in a request, so that a later query with AD can use the entry (RFC 6840 §5.7). */
function authentic(request: Request): Request {
  const { flags } = request.query
  if ((flags & FLAG.AD) !== 0) return request
  return deriveRequest(request, { flags: (flags & (FLAG.RD | FLAG.CD)) | FLAG.AD })
}

/** Clears AD for a client that set neither AD nor DO (RFC 6840 §5.8). */
function toClient(reply: Reply, { query }: Request): Reply {
  const wants = query.wantsDnssec || (query.flags & FLAG.AD) !== 0
  return wants || !reply.authenticData ? reply : { ...reply, authenticData: false }
}

/** Sets all TTLs; leaves DO as the client has it, like CoreDNS, whose cache drops OPT records. */
function withTtl({ dnssecOk: _, ...reply }: Reply, ttlSeconds: number): Reply {
  const set = (record: ResourceRecord): ResourceRecord => ({ ...record, ttlSeconds })
  return {
    ...reply,
    answer: reply.answer.map(set),
    authority: reply.authority.map(set),
    additional: reply.additional.map(set),
  }
}
