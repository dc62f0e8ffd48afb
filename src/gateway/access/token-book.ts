/**
 * The tokens in the memory of one process or isolate, kept fresh from their store. The directory of
 * clusters travels with them.
 *
 * A revoked token is refused as soon as the list is read again. A token that the list lacks may be
 * new, and waits a moment for a newer list. When the list cannot be read for long, every token is
 * refused.
 * @module
 */
import type { ClientVisibility } from '../../resolver/contract/client.ts'
import { isClientToken } from '../../snapshot/format/client-tokens.ts'
import { HttpError } from '../doh/http-error.ts'
import { Changes } from '../timing/changes.ts'
import { Follower, type KeepAlive, keepFollowing } from '../timing/follower.ts'
import type { GatewayClock } from '../timing/held-clock.ts'
import type { After } from '../timing/within.ts'
import type { ClusterDirectory } from './cluster-directory.ts'
import type { KnownClusters } from './known-clusters.ts'
import { ObjectSubjects, type UnruledSubject } from './object-subjects.ts'
import { objectCluster } from './object-tokens.ts'
import {
  equalSecrets,
  hashToken,
  isAlive,
  isHostToken,
  type TokenRecord,
  tokenId,
  usesLabels,
  visibilityOf,
} from './token.ts'
import type { TokenStore, TokenUpdate } from './token-store.ts'

/** Age after which a list that cannot be followed is read again. */
const REFRESH_MS = 1000
/** How long one watch of the list lasts: a Worker may go on for 30 s after its response. */
const WAIT_MS = 25_000
/** How long a token that the list lacks waits for a newer list. */
const NEWER_MS = 150
/** Age after which the list admits nobody. */
const TRUST_MS = 60_000
/** Most tokens whose hash is remembered. */
const HASHES_MAX = 4096

/** What a book needs. */
export type TokenBookOptions = {
  readonly store: Pick<TokenStore, 'list' | 'follow'>
  /** Where clusters come and go: they are in the updates of a store that can be followed. */
  readonly directory?: Pick<ClusterDirectory, 'list'>
  readonly clusters?: Pick<KnownClusters, 'take'>
  /** Returns whether ClientTokens of a cluster count; none do when left out. */
  readonly takesObjects?: (cluster: string) => boolean
  readonly after: After
  readonly clock: GatewayClock
  /** Gets the text of an error. */
  readonly onError: (message: string) => void
}

/** A valid token, and what its client may see. */
export type KnownToken = { readonly record: TokenRecord; readonly visibility: ClientVisibility }

/** A token of an issuer: what would revoke it, and when it was issued, in ms since 1970. */
type IssuedToken = { readonly revocation: string; readonly issuedMs: number }

/** The hash of a token, and the secret of its record that has this hash. */
type KnownHash = {
  readonly id: string
  readonly sha256: string
  record: TokenRecord | undefined
  secret: TokenRecord['secrets'][number] | undefined
}

/** The tokens of one gateway. */
export class TokenBook {
  private readonly options: TokenBookOptions
  private readonly follower: Follower
  /** The version of the list, where it is followed. */
  private version = ''
  private list: readonly TokenRecord[] = []
  private readonly changes = new Changes()
  private byId: ReadonlyMap<string, TokenRecord> = new Map()
  private byIdentity: ReadonlyMap<string, TokenRecord> = new Map()
  /** Records of ClientTokens, by the SHA-256 of the token; others by that of the host's form. */
  private byHash: ReadonlyMap<string, TokenRecord> = new Map()
  /** Those of ClientTokens that name clients of issuers. */
  private subjects = new ObjectSubjects([])
  private visibilities: ReadonlyMap<TokenRecord, ClientVisibility> = new Map()
  private readonly hashes = new Map<string, KnownHash>()
  /** Identifiers of tokens and hashes of secrets that have expired. */
  private expired = new Set<string>()
  /** Whether the visibility of some token depends on the labels of namespaces. */
  usesLabels = false

  constructor(options: TokenBookOptions) {
    this.options = options
    const { elapsed } = options.clock
    const watch = (waitMs: number, seen: () => void): Promise<void> => this.watch(waitMs, seen)
    const waitMs = options.store.follow === undefined ? 0 : WAIT_MS
    this.follower = new Follower({ ...options, elapsed, watch, waitMs, refreshMs: REFRESH_MS })
  }

  /** Whether no list is in memory, and the store may give one. */
  get isCold(): boolean {
    return this.isEmpty && this.follower.state() !== 'away'
  }

  /** Whether the store has never answered. */
  get isEmpty(): boolean {
    return this.follower.sinceSeenMs() === Number.POSITIVE_INFINITY
  }

  /** Opens a watch of the list when it is time; returns the promise to keep alive. */
  follow(): Promise<void> | undefined {
    return this.follower.follow()
  }

  /** The list in memory; the same one until a record changes. */
  get records(): readonly TokenRecord[] {
    return this.list
  }

  /** Waits until memory has the store's list; false while the store is away. */
  look(): Promise<boolean> {
    return this.follower.look()
  }

