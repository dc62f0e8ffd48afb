/**
 * The signing keys of one issuer: read at the URL that its discovery document names, or from the
 * manifest of a cluster, and kept while the issuer is away.
 * @module
 */
import type { TokenIssuer } from '../../snapshot/format/token-issuer.ts'
import { isPublicUrl } from '../config/cluster-issuers.ts'
import type { KeysPlace } from '../config/issuers.ts'
import { Follower } from '../timing/follower.ts'
import type { GatewayClock } from '../timing/held-clock.ts'
import type { After } from '../timing/within.ts'
import { type FetchPage, readDiscovery, readJsonObject } from './issuer-discovery.ts'

/** How often the keys are read: issuers publish the next ones days before they use them. */
const FRESH_MS = 60 * 60 * 1000
/** The same for keys in a manifest, which is in memory. */
const CLUSTER_FRESH_MS = 10_000
/** How long the keys count while the issuer is away. */
const KEPT_MS = 24 * FRESH_MS
/** How long an unknown key causes no further request for the keys. */
const RETRY_MS = 10_000

/** What reading keys needs of the runtime. */
export type KeysRuntime = {
  readonly fetch: FetchPage
  /** Returns what a cluster has published of its issuer. */
  readonly tokenIssuerOf: (cluster: string) => Promise<TokenIssuer | 'no cluster' | undefined>
  readonly after: After
  readonly clock: GatewayClock
}

/** An issuer. */
export type IssuerPlace = {
  /** Its `iss`, a URL. */
  readonly issuer: string
  readonly keys: KeysPlace
}

type Keys = { readonly set: readonly unknown[]; readonly readMs: number }

/** The keys of one issuer. */
export class IssuerKeys {
  private readonly options: IssuerPlace & KeysRuntime
  private readonly follower: Follower
  private keys: Keys | undefined
  /** When an unknown key last caused a request for the keys. */
  private triedMs = Number.NEGATIVE_INFINITY
  private failure = ''

  constructor(options: IssuerPlace & KeysRuntime) {
    this.options = options
    const { elapsed } = options.clock
    this.follower = new Follower({
      ...options,
      elapsed,
      refreshMs: isInManifest(options.keys) ? CLUSTER_FRESH_MS : FRESH_MS,
      watch: async (_, seen) => {
        const set = await this.read()
        this.keys = { set, readMs: elapsed() }
        seen()
      },
      onError: (message) => {
        this.failure = message
      },
    })
  }

  /** Returns the keys (RFC 7517 §5). @throws {Error} when none can be read */
  async current(): Promise<readonly unknown[]> {
    return this.after(await this.follower.look())
  }

  /**
   * Returns newer keys for a token that none of the known ones has signed; `undefined` where they
   * have just been read.
   * @throws {Error} as {@link current}
   */
  async newer(): Promise<readonly unknown[] | undefined> {
    const elapsedMs = this.options.clock.elapsed()
    const readMs = this.keys?.readMs ?? Number.NEGATIVE_INFINITY
    if (elapsedMs - Math.max(readMs, this.triedMs) < RETRY_MS) return undefined
    this.triedMs = elapsedMs
    return this.after(await this.follower.relook())
  }

  private after(isRead: boolean): readonly unknown[] {
    const { keys } = this
    const ageMs = this.options.clock.elapsed() - (keys?.readMs ?? Number.NEGATIVE_INFINITY)
    if (keys !== undefined && (isRead || ageMs < KEPT_MS)) return keys.set
    throw new Error(`Cannot read the keys of ${this.options.issuer}: ${this.failure}`)
  }

  private async read(): Promise<readonly unknown[]> {
    const { keys: place } = this.options
    if (isInManifest(place)) return this.readManifest(place.cluster)
    if (place !== 'discovery' && 'jwks' in place) return place.jwks
    const url = place === 'discovery' ? await this.discover() : place.url
    const { keys } = await readJsonObject(this.options.fetch, url)
    if (Array.isArray(keys)) return keys
    throw new Error(`${url} is not a JSON Web Key Set`)
  }

  private async readManifest(cluster: string): Promise<readonly unknown[]> {
    const { issuer, tokenIssuerOf } = this.options
    const published = await tokenIssuerOf(cluster)
    if (published === 'no cluster') {
      // It is not away but gone, and its keys with it.
      this.keys = undefined
      throw new Error(`there is no cluster "${cluster}"`)
    }
    if (published === undefined) throw new Error(`cluster "${cluster}" publishes no keys`)
    if (published.issuer === issuer) return published.keys
    throw new Error(`the issuer of cluster "${cluster}" is ${published.issuer}`)
  }

  /** Reads where the keys are. */
  private async discover(): Promise<string> {
    const { fetch, issuer } = this.options
    const { jwks_uri: keysUrl } = await readDiscovery(fetch, issuer)
    if (typeof keysUrl === 'string' && mayAsk(keysUrl, issuer)) return keysUrl
    throw new Error(`${issuer} names no place for keys that a gateway may ask`)
  }
}

function isInManifest(place: KeysPlace): place is { readonly cluster: string } {
  return place !== 'discovery' && 'cluster' in place
}

/**
 * Returns whether an issuer may send a gateway to a URL: at its own origin, or by HTTPS to a public
 * hostname.
 */
function mayAsk(url: string, issuer: string): boolean {
  if (!URL.canParse(url)) return false
  return new URL(url).origin === new URL(issuer).origin || isPublicUrl(url)
}
