/**
 * Admits requests: finds out which client sends one and what that client may see, and refuses
 * clients that send too many.
 * @module
 */
import type { Context } from 'hono'
import { errorText } from '../../dns/bytes/unknown.ts'
import type { Client } from '../../resolver/contract/client.ts'
import type { Host } from '../../resolver/contract/host.ts'
import type { MaybePromise } from '../../resolver/contract/maybe-promise.ts'
import type { Access, GatewayConfig } from '../config/config.ts'
import type { ExplainFor } from '../doh/explain-route.ts'
import { HttpError } from '../doh/http-error.ts'
import type { HeldClock } from '../timing/held-clock.ts'
import {
  type Caller,
  type Carriers,
  findCaller,
  findKnownCaller,
  headerToken,
  RemoteClient,
  tokenSent,
} from './access.ts'
import { AccessAssertions, ASSERTION_HEADER } from './access-assertions.ts'
import { noteFacts } from './audit.ts'
import { isAdmin, isExplainer, unauthorized } from './operators.ts'
import { addressKey, RateBuckets, type RateLimiter, tooMany } from './rate-limiter.ts'
import { TokenBook } from './token-book.ts'
import type { TokenStore } from './token-store.ts'
import { TokenUse } from './token-use.ts'

/** What admission needs of the runtime. */
export type AdmissionRuntime = {
  readonly host: Pick<Host, 'after' | 'log' | 'metrics'>
  readonly tokenStore: Pick<TokenStore, 'list' | 'noteUse'>
  /** Sends an HTTP GET request: Cloudflare Access publishes its signing keys. */
  readonly fetch: (url: string) => Promise<Response>
  /** Returns the client that sent a request, without its visibility. */
  readonly clientOf: (c: Context) => Client
  /** Returns the client identities that the runtime has verified: `cert:SHA256`. */
  readonly identitiesOf: (c: Context) => readonly string[]
  /** The platform's rate limiter; without one, each process or isolate counts in memory. */
  readonly limiter?: RateLimiter
}

/** A client that may query; a platform's rate limiter takes a moment to count the request. */
export type Admitted = {
  readonly client: Client
  readonly isWithinRate: MaybePromise<boolean>
}

const RETRY_SECONDS = '5'

/** Decides which requests are answered, and for which client. */
export class Admission {
  private readonly config: GatewayConfig
  private readonly runtime: AdmissionRuntime
  private readonly clock: HeldClock
  private readonly tokens: TokenBook
  private readonly use: TokenUse
  private readonly assertions: AccessAssertions | undefined
  private readonly limiter: RateLimiter
  private readonly callers = new WeakMap<Request, Caller>()
  /** The token of CLIENT_TOKEN_SHA256, once it was sent: to hash it takes as long as the answer. */
  private readonly shared = new Set<string>()

  constructor(config: GatewayConfig, runtime: AdmissionRuntime, clock: HeldClock) {
    this.config = config
    this.runtime = runtime
    this.clock = clock
    const { application, requestsPerMinute: perMinute } = config
    const { fetch, tokenStore: store } = runtime
    const { after, log, metrics } = runtime.host
    const failing = (message: string) => (error: string) => log({ level: 'error', message, error })
    this.tokens = new TokenBook({ store, after, clock, onError: failing('cannot read the tokens') })
    const onError = failing('cannot store when tokens were used')
    this.use = new TokenUse({ store, metrics, clock, onError })
    this.assertions = application && new AccessAssertions({ ...application, fetch, after, clock })
    this.limiter = runtime.limiter ?? new RateBuckets({ perMinute, elapsed: clock.elapsed })
  }

  /** Whether the visibility of some token depends on the labels of namespaces. */
  get usesLabels(): boolean {
    return this.tokens.usesLabels
  }

  /** Reads the tokens that an operator has just changed; logs a failure. */
  reloadTokens(): Promise<void> {
    return this.tokens.reload()
  }