  /** Resolves once the list is another one, or after `limitMs`. */
  changed(limitMs: number): Promise<void> {
    return this.changes.next(this.options.after, limitMs)
  }

  /** Reads the list, which has changed. Reports a failure and keeps the previous one. */
  async reload(): Promise<void> {
    await this.follower.relook()
  }

  /**
   * Finds a valid token by its text.
   * @param keepAlive keeps a watch of the list alive, beyond the response
   * @throws {HttpError} 503 when the list cannot be read, or not soon enough to refuse the token
   */
  async find(token: string, keepAlive?: KeepAlive): Promise<KnownToken | undefined> {
    const id = tokenId(token)
    if (id === undefined && !isFoundByHash(token)) return undefined
    const sha256 = this.hashes.get(token)?.sha256 ?? (await hashToken(token))
    const known = await this.known(() => {
      const record = id === undefined ? this.byHash.get(sha256) : this.byId.get(id)
      return record !== undefined && this.secretOf(record, sha256) !== undefined
        ? record
        : undefined
    }, keepAlive)
    if (known !== undefined) this.remember(token, { id: known.record.id, sha256 })
    else if (this.isOld()) throw unavailable()
    return known
  }

  /** As {@link find}, from memory: for a token that was found before, with a fresh list. */
  findAtOnce(token: string): KnownToken | undefined {
    const hash = this.hashes.get(token)
    if (hash === undefined || this.follower.sinceSeenMs() >= TRUST_MS) return undefined
    const record = this.byId.get(hash.id)
    if (record === undefined) return undefined
    // Compares secrets once for each list.
    if (record !== hash.record) {
      hash.record = record
      hash.secret = this.secretOf(record, hash.sha256)
    }
    const { secret } = hash
    return secret !== undefined && this.holds(secret.sha256, secret) ? this.seen(record) : undefined
  }

  /** As {@link findIdentity}, from memory, with a fresh list. */
  findIdentityAtOnce(identity: string): KnownToken | undefined {
    if (this.follower.sinceSeenMs() >= TRUST_MS) return undefined
    const record = this.byIdentity.get(identity)
    return record && this.seen(record)
  }

  /** As {@link find}, by a verified identity: `cert:…`, `access:…`. */
  findIdentity(identity: string, keepAlive: KeepAlive): Promise<KnownToken | undefined> {
    return this.known(() => this.byIdentity.get(identity), keepAlive)
  }

  /** As {@link find}, the token of a ClientToken that names a client whom no rule fits. */
  findSubject(client: UnruledSubject, keepAlive: KeepAlive): Promise<KnownToken | undefined> {
    return this.findListed(() => this.ofSubject(client), keepAlive)
  }

  /** As {@link findSubject}, from memory, with a fresh list. */
  findSubjectAtOnce(client: UnruledSubject): KnownToken | undefined {
    return this.follower.sinceSeenMs() < TRUST_MS ? this.ofSubject(client) : undefined
  }

  private ofSubject(client: UnruledSubject): KnownToken | undefined {
    return this.subjects.find(client, (record) => this.seen(record))
  }

  /** As {@link find}, by the identifier of a valid token, for the operator. */
  findById(id: string): Promise<KnownToken | undefined> {
    return this.known(() => this.byId.get(id))
  }

  /**
   * Returns whether a client that an issuer knows was revoked after its token was issued.
   * @throws {HttpError} as {@link find}
   */
  async isRevoked(client: IssuedToken, keepAlive: KeepAlive): Promise<boolean> {
    const known = await this.findIdentity(client.revocation, keepAlive)
    return known !== undefined && client.issuedMs < known.record.createdMs
  }

  /** As {@link isRevoked}, from memory; `undefined` without a fresh list. */
  isRevokedAtOnce({ revocation, issuedMs }: IssuedToken): boolean | undefined {
    if (this.follower.sinceSeenMs() >= TRUST_MS) return undefined
    const record = this.byIdentity.get(revocation)
    return record !== undefined && this.seen(record) !== undefined && issuedMs < record.createdMs
  }

  private known(
    find: () => TokenRecord | undefined,
    keepAlive?: KeepAlive,
  ): Promise<KnownToken | undefined> {
    return this.findListed(() => {
      const record = find()
      return record && this.seen(record)
    }, keepAlive)
  }

  /**
   * Finds something in the list of tokens, or in the directory: what is missing waits a moment for
   * newer ones.
   * @throws {HttpError} 503 when they cannot be read
   */
  async findListed<T>(find: () => T | undefined, keepAlive?: KeepAlive): Promise<T | undefined> {
    if (keepAlive !== undefined) keepFollowing(this.follower, keepAlive)
    if (this.follower.sinceSeenMs() >= TRUST_MS && !(await this.follower.look())) {
      throw unavailable()
    }
    const known = find()
    if (known !== undefined || !this.isOld()) return known
    await this.follower.look(NEWER_MS)
    return find()
  }

  /** Returns whether a newer list may exist. */
  private isOld(): boolean {
    const state = this.follower.state()
    return state === 'due' || state === 'away'
  }

