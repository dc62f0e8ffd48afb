/**
 * Admits requests: remembers the caller of each, counts what it sends, and refuses callers that
 * send too many.
 * @module
 */
import type { Context } from 'hono'
import type { Client } from '../../resolver/contract/client.ts'
import type { Host } from '../../resolver/contract/host.ts'
import type { MaybePromise } from '../../resolver/contract/maybe-promise.ts'
import type { ClusterConfig } from '../config/cluster-entry.ts'
import type { Access, GatewayConfig } from '../config/config.ts'
import type { BehindProxies } from '../doh/behind-proxies.ts'
import type { ExplainFor } from '../doh/explain-route.ts'
import { HttpError } from '../doh/http-error.ts'
import type { KeepAlive } from '../timing/follower.ts'
import type { HeldClock } from '../timing/held-clock.ts'
import { noteFacts } from './audit.ts'
import {
  type Caller,
  type CallerClusters,
  CallerFinder,
  type CallerRuntime,
  type ExchangeOutcome,
  type RequestHead,
} from './caller.ts'
import { isAdmin, isExplainer, unauthorized } from './operators.ts'
import { notePerson } from './persons.ts'
import {
  FallbackLimiter,
  networkKey,
  RateBuckets,
  type RateLimiter,
  type RateLimits,
  tooMany,
} from './rate-limiter.ts'
import { type Credentials, tokenOf } from './sent-token.ts'
import { hostTokenOf, tokenId } from './token.ts'
import { isFoundByHash, type TokenBook } from './token-book.ts'
import type { TokenStore } from './token-store.ts'
import { TokenUse } from './token-use.ts'

/** What admission needs of the runtime. */
export type AdmissionRuntime = CallerRuntime & {
  readonly host: Pick<Host, 'metrics'>
  readonly tokenStore: Pick<TokenStore, 'noteUse'>
  /** Returns the client that sent a request, without its visibility. */
  readonly clientOf: (c: Context) => Client
  /** Returns the client identities that the runtime has verified: `cert:SHA256`. */
  readonly identitiesOf: (c: Context) => readonly string[]
  /** Returns the name in the TLS handshake of a request (SNI), where the runtime knows it. */
  readonly serverNameOf?: (c: Context) => string | undefined
  /** Keeps a promise alive beyond the response. */
  readonly keepAlive: (c: Context, promise: Promise<void>) => void
  /** The platform's rate limiter; without one, each process or isolate counts in memory. */
  readonly limiter?: RateLimiter
}

/** A caller that may query; a platform's rate limiter takes a moment to count the request. */
export type Admitted = {
  readonly caller: Caller
  readonly isWithinRate: MaybePromise<boolean>
}

/** Who opened a connection of DNS over TLS; its server name (SNI) is the header `host`. */
type TlsCredentials = {
  readonly client: Client
  readonly identities: () => readonly string[]
  header(name: string): string | undefined
}

/** Decides which requests are answered, and for which caller. */
export class Admission {
  private readonly config: GatewayConfig
  private readonly runtime: AdmissionRuntime & BehindProxies
  private readonly clock: HeldClock
  private readonly finder: CallerFinder
  private readonly use: TokenUse
  private readonly limiter: RateLimiter
  private readonly callers = new WeakMap<Request, Caller>()

  constructor(
    config: GatewayConfig,
    runtime: AdmissionRuntime & BehindProxies & CallerClusters,
    clock: HeldClock,
  ) {
    this.config = config
    this.runtime = runtime
    this.clock = clock
    const { log, metrics } = runtime.host
    this.finder = new CallerFinder(config, runtime, clock)
    const message = 'cannot store when tokens were used'
    const onError = (error: string): void => log({ level: 'error', message, error })
    this.use = new TokenUse({ store: runtime.tokenStore, metrics, clock, onError })
    const { requestsPerMinute: perMinute } = config
    this.limiter = createLimiter(runtime, { perMinute, elapsed: clock.elapsed })
  }

  /** The tokens that the operator created. */
  get tokens(): TokenBook {
    return this.finder.tokens
  }

  /** Whether the visibility of some client depends on labels of namespaces, or on RBAC. */
  get usesFacts(): boolean {
    return this.finder.tokens.usesLabels || this.finder.issuers.usesFacts
  }

  /** Returns whether the token of a request waits for the first list of tokens. */
  isCold(c: Context, pathToken: string | undefined): boolean {
    if (this.config.access.isPublic || !this.finder.tokens.isCold) return false
    const token = tokenOf(this.credentialsOf(c), pathToken, this.finder.tokenDomain)
    return typeof token === 'string' && (tokenId(token) !== undefined || isFoundByHash(token))
  }

