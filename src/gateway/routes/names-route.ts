/**
 * The route that lists the zones and the names that a token sees, for people who browse them.
 * @module
 */
import type { Context } from 'hono'
import { Hono } from 'hono/tiny'
import { isReverseZone } from '../../corefile/kubernetes-options.ts'
import { concatBytes } from '../../dns/bytes/bytes.ts'
import { createSharedPause } from '../../dns/bytes/steps.ts'
import { formatName, lowerName, parseName, ROOT, tailOffset } from '../../dns/names/name.ts'
import type { Client } from '../../resolver/contract/client.ts'
import type { Host } from '../../resolver/contract/host.ts'
import type { MaybePromise } from '../../resolver/contract/maybe-promise.ts'
import type { Shard } from '../../snapshot/read/shard.ts'
import { infoFor } from '../../snapshot/read/snapshot.ts'
import { tooMany } from '../access/rate-limiter.ts'
import { HttpError } from '../doh/http-error.ts'
import { jsonResponse } from '../doh/json-response.ts'
import type { ClusterZone } from '../snapshots/cluster-zones.ts'
import { NameList, type NamePage, UNIT_LABELS } from '../snapshots/name-list.ts'
import { Mutex } from '../snapshots/store.ts'
import { visitShards } from '../snapshots/whole-snapshot.ts'
import type { Gateway } from './gateway.ts'

const LIMIT_DEFAULT = 100
/** Rounds of one request through all names: with 100,000 names, each takes some 60 ms. */
const ROUNDS_MAX = 10
/** Most names of a page. */
const LIMIT_MAX = 500
/** Most characters of a search. */
const SEARCH_MAX = 253
/**
 * Most listings under way; all but one wait, but not in a Worker. Each takes some 0.1 s for 100,000
 * Services.
 */
const WAITING_MAX = 64
/** How long a listing of a Worker counts that does not end: no request has more CPU time. */
const COUNTED_MS = 30_000

type Runtime = { readonly host: Pick<Host, 'nextTurn' | 'elapsed' | 'isolatesRequests'> }
type Part = ClusterZone['parts'][number]

/** Creates the app with `/v1/names`. */
export function createNamesRoute(gateway: Gateway, { host }: Runtime): Hono {
  const app = new Hono()
  const bounded = host.isolatesRequests ? sideBySide(host) : inTurns()
  app.get('/v1/names', async (c) => {
    const client = await gateway.admission.admitBrowser(c)
    const parameters = new URL(c.req.url).searchParams
    const zones = await seenZones(gateway, client, c)
    const under = readName(parameters, 'under')
    if (under === undefined) {
      return jsonResponse(200, { zones: await Promise.all(zones.map((z) => describe(z, client))) })
    }
    const served = zones.find(({ zone }) => tailOffset(under, zone.bytes) >= 0)
    if (served === undefined) {
      throw new HttpError(404, 'unknown_zone', 'The token sees no zone of a cluster at this name')
    }
    const page = readPage(parameters, under, served)
    const isReached = gateway.reachFrom(served.zone.bytes, client, c)
    // A zone within this one has its own names.
    const isOwn = (name: Uint8Array): MaybePromise<boolean> =>
      gateway.zones.closest(name)?.zone === served.zone && isReached(name)
    const read = { ...page, namespaces: client.visibility?.namespaces }
    const found = await bounded(() =>
      readNames(read, { served, under: page.under, pause: createSharedPause(host), isOwn }),
    )
    return jsonResponse(200, { under: formatName(under), ...found })
  })
  return app
}

type Bounded = <T>(step: () => Promise<T>) => Promise<T>

/**
 * Returns a function that runs listings side by side, for a Worker, where no request may wait for
 * another: a cancelled one never ends, so each counts for a while only. Throws 429 for too many.
 */
function sideBySide({ elapsed }: Pick<Host, 'elapsed'>): Bounded {
  const running = new Set<{ readonly begunMs: number }>()
  return async (step) => {
    const own = { begunMs: elapsed() }
    for (const one of running) if (own.begunMs - one.begunMs >= COUNTED_MS) running.delete(one)
    if (running.size >= WAITING_MAX) throw tooMany()
    running.add(own)
    try {
      return await step()
    } finally {
      running.delete(own)
    }
  }
}

/**
 * Returns a function that runs one listing at a time, so that queries wait for a slice of one only.
 * Throws 429 if too many wait.
 */
function inTurns(): Bounded {
  const mutex = new Mutex()
  let waiting = 0
  return async (step) => {
    if (waiting === WAITING_MAX) throw tooMany()
    waiting++
    try {
      return await mutex.run(step)
    } finally {
      waiting--
    }
  }
}

/**
 * Reads the names of a page that the client's queries reach. `next` is never another name: a page
 * without such a name is skipped, up to `ROUNDS_MAX` of them.
 */