  /** Finds the valid secret with a hash. */
  private secretOf({ secrets }: TokenRecord, sha256: string): KnownHash['secret'] {
    return secrets.find(
      (one) =>
        this.holds(one.sha256, one) &&
        (equalSecrets(one.sha256, sha256) || equalSecrets(one.hostSha256 ?? '', sha256)),
    )
  }

  private seen(record: TokenRecord): KnownToken | undefined {
    if (!this.holds(record.id, record)) return undefined
    const visibility = this.visibilities.get(record)
    return visibility && { record, visibility }
  }

  /** Returns whether a token or secret is valid. Setting the clock back revives none. */
  private holds(key: string, one: Pick<TokenRecord, 'expiresMs'>): boolean {
    if (one.expiresMs === undefined) return true
    if (isAlive(one, this.options.clock.now()) && !this.expired.has(key)) return true
    this.expired.add(key)
    return false
  }

  /** Checks all tokens against the clock, so that setting it back revives none. */
  private noteExpired(records: readonly TokenRecord[]): void {
    const expired = new Set<string>()
    for (const record of records) {
      if (!this.holds(record.id, record)) expired.add(record.id)
      for (const one of record.secrets) {
        if (!this.holds(one.sha256, one)) expired.add(one.sha256)
      }
    }
    this.expired = expired
  }

  private async watch(waitMs: number, seen: () => void): Promise<void> {
    const { store, directory, clusters } = this.options
    if (store.follow === undefined) {
      this.take(await store.list())
      const entries = await directory?.list()
      if (entries !== undefined) clusters?.take({ isWhole: true, entries, removed: [] })
      seen()
      return
    }
    await store.follow(this.version, waitMs, (update) => {
      if (update !== undefined) this.update(update)
      seen()
    })
  }

  private update(update: TokenUpdate): void {
    const { version, isWhole, records, removed, clusters: entries, removedClusters = [] } = update
    const next = new Map(isWhole ? [] : this.byId)
    for (const id of removed) next.delete(id)
    for (const record of records) next.set(record.id, record)
    if (isWhole || version !== this.version) this.take([...next.values()])
    const { clusters } = this.options
    clusters?.take({ isWhole, entries: entries ?? [], removed: removedClusters })
    // An object of an earlier build has no clusters: the one that follows it sends all of them.
    this.version = clusters !== undefined && entries === undefined ? '' : version
  }

  private take(records: readonly TokenRecord[]): void {
    this.noteExpired(records)
    if (isSameList(records, this.list)) return
    this.list = [...records]
    this.byId = new Map(records.map((record) => [record.id, record]))
    this.byIdentity = new Map(
      records.flatMap((record) => record.identities.map((identity) => [identity, record] as const)),
    )
    const known = new Map(
      [...this.visibilities.values()].map((visibility) => [visibility.id, visibility]),
    )
    const visibilities = new Map<TokenRecord, ClientVisibility>()
    const byHash = new Map<string, TokenRecord>()
    for (const record of records) {
      const cluster = objectCluster(record)
      // Without a visibility, a record counts for nothing.
      if (cluster !== undefined && this.options.takesObjects?.(cluster) !== true) continue
      for (const { sha256, hostSha256 } of record.secrets) {
        if (cluster !== undefined) byHash.set(sha256, record)
        if (hostSha256 !== undefined) byHash.set(hostSha256, record)
      }
      visibilities.set(record, this.visibilities.get(record) ?? visibilityIn(known, record))
    }
    this.visibilities = visibilities
    this.byHash = byHash
    this.subjects = new ObjectSubjects([...visibilities.keys()])
    this.usesLabels = records.some(({ scope }) => usesLabels(scope))
    this.changes.note()
  }

  /**
   * Hashing takes longer than an answer, so the hash of a valid token is remembered. Those of
   * invalid ones are not: clients that guess could fill the memory.
   */
  private remember(token: string, hash: { readonly id: string; readonly sha256: string }): void {
    if (this.hashes.size >= HASHES_MAX) this.hashes.clear()
    this.hashes.set(token, { ...hash, record: undefined, secret: undefined })
  }
}

/** Returns whether a text is a token without an identifier, whose hash finds its record. */
export function isFoundByHash(token: string): boolean {
  return isClientToken(token) || isHostToken(token)
}

function isSameList(a: readonly TokenRecord[], b: readonly TokenRecord[]): boolean {
  return a.length === b.length && a.every((record, i) => record === b[i])
}

function unavailable(): HttpError {
  return new HttpError(503, 'tokens_unavailable', 'Tokens cannot be checked at the moment', {
    'retry-after': '1',
  })
}

/** Returns what the client of a token may see: the same for the same grants. */
function visibilityIn(
  known: Map<string, ClientVisibility>,
  { scope }: TokenRecord,
): ClientVisibility {
  const id = JSON.stringify(scope)
  const visibility = known.get(id) ?? visibilityOf(scope)
  known.set(id, visibility)
  return visibility
}