  /** Reads the tokens or clusters that an operator has just changed; logs a failure. */
  reloadTokens(): Promise<void> {
    return this.finder.tokens.reload()
  }

  /** Waits for the tokens and the directory. @returns whether they are in memory */
  load(): Promise<boolean> {
    return this.finder.tokens.look()
  }

  /**
   * Finds a cluster; one that is not in memory waits a moment for a newer directory.
   * @throws {HttpError} 503 when the directory cannot be read
   */
  async findCluster(id: string, c: Context): Promise<ClusterConfig | undefined> {
    const { directory, keepAlive } = this.runtime
    if (directory === undefined || this.config.clusters.has(id)) return this.config.clusters.get(id)
    const find = (): ClusterConfig | undefined => directory.clusters.find(id)
    return this.finder.tokens.findListed(find, (promise) => keepAlive(c, promise))
  }

  /**
   * Follows the tokens, and starts to store when they were used, when it is time; returns the
   * promise to keep alive.
   */
  follow(): Promise<void> | undefined {
    const watch = this.finder.tokens.follow()
    const write = this.use.writeIfDue()
    if (write === undefined) return watch
    return Promise.all([watch, write]).then(() => undefined)
  }

  /**
   * Admits the caller of a request for DNS; {@link clientOf} then returns it.
   * @throws {HttpError} 401 without a valid credential, 400 and 421 for a wrong hostname, 429 over
   * the rate limit, 503 when the tokens or Cloudflare Access cannot be checked
   */
  async admit(c: Context, pathToken: string | undefined, access?: Access): Promise<Caller> {
    const sent = {
      ...this.credentialsOf(c),
      client: this.runtime.clientOf(c),
      keepAlive: (promise: Promise<void>) => this.runtime.keepAlive(c, promise),
    }
    const caller = await this.finder.find(sent, pathToken, access)
    this.callers.set(c.req.raw, caller)
    await this.countCaller(caller)
    return caller
  }

  /** As {@link admit}, the client of a connection of DNS over TLS; counts a refusal, too. */
  async admitTls(head: TlsCredentials, keepAlive: KeepAlive): Promise<Caller> {
    const { client, identities } = head
    const header = (name: string): string | undefined => head.header(name)
    try {
      const caller = await this.finder.find({ client, header, identities, keepAlive }, undefined)
      await this.countCaller(caller)
      return caller
    } catch (error) {
      const isRefused = error instanceof HttpError && error.status === 401
      if (isRefused) await this.count(refusedKey(client))
      throw error
    }
  }

  private async countCaller(caller: Caller): Promise<void> {
    await this.count(rateKey(caller))
    if (caller.tokenId !== undefined) this.use.note(caller.tokenId)
  }

  private credentialsOf(c: Context): Credentials {
    return {
      // Requests of HTTP/2 have no Host header.
      header: (name) => (name === 'host' ? this.runtime.urlOf(c).host : c.req.header(name)),
      identities: () => this.runtime.identitiesOf(c),
      serverName: () => this.runtime.serverNameOf?.(c),
    }
  }

  /**
   * Returns the hostname with a token in it; '' without TOKEN_DOMAIN, and for tokens that have no
   * such form.
   * @throws {HttpError} as {@link admit}
   */
  async hostnameOf(token: string): Promise<string> {
    const { tokenDomain, tokens } = this.finder
    if (tokenDomain === '' || tokenId(token) === undefined) return ''
    const hostToken = await hostTokenOf(token)
    return (await tokens.find(hostToken)) === undefined ? '' : `${hostToken}.${tokenDomain}`
  }

  /**
   * Admits the caller of a request on the fast path; `undefined` when only {@link admit} can
   * decide: the credential is new, invalid or expired, or the caller is over its rate limit.
   */
  admitAtOnce(
    head: RequestHead,
    pathToken: string | undefined,
    bytesMax: number | undefined,
  ): Admitted | undefined {
    return this.clock.during(() => {
      const caller = this.finder.findAtOnce(head, pathToken, bytesMax)
      if (caller === undefined) return undefined
      const isUnlimited = this.config.requestsPerMinute === 0
      const isWithinRate = isUnlimited || this.limiter.allow(rateKey(caller))
      if (isWithinRate === false) return undefined
      if (caller.tokenId !== undefined) this.use.note(caller.tokenId)
      return { caller, isWithinRate }
    })
  }

  /** Returns the caller of a request, once {@link admit} has found that. */
  callerOf(c: Context): Caller | undefined {
    return this.callers.get(c.req.raw)
  }

