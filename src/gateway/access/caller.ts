/**
 * The caller of a request: which client sent it, and what that client may see. Callers are
 * everybody with `PUBLIC`, holders of the configured client token, holders of tokens that the
 * operator created, who may have a certificate or a login instead, and holders of an issuer's
 * tokens. Closed unless configured.
 * @module
 */
import { errorText } from '../../dns/bytes/unknown.ts'
import type { Client, ClientVisibility } from '../../resolver/contract/client.ts'
import type { Host } from '../../resolver/contract/host.ts'
import type { Access, GatewayConfig } from '../config/config.ts'
import { LIFE_MS_MAX } from '../config/issuers.ts'
import { matcherOf } from '../config/text-pattern.ts'
import type { MessageHead } from '../doh/direct-message.ts'
import { HttpError } from '../doh/http-error.ts'
import type { KeysRuntime } from '../jwt/issuer-keys.ts'
import type { IssuerTokens } from '../jwt/issuer-tokens.ts'
import { claimedIssuer } from '../jwt/jwt.ts'
import type { KeepAlive } from '../timing/follower.ts'
import type { GatewayClock } from '../timing/held-clock.ts'
import { ASSERTION_HEADER, accessTokens } from './access-assertions.ts'
import type { ClusterDirectory } from './cluster-directory.ts'
import { type Exchanged, Issuers, type KnownSubject } from './issuers.ts'
import type { KnownClusters } from './known-clusters.ts'
import type { Person } from './persons.ts'
import { type Credentials, sentToken, tokenOf } from './sent-token.ts'
import { hasHash, tokenId } from './token.ts'
import { type KnownToken, TokenBook } from './token-book.ts'
import type { TokenStore } from './token-store.ts'

/** What a credential allows. */
type Grant = {
  /** What the client may see; absent for everything. */
  readonly visibility?: ClientVisibility
  /** The token whose rate limit counts; `undefined` counts by address. */
  readonly tokenId: string | undefined
  /** The client whose rate limit counts, where an issuer knows it. */
  readonly subject?: string
  /** Whether the client may use `/v1/explain`. */
  readonly mayExplain: boolean
}

/** What became of a token that was to be exchanged. */
export type ExchangeOutcome = Exchanged | 'too long' | 'by object' | undefined

/** A client that was admitted. */
export type Caller = Client & Grant

/** A request whose credentials may have to be read from the store. */
type Sent = Credentials & { readonly keepAlive: KeepAlive }

/** A request without its body; `address` is the client's, which may be formatted on demand. */
export type RequestHead = MessageHead &
  Credentials & {
    readonly address: string
    /** The client's port; 0 when left out, because few read it. */
    readonly port?: number
    /** DNS over TLS; HTTPS when left out. */
    readonly transport?: 'tls'
    /** The request itself, where the runtime has one. */
    readonly request?: Request
  }

/** What finding callers needs of the configuration. */
type CallerConfig = Pick<
  GatewayConfig,
  'access' | 'application' | 'issuers' | 'exchangeKeys' | 'objectClusters' | 'tokenDomain'
>

/** What finding callers needs of the runtime. */
export type CallerRuntime = {
  readonly host: Pick<Host, 'after' | 'log'>
  readonly tokenStore: Pick<TokenStore, 'list' | 'follow'>
  /** Clusters that come and go; none when left out. */
  readonly directory?: {
    readonly store: Pick<ClusterDirectory, 'list'>
    readonly clusters: KnownClusters
  }
  /** Sends an HTTP GET request, for the keys of issuers; does not follow redirects. */
  readonly fetch: (url: string) => Promise<Response>
}

/** The clusters, as far as finding callers needs them. */
export type CallerClusters = Pick<KeysRuntime, 'tokenIssuerOf'>

const EVERYBODY: Grant = { tokenId: undefined, mayExplain: false }
const CLIENT_TOKEN: Grant = { tokenId: undefined, mayExplain: true }
const CHALLENGE = 'Bearer realm="kubedoh", Basic realm="kubedoh"'
const RETRY_SECONDS = '5'

/** Finds the callers of requests. */
export class CallerFinder {
  /** The tokens that the operator created. */
  readonly tokens: TokenBook
  /** The issuers whose tokens identify clients. */
  readonly issuers: Issuers
  private readonly access: Access
  /** TOKEN_DOMAIN. */
  readonly tokenDomain: string
  private readonly clusters: KnownClusters | undefined
  private readonly assertions: IssuerTokens<readonly string[]> | undefined
  private readonly clock: GatewayClock
  private readonly log: Host['log']
  /** The token of CLIENT_TOKEN_SHA256, once it was sent: to hash it takes as long as the answer. */
  private readonly clientTokens = new Set<string>()

