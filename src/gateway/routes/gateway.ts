/**
 * A gateway apart from its routes: admits clients, and answers their messages from the snapshots of
 * its clusters.
 * @module
 */
import type { Context } from 'hono'
import { ConfigError, formatProblem, type Problem } from '../../corefile/problem.ts'
import { equalNames } from '../../dns/names/name.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import type { Tracer } from '../../dns/telemetry/tracer.ts'
import type { Query, Refusal } from '../../dns/wire/query.ts'
import { ReplyWriter } from '../../dns/wire/reply-writer.ts'
import { writeQuery } from '../../dns/wire/write-query.ts'
import type { Chain } from '../../resolver/chain/chain.ts'
import { type Explanation, explainMessage, UNEXPLAINED } from '../../resolver/chain/explain.ts'
import { Incoming, ownResponse } from '../../resolver/chain/incoming.ts'
import { findChain } from '../../resolver/chain/listener.ts'
import type { Resolver } from '../../resolver/chain/resolver.ts'
import type { Client, ClientVisibility } from '../../resolver/contract/client.ts'
import type { Reason } from '../../resolver/contract/fact.ts'
import { andThen, type MaybePromise } from '../../resolver/contract/maybe-promise.ts'
import type { PluginHost } from '../../resolver/contract/plugin-entry.ts'
import { Admission, type AdmissionRuntime } from '../access/admission.ts'
import type { AuditRuntime } from '../access/audit.ts'
import type { CallerClusters } from '../access/caller.ts'
import { AgeHeaders } from '../access/cors.ts'
import { type DirectoryRuntime, KnownClusters } from '../access/known-clusters.ts'
import type { RandomBytes } from '../access/token.ts'
import type { TokenStore } from '../access/token-store.ts'
import { compileGatewayCorefile, gatewayWarnings } from '../config/compile-corefile.ts'
import { type GatewayConfig, GatewayConfigError } from '../config/config.ts'
import { variesByClient } from '../config/gateway-plugins.ts'
import { hidingTokens } from '../config/hidden-tokens.ts'
import { behindProxies } from '../doh/behind-proxies.ts'
import { replyBytesMax } from '../doh/negotiate.ts'
import { ForwardedHead, type TrustedProxies } from '../doh/trusted-proxies.ts'
import {
  ClusterZones,
  type ClusterZonesRuntime,
  formatGatewayMetrics,
} from '../snapshots/cluster-zones.ts'
import { type Arrival, answerLocally, type Reach } from '../snapshots/local-names.ts'
import type { Primary } from '../snapshots/primary.ts'
import type { ClusterWriter } from '../snapshots/publish-routes.ts'
import { type KeepAlive, keepFollowing } from '../timing/follower.ts'
import { HeldClock } from '../timing/held-clock.ts'
import { type AnswerObserver, reportAnswer } from './answer-observer.ts'

/** What a gateway needs of its runtime. */
export type GatewayRuntime = AdmissionRuntime &
  AuditRuntime &
  ClusterZonesRuntime & {
    readonly host: Omit<PluginHost, 'openCluster' | 'openClusters'>
    /** Returns the single writer of a cluster's snapshots. */
    readonly writerOf: (cluster: string, c: Context) => ClusterWriter
    readonly tokenStore: TokenStore
    readonly directory?: DirectoryRuntime
    /** Takes over a changed CLUSTERS; left out where each gateway has clusters of its own. */
    readonly configure?: (clusters: GatewayConfig['clusters']) => void
    readonly randomBytes: RandomBytes
    /** The gateway that this one follows, if it is a replica. */
    readonly primary?: Primary
    /** Whether clients reach the gateway over TLS without a proxy; they do not when left out. */
    readonly hasTls?: boolean
    /** Whether the platform serves the gateway over HTTP/3, too; it does not when left out. */
    readonly hasHttp3?: boolean
    /** The port of its DNS over TLS; it has none when left out. */
    readonly dotPort?: number | undefined
    /** Whether the visibility of some caller without a token depends on labels of namespaces. */
    readonly usesLabels?: boolean
    /** Begins the spans of what exporters publish; there are none when left out. */
    readonly tracer?: Pick<Tracer, 'begin' | 'stop'>
    /** Gets a report of each answered message. */
    readonly observer?: AnswerObserver
  }