async function readNames(
  page: NamePage,
  from: Collecting & { readonly isOwn: (name: Uint8Array) => MaybePromise<boolean> },
): Promise<{
  readonly names: readonly { readonly name: string; readonly types: readonly string[] }[]
  readonly next: string | null
  readonly isWhole: boolean
}> {
  let { after, limit } = page
  for (let roundsLeft = ROUNDS_MAX; roundsLeft > 0; roundsLeft--) {
    const list = new NameList({ ...page, after, limit })
    const isWhole = await collect(list, from)
    const { names: listed, hasMore } = list.finish()
    const own = []
    for (const { labels, types } of listed) {
      await from.pause()
      const name = concatBytes(labels, from.served.zone.bytes)
      if (await from.isOwn(name)) own.push({ name: formatName(name), types })
    }
    const names = own.slice(0, page.limit)
    const last = names.at(-1)
    if (last !== undefined || !hasMore) {
      const isLast = !hasMore && names.length === own.length
      return { names, next: isLast || last === undefined ? null : last.name, isWhole }
    }
    after = listed.at(-1)?.labels
    // Each round reads all names, so the following ones skip as many as they may.
    limit = LIMIT_MAX
  }
  return { names: [], next: null, isWhole: false }
}

/** Returns the zones that a client sees, without clusters that it does not, and reverse zones. */
async function seenZones(gateway: Gateway, client: Client, c: Context): Promise<ClusterZone[]> {
  const { visibility } = client
  const seen: ClusterZone[] = []
  gateway.zones.openAll(visibility)
  for (const served of gateway.zones.all) {
    const { zone, parts } = served
    const own = parts.filter(
      ({ cluster }) => visibility === undefined || visibility.seesOrigin(cluster, zone.bytes),
    )
    if (own.length === 0 || isReverseZone(zone.bytes)) continue
    const isReached = gateway.reachFrom(zone.bytes, client, c)
    if (await isReached(zone.bytes)) seen.push({ ...served, parts: own })
  }
  return seen
}

/** Describes a zone, and how fresh each of its clusters is. */
async function describe({ zone, parts }: ClusterZone, { visibility }: Client): Promise<object> {
  const namespaces = visibility?.namespaces
  const clusters = parts.map(async ({ cluster, tree, reader }) => {
    const snapshot = reader.current() ?? (await reader.load())
    const info = snapshot && infoFor(snapshot, namespaces)
    const ageMs = reader.ageMs(namespaces)
    return {
      cluster,
      tree,
      freshness: info === undefined ? 'missing' : reader.freshness(namespaces),
      generation: info?.generation ?? null,
      ageSeconds: Number.isFinite(ageMs) ? Math.round(ageMs / 1000) : null,
    }
  })
  return { zone: formatName(zone.bytes), clusters: await Promise.all(clusters) }
}

function readPage(
  parameters: URLSearchParams,
  under: Uint8Array,
  { zone }: ClusterZone,
): Omit<NamePage, 'namespaces'> {
  const search = (parameters.get('search') ?? '').trim().toLowerCase()
  if (search.length > SEARCH_MAX) throw bad('search', `is over ${SEARCH_MAX} characters`)
  const limit = parameters.get('limit') ?? String(LIMIT_DEFAULT)
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > LIMIT_MAX) {
    throw bad('limit', `is not a number from 1 to ${LIMIT_MAX}`)
  }
  const after = readName(parameters, 'after')
  const size = after === undefined ? 0 : tailOffset(after, zone.bytes)
  if (size < 0) throw bad('after', `is not below ${formatName(zone.bytes)}`)
  return {
    under: under.subarray(0, tailOffset(under, zone.bytes)),
    search,
    after: after?.subarray(0, size),
    limit: Number(limit),
  }
}

function readName(parameters: URLSearchParams, parameter: string): Uint8Array | undefined {
  const text = parameters.get(parameter)
  if (text === null || text === '') return undefined
  const name = parseName(text)
  if (name === undefined) throw bad(parameter, 'is not a domain name')
  return lowerName(name)
}

function bad(parameter: string, problem: string): HttpError {
  return new HttpError(400, 'bad_parameter', `Parameter "${parameter}" ${problem}`)
}

type Collecting = {
  readonly served: ClusterZone
  readonly under: Uint8Array
  readonly pause: () => Promise<void> | undefined
}

/** Adds the names of all clusters of a zone. @returns whether all of them could be read */
async function collect(list: NameList, { served, under, pause }: Collecting): Promise<boolean> {
  let isWhole = true
  for (const part of served.parts) {
    // Names in the tree of an etcd are hashes.
    if (part.tree === 'etcd') continue
    const only = part.tree !== 'hosts' && unitOf(under)
    const add = (shard: Shard): void => addTo(list, part, shard, served.zone.bytes)
    if (!(await visitShards(part.reader, add, { pause, unit: only || undefined }))) isWhole = false
  }
  return isWhole
}

function addTo(list: NameList, { tree }: Part, shard: Shard, zone: Uint8Array): void {
  if (tree !== 'hosts') {
    list.add(shard)
    return
  }
  list.addHosts(shard, (labels) => {
    const size = tailOffset(concatBytes(labels, ROOT), zone)
    const relative = labels.subarray(0, Math.max(0, size))
    // As in k8s_gateway, an absolute hostname also exists below each zone, where nobody queries it.
    const isRepeated = zone.length > 1 && tailOffset(concatBytes(relative, ROOT), zone) >= 0
    return size < 0 || isRepeated ? undefined : relative
  })
}

/** Returns the labels that select the only shard with names below `under`; `undefined` for all. */
function unitOf(under: Uint8Array): Uint8Array | undefined {
  let count = 0
  for (let at = 0; at < under.length; at += (under[at] ?? 0) + 1) count++
  return count < UNIT_LABELS ? undefined : under
}
