/**
 * A thousand isolates that follow one object: how many calls that takes, and how soon all see a
 * change.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { FollowedCluster } from '../followed-cluster.ts'
import { benchGatewayOf, publisherTo } from '../gateway-servers.ts'
import { type Row, row } from '../row.ts'
import type { Seen } from '../servers/edge-followers.ts'
import { partOf, setEdge, startEdge } from './edge-gateway.ts'

const IS_QUICK = process.env.BENCH_QUICK === '1'
const FOLLOWERS = IS_QUICK ? 100 : 1000
const CHANGES = IS_QUICK ? 10 : 30
const RECORDS = 100_000
const CHANGE_EVERY_MS = 1000
/** Beyond the last change. */
const REST_MS = 3000
/** Isolates begin at different times. */
const STARTS_MS = 16_000
const CALLS_MAX = 300
const P99_MS_MAX = 1000

/** What was measured. */
type FollowerMeasure = {
  readonly rows: Row[]
  /** Of one follower, and of who publishes. */
  readonly callsPerSecond: number
}

/** Measures. */
export async function measureFollowers(): Promise<FollowerMeasure> {
  const cluster = new FollowedCluster(RECORDS)
  const { keys, variables } = await benchGatewayOf()
  const gateway = await startEdge({ variables })
  const publisher = await publisherTo(gateway.url, keys)
  const publish = async (): Promise<number> => {
    const facts = { sources: {}, confirmedMs: Date.now() }
    return (await publisher.publish(cluster.build(), facts))?.generation ?? 0
  }
  await publish()
  const untilMs = Date.now() + STARTS_MS + CHANGES * CHANGE_EVERY_MS + REST_MS
  const wanted = { count: FOLLOWERS, startsMs: STARTS_MS, untilMs, publicKey: keys.publicKey }
  const following = followedBy(gateway.url, wanted)
  await sleep(STARTS_MS)
  await setEdge(gateway)
  const startMs = performance.now()
  const publishedMs = new Map<number, number>()
  for (let i = 0; i < CHANGES; i++) {
    cluster.dropEndpoint(cluster.nextService())
    const begunMs = Date.now()
    publishedMs.set(await publish(), begunMs)
    await sleep(Math.max(0, startMs + CHANGE_EVERY_MS * (i + 1) - performance.now()))
  }
  const { calls } = await setEdge(gateway)
  const seconds = (performance.now() - startMs) / 1000
  const seen = await following
  await gateway.stop()
  const waits = seen
    .map(([generation, ms]) => ms - (publishedMs.get(generation) ?? Number.NaN))
    .filter((ms) => !Number.isNaN(ms))
  const metric = `${FOLLOWERS.toLocaleString('en-US')} followers, a change a second`
  const part = (100 * waits.length) / (FOLLOWERS * CHANGES)
  const rate = calls / seconds
  const rows = [
    row('edge', `${metric}: calls to the object`, '/s', rate, { atMost: CALLS_MAX }),
    row('edge', 'the same: change → seen, p99', 'ms', partOf(waits, 0.99), { atMost: P99_MS_MAX }),
    row('edge', 'the same: changes that a follower sees', '%', part),
  ]
  return { rows, callsPerSecond: rate / FOLLOWERS }
}

/** Has followers in the Worker's process follow; resolves with what they saw. */
async function followedBy(
  url: string,
  wanted: Readonly<Record<string, string | number>>,
): Promise<readonly Seen[]> {
  const search = new URLSearchParams(
    Object.entries(wanted).map(([name, value]) => [name, String(value)]),
  )
  const seen: unknown = await (await fetch(`${url}/bench/followers?${search}`)).json()
  if (!Array.isArray(seen)) throw new TypeError('Not a list')
  return seen.map(([generation, ms]): Seen => [Number(generation), Number(ms)])
}