/** The reason of responses that the gateway writes whatever the Corefile says. */
const LOCAL: Reason = {
  code: 'local',
  text: 'the gateway answers this name itself, as RFC 9462 and browsers want',
  missing: null,
  didYouMean: [],
}
const NO_HEADERS: Readonly<Record<string, string>> = {}

type GatewayParts = {
  readonly runtime: GatewayRuntime
  readonly clock: HeldClock
  readonly admission: Admission
  readonly zones: ClusterZones
  readonly clusters: KnownClusters
  readonly resolver: Resolver
  readonly warnings: readonly Problem[]
  readonly reach: Reach
  readonly isPrivate: boolean
  readonly arrivalOf: (c: Context) => Arrival
}

/** A gateway. */
export class Gateway {
  readonly admission: Admission
  readonly zones: ClusterZones
  /** The clusters that may publish. */
  readonly clusters: KnownClusters
  /**
   * Whether each response is for its client only (RFC 9111 §5.2.2.7): clients have tokens, or some
   * responses depend on the client's address.
   */
  readonly isPrivate: boolean
  private readonly runtime: GatewayRuntime
  private readonly reach: Reach
  private readonly arrivalOf: (c: Context) => Arrival
  private readonly resolver: Resolver
  private readonly warnings: readonly Problem[]
  private readonly clock: HeldClock
  private readonly incoming = new Incoming()
  private readonly writer = new ReplyWriter()
  private readonly ages = new AgeHeaders()
  private readonly headers = new WeakMap<Request, Readonly<Record<string, string>>>()

  /** Compiles a gateway's Corefile. @throws {GatewayConfigError} when it cannot be compiled */
  static async open(config: GatewayConfig, given: GatewayRuntime): Promise<Gateway> {
    const { proxies } = config
    const runtime = behindProxies(given, proxies)
    const clock = new HeldClock(runtime.host)
    const tokenIssuerOf: CallerClusters['tokenIssuerOf'] = (cluster) => zones.tokenIssuerOf(cluster)
    const admission = new Admission(config, { ...runtime, tokenIssuerOf }, clock)
    const needsFacts = (): boolean => runtime.usesLabels === true || admission.usesFacts
    const { directory } = runtime
    const clusters = directory?.clusters ?? new KnownClusters(config.clusters)
    const load = (): Promise<boolean> | undefined =>
      clusters.isLoaded || directory === undefined ? undefined : admission.load()
    const zones: ClusterZones = new ClusterZones(config, runtime, {
      clock,
      needsFacts,
      clusters,
      load,
    })
    const host: PluginHost = {
      ...runtime.host,
      ...hidingTokens(runtime.host, config.tokenDomain),
      openCluster: (options, tree) => zones.open(options, tree),
      openClusters: (opener) => zones.openAny(opener),
    }
    const resolver = await compile(config, host)
    const warnings = [...resolver.notices, ...gatewayWarnings(config.blocks, host)]
    const { hasTls = false, hasHttp3 = false, dotPort } = runtime
    const { access, tokenDomain } = config
    const reach = { isPublic: access.isPublic, hasTls, hasHttp3, tokenDomain, dotPort }
    const isPrivate = !access.isPublic || variesByClient(config.blocks, host.plugins)
    const parts = { runtime, clock, admission, zones, clusters, resolver, warnings }
    const arrival = (c: Context): Arrival =>
      arrivalOf(c, proxies && { proxies, address: given.clientOf(c).address })
    return new Gateway({ ...parts, reach, isPrivate, arrivalOf: arrival })
  }

