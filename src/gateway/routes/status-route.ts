/**
 * The operator's route that reports what the writer of each cluster has: a look at the whole
 * gateway, whichever process or isolate answers.
 * @module
 */
import type { Context } from 'hono'
import { Hono } from 'hono/tiny'
import { errorText } from '../../dns/bytes/unknown.ts'
import { checkReader } from '../access/operators.ts'
import type { GatewayConfig } from '../config/config.ts'
import { jsonResponse } from '../doh/json-response.ts'
import type { ClusterHistory } from '../snapshots/publish-routes.ts'
import { LoadTimeoutError, within } from '../timing/within.ts'
import type { Gateway, GatewayRuntime } from './gateway.ts'

/** Clusters of a page. */
const CLUSTERS_MAX = 24
/** Clusters that are asked at a time: a Worker has six connections for a request. */
const AT_ONCE = 6
/** How long a cluster's writer may take; a page takes 8 s at most. */
const ANSWER_MS = 2000

/** What the route needs of the configuration. */
type StatusConfig = Pick<GatewayConfig, 'adminSha256s' | 'readOnlySha256s' | 'times'>

/** Creates the app with `/v1/status`. */
export function createStatusRoute(
  config: StatusConfig,
  { writerOf, host }: Pick<GatewayRuntime, 'writerOf' | 'host'>,
  { admission, clusters: known }: Pick<Gateway, 'admission' | 'clusters'>,
): Hono {
  const app = new Hono()
  const statusOf = async (cluster: string, c: Context): Promise<object> => {
    try {
      const history = async (): Promise<ClusterHistory> => writerOf(cluster, c).history()
      const { value } = await within(host.after, history(), ANSWER_MS)
      return { cluster, ...describe(value, config.times, host.now()) }
    } catch (error) {
      if (error instanceof LoadTimeoutError) return { cluster, state: 'no_answer' }
      const message = 'cannot read the state of a cluster'
      host.log({ level: 'error', message, cluster, error: errorText(error) })
      return { cluster, state: 'failed' }
    }
  }
  app.get('/v1/status', async (c) => {
    const mayRead = await checkReader(c, config)
    const after = c.req.query('after') ?? ''
    // While the directory cannot be read, those in memory are what there is to ask.
    await admission.load()
    const ids = known
      .ids()
      .filter((id) => id > after && mayRead(id))
      .sort()
    const page = ids.slice(0, CLUSTERS_MAX)
    const clusters: object[] = []
    for (let start = 0; start < page.length; start += AT_ONCE) {
      const some = page.slice(start, start + AT_ONCE)
      clusters.push(...(await Promise.all(some.map((id) => statusOf(id, c)))))
    }
    return jsonResponse(200, { clusters, next: page.length < ids.length ? page.at(-1) : null })
  })
  return app
}

function describe(
  { manifests, served, pinned, followers }: ClusterHistory,
  { staleMs, expireMs }: GatewayConfig['times'],
  nowMs: number,
): object {
  const manifest = manifests.find(({ generation }) => generation === served)
  if (manifest === undefined) return { state: 'nothing_yet' }
  const { generation, time, records, shards } = manifest
  const ageMs = Math.max(0, nowMs - Date.parse(time))
  const isPinned = pinned !== undefined
  return {
    // A pinned generation does not expire.
    state: ageMs < staleMs ? 'fresh' : ageMs < expireMs || isPinned ? 'stale' : 'expired',
    generation,
    isPinned,
    newest: manifests[0]?.generation ?? generation,
    time,
    ageSeconds: Math.round(ageMs / 1000),
    records,
    shards: shards.length,
    bytes: shards.reduce((sum, { bytes }) => sum + bytes, 0),
    followers: followers ?? null,
  }
}
