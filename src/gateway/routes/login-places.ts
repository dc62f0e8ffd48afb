/**
 * Where people log in: the issuers with a client, and for the page the endpoints that they name.
 * @module
 */
import type { Context } from 'hono'
import type { Host } from '../../resolver/contract/host.ts'
import type { GatewayConfig } from '../config/config.ts'
import { type FetchPage, readDiscovery } from '../jwt/issuer-discovery.ts'
import { Follower, keepFollowing } from '../timing/follower.ts'

/** How often an issuer's endpoints are read. They count until it says something else. */
const FRESH_MS = 60 * 60 * 1000
/** Longest URL of an endpoint. */
const URL_CHARS_MAX = 2048
/** Neither `*`, which a Content Security Policy takes for every host, nor what URLs escape. */
const PLAIN_HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:]+\])$/

/** An issuer, and the client that people use there. */
export type LoginIssuer = {
  readonly issuer: string
  readonly clientId: string
  readonly scopes: string
}

/** Where the page sends people, and from where it fetches tokens. */
export type LoginEndpoints = {
  /** URL of the page where people log in (RFC 6749 §3.1). */
  readonly authorize: string
  /** URL that gives tokens (RFC 6749 §3.2). */
  readonly token: string
  /** Whether a redirect back always has `iss` (RFC 9207). */
  readonly namesItself: boolean
}

/** An issuer without endpoints is one that could not be read yet. */
export type LoginPlace = LoginIssuer & { readonly endpoints?: LoginEndpoints }

/** What logins need of the configuration. */
type LoginConfig = Pick<GatewayConfig, 'issuers' | 'exchangeKeys'>

/** What reading endpoints needs of the runtime. */
export type LoginRuntime = {
  readonly fetch: FetchPage
  readonly host: Pick<Host, 'elapsed' | 'after' | 'log'>
  /** Keeps a promise alive beyond the response. */
  readonly keepAlive: (c: Context, promise: Promise<void>) => void
}

/** Returns the issuers where people log in; none where a login is not given for a token. */
export function loginIssuers({ issuers, exchangeKeys }: LoginConfig): readonly LoginIssuer[] {
  if (exchangeKeys.length === 0) return []
  return issuers.flatMap(({ issuer, client }) =>
    client === undefined ? [] : [{ issuer, clientId: client.id, scopes: client.scopes }],
  )
}

/** The endpoints of some issuers, followed. */
export class LoginPlaces {
  private readonly runtime: LoginRuntime
  private readonly all: readonly {
    readonly issuer: LoginIssuer
    readonly follower: Follower
  }[]
  private readonly endpoints = new Map<LoginIssuer, LoginEndpoints>()

  /** Follows the issuers where people log in; `undefined` where nobody can. */
  static of(config: LoginConfig, runtime: LoginRuntime): LoginPlaces | undefined {
    const issuers = loginIssuers(config)
    return issuers.length > 0 ? new LoginPlaces(issuers, runtime) : undefined
  }

  private constructor(issuers: readonly LoginIssuer[], runtime: LoginRuntime) {
    this.runtime = runtime
    this.all = issuers.map((issuer) => ({ issuer, follower: this.followerOf(issuer) }))
  }

  /** Returns the places. Waits up to 2 s for issuers that have not been read yet. */
  async current(c: Context): Promise<readonly LoginPlace[]> {
    await Promise.all(
      this.all.map(async ({ issuer, follower }) => {
        if (!this.endpoints.has(issuer)) await follower.look()
        else keepFollowing(follower, (promise) => this.runtime.keepAlive(c, promise))
      }),
    )
    return this.all.map(({ issuer }) => {
      const endpoints = this.endpoints.get(issuer)
      return { ...issuer, ...(endpoints !== undefined && { endpoints }) }
    })
  }

  private followerOf(login: LoginIssuer): Follower {
    const { fetch, host } = this.runtime
    const { issuer } = login
    const message = 'cannot read where people log in'
    return new Follower({
      ...host,
      refreshMs: FRESH_MS,
      watch: async (_, seen) => {
        this.endpoints.set(login, endpointsOf(await readDiscovery(fetch, issuer), issuer))
        seen()
      },
      onError: (error) => host.log({ level: 'warning', message, issuer, error }),
    })
  }
}

function endpointsOf(found: Readonly<Record<string, unknown>>, issuer: string): LoginEndpoints {
  const {
    authorization_endpoint: authorize,
    token_endpoint: token,
    authorization_response_iss_parameter_supported: namesItself,
  } = found
  if (isEndpoint(authorize, issuer) && isEndpoint(token, issuer)) {
    return { authorize, token, namesItself: namesItself === true }
  }
  throw new Error(`${issuer} names no endpoints that a page may use`)
}

/** A browser goes there, so it is a web page: of HTTPS, or at the origin that is configured. */
function isEndpoint(url: unknown, issuer: string): url is string {
  if (typeof url !== 'string' || url.length > URL_CHARS_MAX || !URL.canParse(url)) return false
  const { origin, protocol, hostname, username, password, hash } = new URL(url)
  const isPlain = username === '' && password === '' && hash === '' && PLAIN_HOST.test(hostname)
  return isPlain && (protocol === 'https:' || origin === new URL(issuer).origin)
}
