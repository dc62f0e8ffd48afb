/**
 * The routes that replicas follow: gateways that answer from this one's snapshots and tokens.
 * @module
 */
import type { Context, MiddlewareHandler } from 'hono'
import { Hono } from 'hono/tiny'
import { sha256Hex } from '../../snapshot/format/signature.ts'
import { carriesToken, unauthorized } from '../access/operators.ts'
import type { TokenRecord } from '../access/token.ts'
import { formatTokenUpdate } from '../access/token-store.ts'
import type { GatewayConfig } from '../config/config.ts'
import { HttpError } from '../doh/http-error.ts'
import { uncached } from '../doh/json-response.ts'
import { manifestTag, PINNED_HEADER, type Primary, REPLICAS_HEADER } from '../snapshots/primary.ts'
import { readShardHash, SIGNATURE_HEADER } from '../snapshots/publish-routes.ts'
import type { SnapshotFollower } from '../snapshots/snapshot-follower.ts'
import { keepFollowing } from '../timing/follower.ts'
import type { Gateway, GatewayRuntime } from './gateway.ts'

/** How long a request may wait: some proxies and servers end a silent one after 15 s. */
const WAIT_SECONDS_MAX = 10
/** Most requests that wait at a time; further ones get what there is, as without a wait. */
const WAITS_MAX = 256
/** How often a store is read for those who wait, where it does not report its changes. */
const POLL_MS = 250
/** A shard never changes. It has names, so that only caches of one client may keep it. */
const FOREVER = 'private, max-age=31536000, immutable'
const RETRY_SECONDS = '1'

/** What the routes need. */
type ReplicaRoutesOptions = {
  readonly config: Pick<GatewayConfig, 'replicaSha256s'>
  readonly runtime: Pick<GatewayRuntime, 'host' | 'originOf'> & { readonly primary?: Primary }
  readonly gateway: Pick<Gateway, 'zones' | 'admission' | 'keepAlive'>
}

/** Something that a replica reads whole; each version has another tag. */
type Version = {
  readonly etag: string
  readonly body: Uint8Array | string
  readonly headers: Readonly<Record<string, string>>
}

/** What follows the versions, as `Follower` does, and waits for them. */
type Feed = {
  readonly follow: () => Promise<void> | undefined
  /** Whether the origin has never answered. */
  readonly isEmpty: boolean
  readonly look: () => Promise<boolean>
  readonly changed: (limitMs: number) => Promise<void>
}

/**
 * Creates the app with the routes of replicas. Refuses the token of a replica at all other routes
 * below `/v1/` that are added later.
 */
export function createReplicaRoutes(options: ReplicaRoutesOptions): Hono {
  const app = new Hono()
  const { config, runtime, gateway } = options
  const { zones, admission } = gateway
  const { primary } = runtime
  const hold = createHold(options)
  const authorize: MiddlewareHandler = async (c, next) => {
    if (!(await carriesToken(c, config.replicaSha256s))) {
      throw unauthorized("A replica's token is needed")
    }
    await admission.count('replica')
    await next()
    if (primary !== undefined) c.res.headers.set(REPLICAS_HEADER, primary.replicas.join(' '))
  }
  app.get('/v1/clusters/:id/manifest', authorize, async (c) => {
    const follower = zones.followerOf(c.req.param('id'))
    if (follower === undefined) throw unknownCluster()
    return hold(c, follower, async () => manifestVersion(follower))
  })
  app.get('/v1/clusters/:id/shards/:sha256', authorize, async (c) => {
    const id = c.req.param('id')
    if (zones.followerOf(id) === undefined) throw unknownCluster()
    const sha256 = readShardHash(c)
    const bytes = await runtime.originOf(id).readShard(sha256)
    if (bytes === undefined) throw new HttpError(404, 'unknown_shard', 'There is no such shard')
    const type = { 'content-type': 'application/octet-stream' }
    const headers = { ...type, 'cache-control': FOREVER, etag: `"${sha256}"` }
    return uncached(200, new Uint8Array(bytes), headers)
  })
  app.get('/v1/token-list', authorize, (c) => {
    const { tokens } = admission
    return hold(c, tokens, async (isSeen) => {
      // A list that may be old would admit what the operator has revoked.
      if (!isSeen) throw unavailable()
      return tokenVersion(tokens.records)
    })
  })
  app.use('/v1/*', async (c, next) => {
    const isRefused = config.replicaSha256s.length > 0
    if (isRefused && (await carriesToken(c, config.replicaSha256s))) {
      const message = "A replica's token reads manifests, shards and the list of tokens only"
      throw new HttpError(403, 'replica_token', message)
    }
    await next()
  })
  return app
}

