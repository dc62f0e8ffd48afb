/**
 * What a gateway does, apart from its routes: it answers messages from the snapshots of its
 * clusters, knows who asks, and tells how it is.
 * @module
 */
import type { Context } from 'hono'
import { asWordBytes, type SizedBytes } from '../bytes/bytes.ts'
import { errorText } from '../bytes/unknown.ts'
import { type Explanation, explain } from '../chain/explain.ts'
import type { Host, SnapshotSource } from '../chain/host.ts'
import { Incoming, ownResponse } from '../chain/incoming.ts'
import type { Client, MaybePromise, View } from '../chain/plugin.ts'
import type { Resolver } from '../chain/resolver.ts'
import { CLUSTER_TREE, type ClusterTree } from '../corefile/cluster-tree.ts'
import type { KubernetesOptions } from '../corefile/kubernetes-options.ts'
import { ConfigError, configError, formatProblem } from '../corefile/problem.ts'
import { equalNames, isSubdomain } from '../dns/name.ts'
import { endsIn, parseQuery, type Query, type Refusal } from '../dns/query.ts'
import { ReplyWriter } from '../dns/reply-writer.ts'
import { HttpError } from '../doh/http-error.ts'
import { replyBytesMax } from '../doh/negotiate.ts'
import { type Caller, findCaller, headerToken } from './access.ts'
import { AccessAssertions, ASSERTION_HEADER } from './access-assertions.ts'
import { AgeHeaders } from './age-headers.ts'
import { ClusterReader } from './cluster-reader.ts'
import { compileGatewayCorefile, publishedCluster } from './compile-corefile.ts'
import { type GatewayConfig, GatewayConfigError } from './config.ts'
import { formatGatewayMetrics } from './gateway-metrics.ts'
import { HeldClock } from './held-clock.ts'
import { type Carriers, findKnownSender } from './known-sender.ts'
import { answerLocally } from './local-names.ts'
import { MergedClusters } from './merged-clusters.ts'
import type { ClusterWriter } from './publish-routes.ts'
import { addressKey, RateBuckets, type RateLimiter, tooMany } from './rate-limiter.ts'
import { RemoteClient } from './remote-client.ts'
import { ShardMemory } from './shard-memory.ts'
import { SnapshotLoader, type SnapshotOrigin } from './snapshot-loader.ts'
import { hasHash, type RandomBytes } from './token.ts'
import { TokenBook } from './token-book.ts'
import type { TokenStore } from './token-store.ts'

/** What a gateway needs of its runtime. */
export type GatewayRuntime = {
  readonly host: Omit<Host, 'openCluster'>
  /** Where the snapshots of a cluster are read. */
  readonly originOf: (cluster: string) => SnapshotOrigin
  /** Who writes the snapshots of a cluster. */
  readonly writerOf: (cluster: string, c: Context) => ClusterWriter
  /** Where the tokens of clients are. */
  readonly tokenStore: TokenStore
  readonly randomBytes: RandomBytes
  /** Reads a page of the web. */
  readonly fetch: (url: string) => Promise<Response>
  /** Who sent a request. */
  readonly clientOf: (c: Context) => Client
  /** Identities of the sender that the runtime has checked: `cert:…`. */
  readonly identitiesOf: (c: Context) => readonly string[]
  /** Counts requests, where the platform does; else they are counted in memory. */
  readonly limiter?: RateLimiter
  /** Keeps a promise alive beyond the response. */
  readonly keepAlive: (c: Context, promise: Promise<void>) => void
}

const NO_HEADERS: Readonly<Record<string, string>> = {}
const RETRY_SECONDS = '5'

/** Who was let in; whether they ask too often may take a moment to find out. */
export type Admitted = {
  readonly client: Client
  readonly isWithinRate: MaybePromise<boolean>
}

/** A zone, and whose names are in it: of one cluster, or of several together. */
export type ServedZone = {
  readonly zone: SizedBytes
  readonly parts: { readonly cluster: string; readonly reader: ClusterReader }[]
}

/** Keeps a promise alive beyond the response. */
export type KeepAlive = (promise: Promise<void>) => void