  private constructor(parts: GatewayParts) {
    this.runtime = parts.runtime
    this.clock = parts.clock
    this.admission = parts.admission
    this.zones = parts.zones
    this.clusters = parts.clusters
    this.resolver = parts.resolver
    this.warnings = parts.warnings
    this.reach = parts.reach
    this.arrivalOf = parts.arrivalOf
    this.isPrivate = parts.isPrivate
  }

  /** Starts the background work of plugins; not in Workers, which have none between requests. */
  start(): void {
    this.resolver.start()
  }

  /** Ends the background work of plugins. Resolves when all of it has ended. */
  stop(): Promise<void> {
    this.zones.stop()
    return this.resolver.stop()
  }

  /** Answers a message of a client that was admitted; `undefined` for no response. */
  answer(message: Uint8Array, c: Context): MaybePromise<Uint8Array | undefined> {
    const bytesMax = replyBytesMax(c.req.method, c.req.header('accept'))
    const client = { ...this.admission.clientOf(c), ...(bytesMax && { bytesMax }) }
    const incoming = this.read(message, client)
    // The slow path takes the query over, so that it does not change until there is a response.
    const { parsed } = incoming
    const arrival = { ...this.arrivalOf(c), caller: this.admission.callerOf(c) }
    return andThen(this.answerFor(incoming, this.keeping(c), arrival), (reply) => {
      this.headers.set(c.req.raw, this.ageHeaders(parsed, client.visibility))
      return reply
    })
  }

  /** Returns the headers that belong to what {@link answer} answered a request. */
  headersOf(c: Context): Readonly<Record<string, string>> {
    return this.headers.get(c.req.raw) ?? NO_HEADERS
  }

  /** Returns the header with the age of the names that a query is for, if the client sees any. */
  ageHeaders(
    query: Query | Refusal,
    visibility: ClientVisibility | undefined,
  ): Readonly<Record<string, string>> {
    const ageMs = this.zones.ageMs(query, visibility)
    return ageMs === undefined ? NO_HEADERS : this.ages.of(ageMs)
  }

  /** Parses a message, which nobody may write to from now on; valid until the next call. */
  read(message: Uint8Array, client: Client): Incoming {
    return this.incoming.read(message, client)
  }

  /**
   * Answers a parsed message. The response is in memory of its own: HTTP servers hold on to it,
   * and so does workerd's `Response`, which does not copy it.
   */
  answerFor(
    incoming: Incoming,
    keepAlive: KeepAlive,
    arrival: Arrival,
  ): MaybePromise<Uint8Array | undefined> {
    const { observer, host } = this.runtime
    if (observer === undefined) return this.resolve(incoming, keepAlive, arrival)
    const startMs = host.elapsed()
    const { parsed: query } = incoming
    return andThen(this.resolve(incoming, keepAlive, arrival), (reply) => {
      if (reply === undefined) return reply
      try {
        const ms = host.elapsed() - startMs
        reportAnswer(observer, this.zones, { query, reply, arrival, ms })
      } catch (error) {
        host.log({ level: 'error', message: 'cannot count an answer', error: String(error) })
      }
      return reply
    })
  }

  /** Answers a message and explains the answer; `undefined` when there are no server blocks. */
  async explain(message: Uint8Array, client: Client, c: Context): Promise<Explanation | undefined> {
    const incoming = this.read(message, client)
    const reply = answerLocally(incoming.parsed, this.arrivalOf(c), this.reach)
    if (reply !== undefined) return { ...UNEXPLAINED, reply, reason: LOCAL }
    this.zones.followFor(incoming.parsed, this.keeping(c))
    return explainMessage(this.resolver, message, client)
  }