  /**
   * Starts to read the tokens again, and to store when they were used, when it is time; returns the
   * promise to keep alive.
   */
  refreshIfDue(): Promise<void> | undefined {
    const refresh = this.tokens.refreshIfDue()
    const write = this.use.writeIfDue()
    if (write === undefined) return refresh
    return Promise.all([refresh, write]).then(() => undefined)
  }

  /**
   * Admits the client of a request for DNS; {@link clientOf} then returns what it may see.
   * @throws {HttpError} 401 without a valid credential, 429 over the rate limit, 503 when the
   * tokens or Cloudflare Access cannot be checked
   */
  async admit(
    c: Context,
    pathToken: string | undefined,
    access: Access = this.config.access,
  ): Promise<Caller> {
    const identities = (): Promise<readonly string[]> => this.identitiesOf(c)
    const caller = await findCaller(access, this.tokens, c.req.raw, { pathToken, identities })
    this.callers.set(c.req.raw, caller)
    // Nothing but the token of CLIENT_TOKEN_SHA256 sees everything and is in no list.
    if (caller.mayExplain && caller.tokenId === undefined) {
      const token = pathToken ?? headerToken(c.req.raw)
      if (token !== undefined) this.shared.add(token)
    }
    await this.count(caller.tokenId ?? addressKey(this.runtime.clientOf(c)))
    if (caller.tokenId !== undefined) this.use.note(caller.tokenId)
    return caller
  }

  /**
   * Admits the client of a request on the fast path; `undefined` when only {@link admit} can
   * decide: the credential is new, invalid or expired, or the client is over its rate limit.
   */
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
      const seesAll = access.isPublic || this.shared.has(tokenSent(carriers, pathToken) ?? '')
      const known = seesAll ? undefined : findKnownCaller(this.tokens, this.assertions, sent)
      if (!seesAll && known === undefined) return undefined
      const client = new RemoteClient(carriers, known?.visibility, bytesMax)
      const key = (): string => known?.record.id ?? addressKey(client)
      const isWithinRate = requestsPerMinute === 0 || this.limiter.allow(key())
      if (isWithinRate === false) return undefined
      if (known !== undefined) this.use.note(known.record.id)
      return { client, isWithinRate }
    })
  }

  /** Returns the client of a request, with the visibility that {@link admit} found. */
  clientOf(c: Context): Client {
    const client = this.runtime.clientOf(c)
    const visibility = this.callers.get(c.req.raw)?.visibility
    return visibility === undefined ? client : { ...client, visibility: visibility }
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
      const known = await this.tokens.findById(as)
      if (known !== undefined) {
        return { client: { ...client, visibility: known.visibility }, whole: client }
      }
      throw new HttpError(404, 'unknown_token', 'No valid token has that identifier')
    }
    const { mayExplain } = await this.admitByToken(c)
    if (mayExplain && as === undefined) return { client: this.clientOf(c) }
    throw new HttpError(403, 'forbidden', 'This needs a token that may explain')
  }

  /**
   * Admits a request that lists names. `PUBLIC` lets everybody query a name, but not list names.
   * @throws {HttpError} as {@link admit}
   */
  async admitBrowser(c: Context): Promise<Client> {
    if (await isAdmin(c, this.config.adminSha256)) return this.runtime.clientOf(c)
    await this.admitByToken(c)
    return this.clientOf(c)
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

  /** Counts a request against a rate limit of its own. @throws {HttpError} 429 over the limit */
  async count(key: string): Promise<void> {
    if (this.config.requestsPerMinute === 0 || (await this.limiter.allow(key))) return
    throw tooMany()
  }

  /** Counts a 401 against the client's address, to slow down guessing. @throws {HttpError} 429 */
  async countRefused(c: Context): Promise<void> {
    await this.count(`refused ${addressKey(this.runtime.clientOf(c))}`)
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
}