/** A gateway. */
export class Gateway {
  private readonly config: GatewayConfig
  private readonly runtime: GatewayRuntime
  private readonly readers = new Map<string, ClusterReader>()
  private readonly loaders = new Map<string, SnapshotLoader>()
  private readonly opened: ServedZone[] = []
  /** The zones that clusters have together. */
  readonly merged: MergedClusters = new MergedClusters()
  private readonly memory = new ShardMemory()
  private readonly resolver: Resolver
  private readonly book: TokenBook
  private readonly limiter: RateLimiter
  private readonly assertions: AccessAssertions | undefined
  private readonly zones: readonly ServedZone[]
  private readonly incoming = new Incoming()
  private readonly writer = new ReplyWriter()
  private readonly ages = new AgeHeaders()
  private readonly clock: HeldClock
  private readonly callers = new WeakMap<Request, Caller>()

  /** @throws {GatewayConfigError} when the Corefile asks for what there is not */
  constructor(config: GatewayConfig, runtime: GatewayRuntime) {
    this.config = config
    this.runtime = runtime
    const { host, tokenStore } = runtime
    this.clock = new HeldClock(host)
    this.resolver = this.compile()
    const perMinute = config.requestsPerMinute
    this.limiter = runtime.limiter ?? new RateBuckets({ perMinute, elapsed: this.clock.elapsed })
    const { application } = config
    const { after } = host
    const { clock } = this
    this.assertions =
      application && new AccessAssertions({ ...application, fetch: runtime.fetch, after, clock })
    this.zones = this.opened.sort((a, b) => b.zone.bytes.length - a.zone.bytes.length)
    this.book = new TokenBook({
      store: tokenStore,
      after,
      clock,
      onError: (error) => {
        host.log({ level: 'error', message: 'cannot read the tokens', error })
      },
    })
  }

  /** Finds out who sends a request, once. @throws {HttpError} 401 */
  async admit(c: Context, pathToken: string | undefined): Promise<void> {
    const { access } = this.config
    const identities = (): Promise<readonly string[]> => this.identitiesOf(c)
    const caller = await findCaller(access, this.book, c.req.raw, { pathToken, identities })
    this.callers.set(c.req.raw, caller)
    const { tokenId } = caller
    await this.count(tokenId === undefined ? addressKey(this.runtime.clientOf(c)) : tokenId)
  }

  /** Admits a sender that is already known; `undefined` when `admit` has to look it up. */
  admitAtOnce(
    carriers: Carriers,
    {
      pathToken,
      bytesMax,
    }: { readonly pathToken: string | undefined; readonly bytesMax: number | undefined },
  ): Admitted | undefined {
    const { access, requestsPerMinute } = this.config
    return this.clock.during(() => {
      const sent = { carriers, pathToken }
      const known = access.isPublic ? undefined : findKnownSender(this.book, this.assertions, sent)
      if (!access.isPublic && known === undefined) return undefined
      const client = new RemoteClient(carriers, known?.view, bytesMax)
      const key = known === undefined ? addressKey(client) : known.record.id
      const isWithinRate = requestsPerMinute === 0 || this.limiter.allow(key)
      return isWithinRate === false ? undefined : { client, isWithinRate }
    })
  }

  /** Counts a request of somebody. @throws {HttpError} 429 when there were too many */
  async count(key: string): Promise<void> {
    if (this.config.requestsPerMinute === 0 || (await this.limiter.allow(key))) return
    throw tooMany()
  }

  /** Counts a request that was refused. @throws {HttpError} 429 when too many were */
  async countRefused(c: Context): Promise<void> {
    await this.count(`refused ${addressKey(this.runtime.clientOf(c))}`)
  }

  /** Says how old the names are that a message is about, for who sees them. */
  headersOf(message: Uint8Array, c: Context): Readonly<Record<string, string>> {
    return this.ageHeaders(parseQuery(message), this.callers.get(c.req.raw)?.view)
  }

  /** As `headersOf`, for a query and a view. */
  ageHeaders(query: Query | Refusal, view: View | undefined): Readonly<Record<string, string>> {
    for (const { zone, parts } of this.zones) {
      if (query.kind === 'refusal' || !endsIn(query, zone)) continue
      let ageMs = -1
      for (const { cluster, reader } of parts) {
        const isSeen = view === undefined || view.seesOrigin(cluster, zone.bytes)
        if (isSeen) ageMs = Math.max(ageMs, reader.ageMs(view?.namespaces))
      }
      if (ageMs >= 0) return this.ages.of(ageMs)
    }
    return NO_HEADERS
  }