  /** Returns the client of a request: its caller, once that is known. */
  clientOf(c: Context): Client {
    return this.callerOf(c) ?? this.runtime.clientOf(c)
  }

  /**
   * Admits a request for an explanation, also with `PUBLIC` by its token only. The operator (admin)
   * and the read-only token see everything, or with `as` what the token with that identifier sees.
   * @throws {HttpError} as {@link admit}; 403 for a token that may not have answers explained; 404
   *   for an unknown identifier
   */
  async admitExplain(c: Context): Promise<ExplainFor> {
    const as = c.req.query('as')
    if (await isExplainer(c, this.config)) {
      noteFacts(c, { name: c.req.query('name'), as })
      const client = this.runtime.clientOf(c)
      if (as === undefined) return { client }
      const known = await this.finder.tokens.findById(as)
      if (known !== undefined) {
        return { client: { ...client, visibility: known.visibility }, whole: client }
      }
      throw new HttpError(404, 'unknown_token', 'No valid token has that identifier')
    }
    const caller = await this.admitByToken(c)
    if (caller.mayExplain && as === undefined) return { client: caller }
    throw new HttpError(403, 'forbidden', 'This needs a token that may explain')
  }

  /**
   * Admits a request that lists names. `PUBLIC` lets everybody query a name, but not list names.
   * @throws {HttpError} as {@link admit}
   */
  async admitBrowser(c: Context): Promise<Client> {
    if (await isAdmin(c, this.config.adminSha256s)) return this.runtime.clientOf(c)
    return this.admitByToken(c)
  }

  /**
   * Admits a request of the page, also with `PUBLIC` by its token only. A 401 lacks the challenge
   * that has browsers ask for a password: the page asks for a token.
   */
  private async admitByToken(c: Context): Promise<Caller> {
    try {
      return await this.admit(c, undefined, { ...this.config.access, isPublic: false })
    } catch (error) {
      throw error instanceof HttpError && error.status === 401 ? unauthorized(error.message) : error
    }
  }

  /**
   * Notes the operator whom an issuer knows, for the checks of {@link isAdmin} and its like.
   * @throws {HttpError} 503 when the token cannot be checked
   */
  async identify(c: Context): Promise<void> {
    const person = await this.finder.findPerson({
      header: (name) => c.req.header(name),
      keepAlive: (promise) => this.runtime.keepAlive(c, promise),
    })
    if (person !== undefined) notePerson(c, person)
  }

  /**
   * Gives a token of the gateway in exchange for one of an issuer; `undefined` for one that does
   * not count, `too long` for one with more groups than fit, `by object` for one that only a
   * ClientToken lets in.
   * @throws {HttpError} 404 where none are given, 429 over the rate limit of the client's address,
   *   503 when the token cannot be checked
   */
  async exchange(c: Context, token: string): Promise<ExchangeOutcome> {
    if (!this.finder.issuers.mayExchange) {
      throw new HttpError(404, 'no_exchange', 'This gateway exchanges no tokens')
    }
    const { clientOf, keepAlive } = this.runtime
    await this.count(`exchange ${networkKey(clientOf(c))}`)
    return this.finder.exchange(token, (promise) => keepAlive(c, promise))
  }

  /** Counts a request against a rate limit of its own. @throws {HttpError} 429 over the limit */
  async count(key: string): Promise<void> {
    if (this.config.requestsPerMinute === 0 || (await this.limiter.allow(key))) return
    throw tooMany()
  }

  /** Counts a 401 against the client's address, to slow down guessing. @throws {HttpError} 429 */
  async countRefused(c: Context): Promise<void> {
    await this.count(refusedKey(this.runtime.clientOf(c)))
  }
}

/** Prefers the platform's rate limiter, if it has one and while that works. */
function createLimiter(
  { limiter: platform, host: { log } }: Pick<AdmissionRuntime, 'limiter' | 'host'>,
  limits: RateLimits,
): RateLimiter {
  const memory = new RateBuckets(limits)
  if (platform === undefined) return memory
  const message = 'the rate limiter fails; requests are counted in memory meanwhile'
  const onError = (error: string): void => log({ level: 'error', message, error })
  return new FallbackLimiter({ platform, memory, onError })
}

function refusedKey(client: Client): string {
  return `refused ${networkKey(client)}`
}

/** Callers with a token share its limit, or that of their subject, wherever they are. */
function rateKey(caller: Caller): string {
  return caller.tokenId ?? caller.subject ?? networkKey(caller)
}