  /**
   * Returns a function that tests whether a client's queries for a name reach the snapshots behind
   * a zone: the same server block takes them, and none of its `acl` directives blocks them. Of
   * several blocks with one zone, each may read other snapshots: then the block must find the name.
   */
  reachFrom(
    zone: Uint8Array,
    client: Client,
    c: Context,
  ): (name: Uint8Array) => MaybePromise<boolean> {
    const [listener] = this.resolver.listeners
    const find = (message: Uint8Array): Chain | undefined => {
      const { parsed } = this.read(message, client)
      return listener && parsed.kind === 'query' ? findChain(listener, parsed, client) : undefined
    }
    const own = find(probe(zone))
    const mayBlock = own?.plugins.some(({ name }) => name === 'acl') === true
    const isShared = listener?.zones.some(
      (one) =>
        one.chain === own &&
        listener.zones.some(({ zone, chain }) => chain !== own && equalNames(zone, one.zone)),
    )
    return (name) => {
      const message = probe(name)
      if (own === undefined || find(message) !== own) return false
      if (!mayBlock && isShared !== true) return true
      const isApex = equalNames(name, zone)
      return this.explain(message, client, c).then(
        (found) => found?.facts.some(({ node }) => isApex || node != null) === true,
      )
    }
  }

  /** Looks at each cluster; returns whether all origins have answered. Never rejects. */
  async hasLooked(): Promise<boolean> {
    const looks = [...this.zones.followers.values()].map((one) => one.hasAnswered())
    return !(await Promise.all(looks)).includes(false)
  }

  /** Returns warnings about the Corefile, one line each. */
  get notices(): readonly string[] {
    return this.warnings.map(formatProblem)
  }

  /**
   * Returns all metrics in the text format of Prometheus, as texts of few series each. Reads the
   * manifests again first, so that the ages are not those of the last query.
   */
  async metrics(): Promise<Generator<string>> {
    await this.zones.refresh()
    return formatGatewayMetrics(this.runtime.host, this.zones.readers)
  }

  private resolve(
    incoming: Incoming,
    keepAlive: KeepAlive,
    arrival: Arrival,
  ): MaybePromise<Uint8Array | undefined> {
    const local = answerLocally(incoming.parsed, arrival, this.reach)
    if (local !== undefined) return local
    const [listener] = this.resolver.listeners
    if (listener === undefined) return undefined
    this.zones.count(incoming.parsed)
    return this.clock.during(() => {
      const usesLists = incoming.client.visibility !== undefined || this.followsDirectory
      if (usesLists) keepFollowing(this.admission, keepAlive)
      this.zones.followFor(incoming.parsed, keepAlive)
      return ownResponse(this.resolver.answer(listener, incoming, this.writer), this.writer)
    })
  }

  /** Whether answers depend on the directory, also those to clients without a token. */
  private get followsDirectory(): boolean {
    return this.zones.hasAny && this.runtime.directory !== undefined
  }

  /** Follows the clusters of a query's closest zone. */
  follow(message: Uint8Array, c: Context): void {
    const { parsed } = this.read(message, this.runtime.clientOf(c))
    this.zones.followFor(parsed, this.keeping(c))
  }

  /** Keeps a promise alive beyond the response to a request. */
  keepAlive(c: Context, promise: Promise<void>): void {
    this.runtime.keepAlive(c, promise)
  }

  private keeping(c: Context): KeepAlive {
    return (promise) => this.runtime.keepAlive(c, promise)
  }
}

function arrivalOf(
  { req }: Context,
  peer: { readonly proxies: TrustedProxies; readonly address: string } | undefined,
): Arrival {
  const { method, path, raw: request } = req
  // Requests of HTTP/2 have no Host header.
  const header = (name: string): string | undefined =>
    name === 'host' ? new URL(req.url).host : req.header(name)
  const own = { method, path, header, request }
  const head = peer ? new ForwardedHead({ ...own, address: peer.address }, peer.proxies) : own
  return { method: path.endsWith('/resolve') ? 'JSON' : method, head }
}

function probe(name: Uint8Array): Uint8Array {
  return writeQuery({ name, type: TYPE.A })
}

async function compile({ blocks }: GatewayConfig, host: PluginHost): Promise<Resolver> {
  try {
    return await compileGatewayCorefile(blocks, host)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new GatewayConfigError(error.problems.map(formatProblem).join('; '), { cause: error })
  }
}