  /** Reads a message, which nobody may write to from now on; holds until the next is read. */
  read(message: Uint8Array, client: Client): Incoming {
    return this.incoming.read(message, client)
  }

  /** Finds the zone of the clusters that a query is about. */
  protected zoneOf(query: Query | Refusal): ServedZone | undefined {
    return query.kind === 'query' ? this.zones.find(({ zone }) => endsIn(query, zone)) : undefined
  }

  /** Answers a message of a sender that was let in. */
  answer(message: Uint8Array, c: Context): MaybePromise<Uint8Array | undefined> {
    const client = this.runtime.clientOf(c)
    const view = this.callers.get(c.req.raw)?.view
    const bytesMax = replyBytesMax(c.req.method, c.req.header('accept'))
    const viewing = { ...client, ...(view && { view }), ...(bytesMax && { bytesMax }) }
    const method = c.req.path.endsWith('/resolve') ? 'JSON' : c.req.method
    return this.answerFor(this.read(message, viewing), this.keeping(c), method)
  }

  /**
   * As `answer`, for a message that was read. The response is in memory of its own: HTTP servers
   * hold on to it, and so does workerd's `Response`, which does not copy it. The method is for
   * those who count ({@link ObservedGateway}).
   */
  answerFor(
    incoming: Incoming,
    keepAlive: KeepAlive,
    _method: string,
  ): MaybePromise<Uint8Array | undefined> {
    const local = answerLocally(incoming.parsed)
    if (local !== undefined) return local
    const [listener] = this.resolver.listeners
    if (listener === undefined) return undefined
    return this.clock.during(() => {
      if (incoming.client.view !== undefined) keepFresh(this.book, keepAlive)
      for (const reader of this.readers.values()) keepFresh(reader, keepAlive)
      return ownResponse(this.resolver.answer(listener, incoming, this.writer), this.writer)
    })
  }

  /**
   * Finds what the sender of a request sees, who may have answers explained: the operator all.
   * @throws {HttpError} 401, 403 for others
   */
  async explainView(c: Context): Promise<View | undefined> {
    const { adminSha256 } = this.config
    const token = headerToken(c.req.raw)
    const isAdmin = adminSha256 !== undefined && token !== undefined
    if (isAdmin && (await hasHash(token, adminSha256))) return undefined
    await this.admit(c, undefined)
    const caller = this.callers.get(c.req.raw)
    if (caller?.mayExplain === true) return caller.view
    throw new HttpError(403, 'forbidden', 'This needs a token that may explain')
  }

  /** Answers a message for a view, and tells how; `undefined` when there are no server blocks. */
  async explain(
    message: Uint8Array,
    view: View | undefined,
    c: Context,
  ): Promise<Explanation | undefined> {
    const client = this.runtime.clientOf(c)
    const incoming = this.read(message, view === undefined ? client : { ...client, view })
    const reply = answerLocally(incoming.parsed)
    if (reply !== undefined) return { reply, serverBlock: undefined, plugins: [], facts: [] }
    const [listener] = this.resolver.listeners
    if (listener === undefined) return undefined
    for (const reader of this.readers.values()) keepFresh(reader, this.keeping(c))
    return explain(this.resolver, listener, incoming)
  }

  /** The clusters without a snapshot that is not too old. */
  async notReady(): Promise<readonly string[]> {
    const waiting: string[] = []
    const together: string[] = []
    for (const [id, reader] of this.readers) {
      const isDue = reader.current() === undefined
      if (isDue) await reader.load()
      if (reader.freshness() !== 'expired') continue
      if (this.merged.has(reader)) together.push(id)
      else waiting.push(id)
    }
    // Of clusters that answer together, the others may go on.
    if (together.length === this.merged.size) waiting.push(...together)
    return waiting
  }

  /** What works in the Corefile but may surprise, a line each. */
  get notices(): readonly string[] {
    return this.resolver.notices.map(formatProblem)
  }