type Hold = (
  c: Context,
  feed: Feed,
  read: (isSeen: boolean) => Promise<Version | undefined>,
) => Promise<Response>

/**
 * Returns a function that answers with a version, or with 304 where the request has it: at once,
 * or when `Prefer: wait` (RFC 7240 §4.3) wants it, after a change.
 */
function createHold({ runtime: { host, primary }, gateway }: ReplicaRoutesOptions): Hold {
  let waits = 0
  return async (c, feed, read) => {
    const known = (c.req.header('if-none-match') ?? '').split(/,\s*/)
    const seconds = waits < WAITS_MAX ? readWait(c.req.header('prefer')) : 0
    const endMs = host.elapsed() + 1000 * seconds
    waits++
    try {
      for (;;) {
        keepFollowing(feed, (promise) => gateway.keepAlive(c, promise))
        // Replicas that follow each other would wait for each other.
        const isSeen = !(primary !== undefined && feed.isEmpty) && (await feed.look())
        const version = await read(isSeen)
        if (version === undefined && !isSeen) throw unavailable()
        const isNew = version !== undefined && !known.includes(version.etag)
        const restMs = endMs - host.elapsed()
        if (isNew || restMs <= 0) return respond(version, isNew, seconds)
        await feed.changed(Math.min(restMs, POLL_MS))
      }
    } finally {
      waits--
    }
  }
}

/** Reads the seconds of `Prefer: wait=N`, to a bound; 0 without. */
function readWait(prefer = ''): number {
  const [, digits = '0'] = /(?:^|[,;\s])wait\s*=\s*"?(\d+)/i.exec(prefer) ?? []
  return Math.min(Number(digits), WAIT_SECONDS_MAX)
}

function respond(version: Version | undefined, isNew: boolean, seconds: number): Response {
  if (version === undefined) throw new HttpError(404, 'nothing_yet', 'Nothing is published yet')
  const { etag, body } = version
  const applied = { ...(seconds > 0 && { 'preference-applied': `wait=${seconds}` }) }
  if (!isNew) return uncached(304, null, { ...applied, etag })
  const headers = { 'content-type': 'application/json', ...version.headers, ...applied, etag }
  return uncached(200, typeof body === 'string' ? body : new Uint8Array(body), headers)
}

function manifestVersion({ served }: SnapshotFollower): Version | undefined {
  if (served === undefined) return undefined
  const { manifest, version } = served
  const { bytes, signature, isPinned } = manifest
  return {
    etag: `"${manifestTag(version)}"`,
    body: bytes,
    headers: { [SIGNATURE_HEADER]: signature, ...(isPinned && { [PINNED_HEADER]: 'true' }) },
  }
}

const versions = new WeakMap<readonly TokenRecord[], Promise<Version>>()

/** Formats each list once. */
function tokenVersion(records: readonly TokenRecord[]): Promise<Version> {
  const known = versions.get(records) ?? formatTokens(records)
  versions.set(records, known)
  return known
}

/** Leaves out the days of use, which would change the list with each token's first use of a day. */
async function formatTokens(all: readonly TokenRecord[]): Promise<Version> {
  const records = all.map(({ usedDay, ...record }) => record)
  const version = await sha256Hex(new TextEncoder().encode(JSON.stringify(records)))
  const body = formatTokenUpdate({ version, isWhole: true, records, removed: [] })
  return { etag: `"${version}"`, body, headers: {} }
}

function unknownCluster(): HttpError {
  return new HttpError(404, 'unknown_cluster', 'CLUSTERS has no cluster with this identifier')
}

function unavailable(): HttpError {
  const message = 'This gateway has nothing to send yet'
  return new HttpError(503, 'not_ready', message, { 'retry-after': RETRY_SECONDS })
}
