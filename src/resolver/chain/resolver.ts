/**
 * The resolver: from the bytes of a query to the bytes of its reply.
 * @module
 */

import type { Problem } from '../../corefile/problem.ts'
import { EMPTY } from '../../dns/bytes/bytes.ts'
import { RCODE } from '../../dns/names/rcode.ts'
import { CLASS } from '../../dns/names/rr-class.ts'
import { isTransferType } from '../../dns/names/rr-type.ts'
import { metricInfo } from '../../dns/telemetry/metrics.ts'
import {
  type EdnsOption,
  EXTENDED_ERROR,
  extendedError,
  OPTION,
  parseOptions,
} from '../../dns/wire/edns.ts'
import { EMPTY_REPLY, type Reply, writeReply } from '../../dns/wire/message.ts'
import { FLAG, parseQuery, Query } from '../../dns/wire/query.ts'
import { rcodeReply, refusalReply } from '../../dns/wire/refusal.ts'
import { ReplyWriter } from '../../dns/wire/reply-writer.ts'
import { type QueryFields, writeQuery } from '../../dns/wire/write-query.ts'
import type { Client } from '../contract/client.ts'
import type { Host } from '../contract/host.ts'
import { andThen, type MaybePromise } from '../contract/maybe-promise.ts'
import { signed } from '../contract/message-signer.ts'
import type { Observation } from '../contract/observation.ts'
import { failure, type Outcome } from '../contract/outcome.ts'
import type { Plugin } from '../contract/plugin.ts'
import type { Request, Trace } from '../contract/request.ts'
import { sendTransfer } from '../contract/zone-transfer.ts'
import type { Chain } from './chain.ts'
import { DroppedCounts } from './dropped-counts.ts'
import type { FastPath } from './fast-path.ts'
import type { AnswerResult, Incoming } from './incoming.ts'
import { findChain, type Listener } from './listener.ts'
import { answerNotify } from './notify.ts'
import { preparePlugins } from './prepare-plugins.ts'
import { Readiness } from './readiness.ts'
import { advertisedTo, bytesFor, paddingBlock, udpBytesFor } from './reply-bounds.ts'

/**
 * Options that a response to an NSID request (RFC 5001) repeats if no plugin adds options, as
 * CoreDNS does. An empty identifier means that the server has none.
 */
const MIRRORED: ReadonlySet<number> = new Set([OPTION.NSID, OPTION.COOKIE])
/** The reason for refusing a query without a server block. */
const NO_BLOCK = extendedError(EXTENDED_ERROR.NOT_AUTHORITATIVE)
const { IN } = CLASS
const PANICS = metricInfo('coredns_panics_total', 'A metrics that counts the number of panics.')
/**
 * Queries that plugins have not answered yet, per process or `--workers` thread: twice as many as
 * may wait for upstreams, so that a silent upstream leaves room for the others.
 */
const DEFERRED_MAX = 8192
const REJECTS = metricInfo(
  'kubedoh_deferred_rejects_total',
  'Queries refused because too many others waited for plugins.',
)
/** The reason for refusing such a query; CoreDNS refuses queries over `max_concurrent`. */
const OVERLOADED = extendedError(EXTENDED_ERROR.OTHER, 'too many queries under way')
/** Look-ups within look-ups. */
const DEPTH_MAX = 10
/** Look-ups of one query in all: names can have many CNAMEs, and these again. */
const LOOKUPS_MAX = 256

/** The look-ups that a query may still cause, at any depth. */
type LookupBudget = { left: number }

type RequestOrigin = {
  readonly client: Client
  readonly listener: Listener
  /** Of nested look-ups. */
  readonly depth: number
  /** The rest of `LOOKUPS_MAX`; all of them when absent. */
  readonly budget?: LookupBudget | undefined
  /** The spans of the request's trace. */
  readonly spans?: Trace['spans']
  /** When the client's query arrived; now if absent. */
  readonly sinceMs?: number | undefined
}