  constructor(
    { access, application, issuers, exchangeKeys, objectClusters, tokenDomain }: CallerConfig,
    {
      host: { after, log },
      tokenStore: store,
      directory,
      fetch,
      tokenIssuerOf,
    }: CallerRuntime & CallerClusters,
    clock: GatewayClock,
  ) {
    const onError = (error: string): void =>
      log({ level: 'error', message: 'cannot read the tokens', error })
    this.access = access
    this.tokenDomain = tokenDomain
    this.clock = clock
    this.log = log
    const listed = directory && { directory: directory.store, clusters: directory.clusters }
    const takesObjects = matcherOf(objectClusters)
    this.tokens = new TokenBook({ store, ...listed, takesObjects, after, clock, onError })
    this.clusters = directory?.clusters
    const runtime = { fetch, tokenIssuerOf, after, clock, log, ...listed }
    this.issuers = new Issuers(issuers, exchangeKeys, runtime)
    const onRefused = (reason: string): void =>
      log({ level: 'warning', message: 'an assertion of Access is refused', reason })
    this.assertions = application && accessTokens(application, { ...runtime, onRefused })
  }

  /**
   * Finds the caller of a request.
   * @param pathToken the token in the path, for clients that cannot send headers
   * @throws {HttpError} 401, the same for a missing, wrong, revoked and expired token; 400 and 421
   *   as {@link tokenOf}; 503 when the tokens or Cloudflare Access cannot be checked
   */
  async find(
    sent: Sent & { readonly client: Client },
    pathToken: string | undefined,
    access: Access = this.access,
  ): Promise<Caller> {
    return { ...sent.client, ...(await this.grantOf(sent, pathToken, access)) }
  }

  /**
   * As {@link find}, from memory; `undefined` when only `find` can decide: the credential is new,
   * invalid or expired. Ignores identities when the request has a token.
   * @param bytesMax largest response that the client takes; any when `undefined`
   */
  findAtOnce(
    head: RequestHead,
    pathToken: string | undefined,
    bytesMax: number | undefined,
  ): Caller | undefined {
    if (this.access.isPublic) return new RemoteCaller(head, EVERYBODY, bytesMax)
    const token = tokenOf(head, pathToken, this.tokenDomain)
    if (token instanceof HttpError) return undefined
    if (token !== undefined && this.clientTokens.has(token)) {
      return new RemoteCaller(head, CLIENT_TOKEN, bytesMax)
    }
    const known = token === undefined ? this.identityAtOnce(head) : this.tokens.findAtOnce(token)
    if (known !== undefined) return new RemoteCaller(head, grantOf(known), bytesMax)
    const grant = token === undefined ? undefined : this.issuedAtOnce(token)
    return grant && new RemoteCaller(head, grant, bytesMax)
  }

  /** Returns what a token of an issuer allows, from memory. */
  private issuedAtOnce(token: string): Grant | undefined {
    const subject = this.issuers.findAtOnce(token)
    if (subject !== undefined) {
      return this.tokens.isRevokedAtOnce(subject) === false ? subjectGrant(subject) : undefined
    }
    const client = this.issuers.findUnruledAtOnce(token)
    if (client === undefined || this.tokens.isRevokedAtOnce(client) !== false) return undefined
    const known = this.tokens.findSubjectAtOnce(client)
    return known && grantOf(known)
  }

  private async grantOf(
    sent: Sent,
    pathToken: string | undefined,
    { isPublic, sha256 }: Access,
  ): Promise<Grant> {
    if (isPublic) return EVERYBODY
    const token = tokenOf(sent, pathToken, this.tokenDomain)
    if (token instanceof HttpError) throw token
    if (token !== undefined) {
      // First, because it needs no list of tokens, which may be away.
      if (sha256 !== undefined && (await hasHash(token, sha256))) {
        this.clientTokens.add(token)
        return CLIENT_TOKEN
      }
      const known = await this.tokens.find(token, sent.keepAlive)
      if (known !== undefined) return grantOf(known)
      const subject = await this.ofIssuer(token, sent.keepAlive, (one) => this.issuers.find(one))
      if (subject !== undefined && !(await this.tokens.isRevoked(subject, sent.keepAlive))) {
        return subjectGrant(subject)
      }
      const named = subject === undefined && (await this.named(token, sent.keepAlive))
      if (named) return grantOf(named)
    }
    for (const identity of isCrossSite(sent) ? [] : await this.identitiesOf(sent)) {
      const known = await this.tokens.findIdentity(identity, sent.keepAlive)
      if (known !== undefined) return grantOf(known)
    }
    throw new HttpError(401, 'unauthorized', 'A token is needed', { 'www-authenticate': CHALLENGE })
  }

  /**
   * Finds the token of a ClientToken that names the client of an issuer's token, which was verified
   * just now, and which no rule fits: no object takes from a client what a rule gives it.
   */
  private async named(token: string, keepAlive: KeepAlive): Promise<KnownToken | undefined> {
    const client = this.issuers.findUnruled(token)
    if (client === undefined || (await this.tokens.isRevoked(client, keepAlive))) return undefined
    const known = await this.tokens.findSubject(client, keepAlive)
    if (known === undefined) this.issuers.refuseUnruled(token)
    return known
  }

  private async identitiesOf(sent: Credentials): Promise<readonly string[]> {
    const own = sent.identities?.() ?? []
    const assertion = sent.header(ASSERTION_HEADER)
    if (this.assertions === undefined || typeof assertion !== 'string') return own
    return [...own, ...((await this.checked(this.assertions.find(assertion))) ?? [])]
  }