  /** All metrics, as Prometheus reads them. */
  metrics(): string {
    return formatGatewayMetrics(this.runtime.host.metrics, this.readers)
  }

  /** Operators' routes are for who operates or exports, and never for everybody (`PUBLIC`). */
  async checkOperator(c: Context): Promise<void> {
    const token = headerToken(c.req.raw)
    const { clusters, adminSha256, readOnlySha256, access } = this.config
    const hashes = [...clusters.values()].map(({ tokenSha256 }) => tokenSha256)
    for (const sha256 of [adminSha256, readOnlySha256, access.sha256, ...hashes]) {
      if (token !== undefined && sha256 !== undefined && (await hasHash(token, sha256))) return
    }
    throw new HttpError(401, 'unauthorized', "An operator's or exporter's token is needed", {
      'www-authenticate': 'Bearer realm="kubedoh"',
    })
  }

  private async identitiesOf(c: Context): Promise<readonly string[]> {
    const own = this.runtime.identitiesOf(c)
    const assertion = c.req.header(ASSERTION_HEADER)
    if (this.assertions === undefined || assertion === undefined) return own
    try {
      return [...own, ...(await this.assertions.identitiesOf(assertion))]
    } catch (error) {
      const message = 'cannot check who Cloudflare Access let in'
      this.runtime.host.log({ level: 'error', message, error: errorText(error) })
      throw new HttpError(503, 'access_unavailable', 'Access cannot be checked at the moment', {
        'retry-after': RETRY_SECONDS,
      })
    }
  }

  private keeping(c: Context): KeepAlive {
    return (promise) => this.runtime.keepAlive(c, promise)
  }

  private compile(): Resolver {
    try {
      const host: Host = {
        ...this.runtime.host,
        openCluster: (options, tree) => this.open(options, tree),
      }
      return compileGatewayCorefile(this.config.blocks, host)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      throw new GatewayConfigError(error.problems.map(formatProblem).join('; '), { cause: error })
    }
  }

  private logFailure(cluster: string, error: unknown): void {
    const message = 'cannot refresh a snapshot'
    this.runtime.host.log({ level: 'error', message, cluster, error: errorText(error) })
  }

  private open(options: KubernetesOptions, tree: ClusterTree = CLUSTER_TREE): SnapshotSource {
    const id = publishedCluster(options, tree, [...this.config.clusters.keys()])
    const isShared = tree.kind !== 'cluster'
    const reader = this.readerOf(options, id, isShared ? tree.kind : undefined)
    if (options.clusters.length > 1) this.merged.add(options, tree.kind, reader)
    for (const zone of options.zones) {
      const isOfTree = options.multiclusterZones.some((one) => isSubdomain(zone, one)) === isShared
      if (!isOfTree) continue
      const known = this.opened.find((one) => equalNames(one.zone.bytes, zone))
      if (known !== undefined) known.parts.push({ cluster: id, reader })
      else this.opened.push({ zone: asWordBytes(zone), parts: [{ cluster: id, reader }] })
    }
    return reader
  }

  private readerOf(
    options: KubernetesOptions,
    id: string,
    tree: string | undefined,
  ): ClusterReader {
    const cluster = this.config.clusters.get(id)
    if (cluster === undefined) throw configError(options, `CLUSTERS has no cluster "${id}"`)
    const key = tree === undefined ? id : `${id}/${tree}`
    const known = this.readers.get(key)
    if (known !== undefined) return known
    const { host, originOf } = this.runtime
    const { publicKey } = cluster
    const source = { cluster: id, publicKey, origin: originOf(id), after: host.after }
    const loader = this.loaders.get(id) ?? new SnapshotLoader(source)
    this.loaders.set(id, loader)
    const reader = new ClusterReader({
      ...source,
      ...(tree !== undefined && { tree }),
      loader,
      times: this.config.times,
      memory: this.memory,
      needsLabels: () => this.book.usesLabels,
      clock: this.clock,
      onError: (error) => {
        this.logFailure(key, error)
      },
    })
    this.readers.set(key, reader)
    return reader
  }
}

function keepFresh(one: { refreshIfDue(): Promise<void> | undefined }, keepAlive: KeepAlive): void {
  const refresh = one.refreshIfDue()
  if (refresh !== undefined) keepAlive(refresh)
}