/** A look-up on behalf of a request. */
type Lookup = Omit<RequestOrigin, 'client' | 'listener'> & {
  readonly name: Uint8Array
  readonly type: number
  /** The query that causes the look-up, which copies its flags and EDNS. */
  readonly query?: Query
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** Answers queries for some listeners. */
export class Resolver {
  readonly listeners: readonly Listener[]
  private readonly chains: readonly Chain[]
  private readonly host: Host
  private readonly dropped: DroppedCounts
  private readonly readiness: Readiness
  private readonly panics: { value: number }
  private readonly rejects: { value: number }
  private deferred = 0
  private readonly writer = new ReplyWriter()
  private readonly observation: Writable<Observation>

  constructor(listeners: readonly Listener[], chains: readonly Chain[], host: Host) {
    this.listeners = listeners
    this.chains = chains
    this.host = host
    this.dropped = new DroppedCounts(listeners, chains, host)
    this.readiness = new Readiness(chains)
    this.panics = host.metrics.counter(PANICS)
    this.rejects = host.metrics.counter(REJECTS)
    const client: Client = { address: '', port: 0, transport: 'udp' }
    const seen = { reply: EMPTY, replyBytes: 0, plugin: '', durationMs: 0 }
    this.observation = { query: new Query(), client, ...seen }
  }

  /**
   * Answers a message, at once in the writer where that is possible. Never throws, never rejects.
   */
  answer(listener: Listener, incoming: Incoming, writer: ReplyWriter): AnswerResult {
    const size = this.answerOnFastPath(listener, incoming, writer)
    return size > 0 ? size : this.answerOnSlowPath(listener, incoming)
  }

  /**
   * Answers a message on the fast path, without allocations.
   * @returns size of the response in the writer; 0 when the message must take the slow path
   */
  answerOnFastPath(listener: Listener, incoming: Incoming, writer: ReplyWriter): number {
    const { parsed, client } = incoming
    if (parsed.kind === 'refusal' || parsed.class !== IN || isTransferType(parsed.type)) return 0
    const chain = findChain(listener, parsed, client)
    const fastPath = chain?.fastPath
    if (chain === undefined || fastPath === undefined) return 0
    const { observers } = chain
    if (observers.length === 0) return this.tryFastPath(fastPath, incoming, writer)
    const startMs = this.host.elapsed()
    const size = this.tryFastPath(fastPath, incoming, writer)
    if (size === 0) return 0
    const { observation } = this
    observation.query = parsed
    observation.client = client
    observation.reply = writer.bytes
    observation.replyBytes = size
    observation.durationMs = this.host.elapsed() - startMs
    observation.plugin = fastPath.plugin
    this.observe(observers, observation)
    return size
  }

  /** Answers a message with a request that every plugin may read and change. */
  answerOnSlowPath(listener: Listener, incoming: Incoming): MaybePromise<Uint8Array | undefined> {
    return this.answerTraced(listener, incoming, undefined)
  }

  /** As `answerOnSlowPath`; records the request's path in `spans`, if any. */
  answerTraced(
    listener: Listener,
    incoming: Incoming,
    spans: Trace['spans'],
  ): MaybePromise<Uint8Array | undefined> {
    const { parsed, client } = incoming
    const isOtherClass = incoming.query.class !== IN && !listener.takesAnyClass
    if (parsed.kind === 'refusal') {
      const notice = answerNotify(listener, incoming.query.bytes, client)
      if (notice !== undefined) return notice.reply
      // CoreDNS looks at the class before the EDNS version.
      const isRefused = isOtherClass && parsed.rcode === RCODE.BADVERS
      return isRefused ? this.refuse(listener, incoming, []) : refusalReply(incoming.query, parsed)
    }
    if (isOtherClass) return this.refuse(listener, incoming, [])
    // A response over HTTPS or gRPC is one message (RFC 8484 §4.2), a transfer any number (RFC 5936
    // §2.2). A gateway transfers no zone over TLS either: `sendAhead` is absent there.
    const { transport, sendAhead } = client
    const isEncrypted = transport === 'https' || transport === 'grpc' || transport === 'tls'
    if (isEncrypted && sendAhead === undefined && isTransferType(parsed.type)) {
      return this.refuse(listener, incoming, [])
    }
    const chain = findChain(listener, parsed, client)
    if (chain === undefined) {
      return this.refuse(listener, incoming, explainsRefusals(listener) ? [NO_BLOCK] : [])
    }
    if (this.deferred >= DEFERRED_MAX) {
      this.rejects.value++
      return this.refuse(listener, incoming, explainsRefusals(listener) ? [OVERLOADED] : [])
    }
    const sinceMs = this.host.awake() - incoming.waitedMs
    const from = { client, listener, depth: 0, spans, sinceMs }
    return this.answerBy(chain, this.request(incoming.takeQuery(), from))
  }

  /** The features of all chains. */
  get features(): Chain['features'] {
    return this.chains.flatMap(({ features }) => features)
  }

  /** The warnings of all chains for the operator. */
  get notices(): readonly Problem[] {
    return this.chains.flatMap(({ notices }) => notices)
  }

  /**
   * Makes plugins read their sources, one after the other. Call it before the first query.
   * @throws {ConfigError} with every mistake in the sources
   */
  prepare(): Promise<void> {
    return preparePlugins(this.plugins)
  }

  /** Starts the background work of plugins. */
  start(): void {
    for (const { start } of this.plugins) start?.()
  }

  /** Ends the background work of plugins. Resolves when all of it has ended. */
  async stop(): Promise<void> {
    await Promise.all(this.plugins.map(({ stop }) => stop?.()))
  }

  /** Returns the plugins that cannot answer yet, of blocks with `ready`. */
  notReady(): string[] {
    return this.readiness.waiting()
  }

  /** Resolves a name on behalf of a client. */
  lookup(
    listener: Listener,
    client: Client,
    { name, type, query: from, ...origin }: Lookup,
  ): MaybePromise<Outcome> {
    const { depth, budget } = origin
    if (depth > DEPTH_MAX) return failure(RCODE.SERVFAIL, 'too many nested look-ups')
    if (budget?.left === 0) return failure(RCODE.SERVFAIL, 'too many look-ups')
    if (budget !== undefined) budget.left--
    const query = parseQuery(writeQuery({ name, type, ...(from && ofClient(from)) }))
    const chain = query.kind === 'query' ? findChain(listener, query, client) : undefined
    if (query.kind === 'refusal' || chain === undefined) return failure(RCODE.REFUSED)
    const request = this.request(query, { client, listener, ...origin })
    return chain.serve({ ...request, isLookup: true })
  }

  private get plugins(): readonly Plugin[] {
    return this.chains.flatMap(({ plugins }) => plugins)
  }

  private request(query: Query, origin: RequestOrigin): Request {
    const { client, listener, depth, budget = { left: LOOKUPS_MAX }, spans } = origin
    const { sinceMs = this.host.awake() } = origin
    const end = query.questionEnd - 4
    const trace: Trace = spans === undefined ? { plugin: '' } : { plugin: '', spans }
    return {
      query,
      name: query.bytes.subarray(end - query.nameBytes, end),
      lowerName: query.name.subarray(0, query.nameBytes),
      type: query.type,
      class: query.class,
      client,
      sinceMs,
      limits: { udpBytes: udpBytesFor(query), advertisedBytes: advertisedTo(query) },
      trace,
      lookup: (name, type) => {
        const from = { depth: depth + 1, budget, query, sinceMs, spans: trace.spans }
        return this.lookup(listener, client, { name, type, ...from })
      },
    }
  }

  private answerBy(chain: Chain, request: Request): MaybePromise<Uint8Array | undefined> {
    const startMs = this.host.elapsed()
    let outcome: MaybePromise<Outcome>
    try {
      outcome = chain.serve(request)
    } catch (error) {
      outcome = this.panic(error)
    }
    const settled = outcome instanceof Promise ? this.defer(outcome) : outcome
    const replied = andThen(settled, (result) => this.write(request, result))
    return andThen(replied, (reply) => {
      const durationMs = this.host.elapsed() - startMs
      const { query, client, trace } = request
      const seen = { query, client, trace, plugin: trace.plugin, durationMs }
      const { observers } = chain
      this.observe(observers, { ...seen, reply: reply ?? EMPTY, replyBytes: reply?.length ?? 0 })
      return reply
    })
  }

  /** Counts a deferred outcome until it settles. Never rejects. */
  private async defer(outcome: Promise<Outcome>): Promise<Outcome> {
    // On Workers it may never settle (`isolatesRequests`), and the platform bounds requests itself.
    const counted = this.host.isolatesRequests ? 0 : 1
    this.deferred += counted
    try {
      return await outcome
    } catch (error) {
      return this.panic(error)
    } finally {
      this.deferred -= counted
    }
  }

  /** Refuses a query for which there is no server block. */
  private refuse(
    listener: Listener,
    { query, client }: Incoming,
    options: readonly EdnsOption[],
  ): Uint8Array {
    const reply = rcodeReply(
      query,
      RCODE.REFUSED,
      [...mirrored(query), ...options],
      paddingBlock(client),
    )
    this.dropped.count(listener, { query, client, reply })
    return reply
  }

  /** After an exception, the query takes the slow path, which answers SERVFAIL. */
  private tryFastPath(
    fastPath: FastPath,
    { query, client }: Incoming,
    writer: ReplyWriter,
  ): number {
    try {
      return fastPath.answer(query, client, writer)
    } catch (error) {
      this.panic(error)
      return 0
    }
  }

  /** An exception in an observer does not keep the client from its response. */
  private observe(observers: Chain['observers'], observation: Observation): void {
    try {
      for (let i = 0; i < observers.length; i++) observers[i]?.(observation)
    } catch (error) {
      this.panic(error)
    }
  }

  /** Logs an exception of a plugin; the client gets SERVFAIL. */
  private panic(error: unknown): Outcome {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    this.host.log({ level: 'error', message: 'a plugin failed', error: text })
    this.panics.value++
    return failure(RCODE.SERVFAIL)
  }

  private write(request: Request, outcome: Outcome): MaybePromise<Uint8Array | undefined> {
    if (outcome.kind === 'drop') return undefined
    const { query, client, limits } = request
    if (outcome.kind === 'transfer') {
      const { records } = outcome
      const transfer = { records, client, signer: limits.signer, turns: this.host }
      return sendTransfer(query, transfer).catch((error: unknown) => {
        this.panic(error)
        return undefined
      })
    }
    const isUdp = client.transport === 'udp'
    const { rcode, options, recursionDesired } = outcome
    const bare = { ...EMPTY_REPLY, rcode, options, recursionDesired }
    const base: Reply = outcome.kind === 'reply' ? outcome : bare
    const hasOpt = base.origin === 'upstream' || options.length > 0 || base.dnssecOk === true
    const reply = query.wantsNsid && !hasOpt ? { ...base, options: mirrored(request.query) } : base
    const { signer } = limits
    const bytesMax = (isUdp ? limits.udpBytes : bytesFor(query, client)) - (signer?.bytes ?? 0)
    const bounds = { bytesMax, udpBytes: limits.advertisedBytes }
    const size = writeReply(this.writer, query, reply, bounds, paddingBlock(client))
    return signed(this.writer.bytes.slice(0, size), signer)
  }
}

/** Returns the fields that a look-up copies from its query (CoreDNS, plugin/pkg/upstream). */
function ofClient(query: Query): Omit<QueryFields, 'name' | 'type'> {
  const { id, hasEdns, udpBytes, wantsDnssec, bytes, optionsStart, optionsBytes } = query
  return {
    id,
    flags: query.flags & (FLAG.RD | FLAG.AD | FLAG.CD),
    ...(hasEdns && {
      udpBytes,
      wantsDnssec,
      options: parseOptions(bytes, optionsStart, optionsBytes),
    }),
  }
}

/** CoreDNS never gives a reason; kubedoh does if a block logs errors. */
function explainsRefusals({ zones }: Listener): boolean {
  return zones.some(({ chain }) => chain.explainsRefusals)
}

function mirrored({ bytes, optionsStart, optionsBytes }: Query): EdnsOption[] {
  const options = parseOptions(bytes, optionsStart, optionsBytes)
  return options.filter(({ code }) => MIRRORED.has(code))
}