  /** Awaits a check of a token. @throws {HttpError} 503 when the issuer's keys cannot be read */
  private async checked<T>(check: Promise<T>): Promise<T> {
    try {
      return await check
    } catch (error) {
      if (error instanceof HttpError) throw error
      this.log({ level: 'error', message: 'cannot check who logged in', error: errorText(error) })
      throw new HttpError(503, 'access_unavailable', 'Logins cannot be checked at the moment', {
        'retry-after': RETRY_SECONDS,
      })
    }
  }

  /**
   * Finds the operator that a request's token identifies: one whom an issuer knows, or the holder
   * of a token with a role.
   * @throws {HttpError} 503 as {@link find}
   */
  async findPerson(sent: Sent): Promise<Person | undefined> {
    const token = sentToken(sent)
    if (token === undefined) return undefined
    const { keepAlive } = sent
    if (tokenId(token) !== undefined) {
      const known = await this.tokens.find(token, keepAlive)
      return known && tokenHolder(known.record, this.clock.now())
    }
    const person = await this.ofIssuer(token, keepAlive, (one) => this.issuers.findPerson(one))
    const isRevoked = person && (await this.tokens.isRevoked(person, sent.keepAlive))
    return isRevoked === false ? person : undefined
  }

  /**
   * Gives a token of the gateway in exchange for one of an issuer; `undefined` for others, `too
   * long` for too many groups, `by object` for a client that only a ClientToken lets in.
   * @throws {HttpError} 503 as {@link find}
   */
  async exchange(token: string, keepAlive: KeepAlive): Promise<ExchangeOutcome> {
    const exchanged = await this.ofIssuer(token, keepAlive, (one) =>
      this.issuers.exchange(one, (known) => this.tokens.isRevoked(known, keepAlive)),
    )
    if (exchanged !== undefined) return exchanged
    return (await this.named(token, keepAlive)) && 'by object'
  }

  /**
   * Finds something by a token of an issuer. The directory may have got the issuer just now: a
   * token that does not count waits a moment for a newer one, as one that an operator created.
   */
  private async ofIssuer<T>(
    token: string,
    keepAlive: KeepAlive,
    find: (token: string) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const before = this.clusters?.issuers
    const found = await this.checked(find(token))
    if (found !== undefined || before === undefined || claimedIssuer(token) === undefined) {
      return found
    }
    await this.tokens.findListed(() => undefined, keepAlive)
    return this.clusters?.issuers === before ? undefined : this.checked(find(token))
  }

  private identityAtOnce(sent: Credentials): KnownToken | undefined {
    if (isCrossSite(sent)) return undefined
    const known = this.firstKnown(sent.identities?.())
    if (known !== undefined || this.assertions === undefined) return known
    return this.firstKnown(this.assertions.findAtOnce(sent.header(ASSERTION_HEADER) ?? ''))
  }

  private firstKnown(identities: readonly string[] = []): KnownToken | undefined {
    for (const identity of identities) {
      const known = this.tokens.findIdentityAtOnce(identity)
      if (known !== undefined) return known
    }
    return undefined
  }
}

/** A caller whose address is formatted only when it is read: on Bun that takes 1.5 µs. */
class RemoteCaller implements Caller {
  readonly port: number
  readonly transport: 'https' | 'tls'
  readonly tokenId: string | undefined
  readonly mayExplain: boolean
  readonly subject?: string
  readonly visibility?: ClientVisibility
  readonly bytesMax?: number
  private readonly head: RequestHead

  constructor(
    head: RequestHead,
    { tokenId, subject, mayExplain, visibility }: Grant,
    bytesMax: number | undefined,
  ) {
    this.head = head
    this.port = head.port ?? 0
    this.transport = head.transport ?? 'https'
    this.tokenId = tokenId
    this.mayExplain = mayExplain
    if (subject !== undefined) this.subject = subject
    if (visibility !== undefined) this.visibility = visibility
    if (bytesMax !== undefined) this.bytesMax = bytesMax
  }

  get address(): string {
    return this.head.address
  }
}

function grantOf({ visibility, record: { id, scope } }: KnownToken): Grant {
  return { visibility, tokenId: id, mayExplain: scope.explain === true }
}

/** Returns the operator that a token with a role stands for; its tokens end before it does. */
function tokenHolder(
  { id, role, scope, expiresMs = Number.POSITIVE_INFINITY }: KnownToken['record'],
  nowMs: number,
): Person | undefined {
  if (role === undefined) return undefined
  const lifeMs = Math.min(LIFE_MS_MAX, expiresMs - nowMs)
  return { subject: `token ${id}`, role, scope, lifeMs }
}

function subjectGrant({ visibility, mayExplain, subject }: KnownSubject): Grant {
  return { visibility, mayExplain, subject, tokenId: undefined }
}

/** Browsers add their certificate or login to requests that a page of another site sends. */
function isCrossSite(sent: Credentials): boolean {
  return sent.header('sec-fetch-site') === 'cross-site'
}
