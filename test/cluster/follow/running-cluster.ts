/**
 * A live cluster for tests, with a scripted API server and a fake clock.
 * @module
 */
import type { TestContext } from 'vitest'
import { SharedWatch } from '../../../src/cluster/api/shared-watch.ts'
import { LiveCluster } from '../../../src/cluster/follow/live-cluster.ts'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import { optionsOf } from '../naming.ts'
import { FakeClock } from './fake-clock.ts'
import { ScriptedApi, SHOP_LISTS } from './scripted-api.ts'
import { namesIn } from './snapshots.ts'

export const RESOURCES: readonly string[] = Object.keys(SHOP_LISTS)
export const STALE_MS = 60_000
export const STARTUP_MS = 5000
export const NAMES: readonly string[] = ['web.shop.svc', 'db.shop.svc']
export const DB: string = `{
  metadata: { namespace: shop, name: db, resourceVersion: "9" },
  spec: { clusterIP: 192.0.2.11 },
}`

/** The cluster, and what it depends on. */
export type Running = {
  readonly api: ScriptedApi
  readonly clock: FakeClock
  readonly live: LiveCluster
  /** Those of NAMES that the newest snapshot has. */
  readonly names: () => string[]
  readonly generation: () => number | undefined
  readonly messages: string[]
  readonly metrics: Metrics
}

/** Starts a cluster, which stops with its test. */
export function start(t: TestContext): Running {
  const api = new ScriptedApi()
  const clock = new FakeClock()
  const messages: string[] = []
  const onWarning = (message: string): number => messages.push(`warning: ${message}`)
  const onError = (message: string): number => messages.push(`error: ${message.replace(/;.*/, '')}`)
  const { sleep, now, elapsed } = clock
  const shared = new SharedWatch({ api, onWarning, onError, sleep, random: () => 1, elapsed })
  const metrics = new Metrics()
  const limits = { staleMs: STALE_MS, startupMs: STARTUP_MS }
  const naming = optionsOf()
  const live = new LiveCluster({
    shared,
    naming,
    now,
    elapsed,
    onWarning,
    onError,
    metrics,
    sleep,
    ...limits,
  })
  live.start()
  t.onTestFinished(() => live.stop())
  return {
    api,
    clock,
    live,
    names: () => namesIn(live.current(), NAMES),
    generation: () => live.current()?.info.generation,
    messages,
    metrics,
  }
}
