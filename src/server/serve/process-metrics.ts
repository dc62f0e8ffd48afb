/**
 * Metrics of the process and its sockets, read when somebody looks at them.
 * @module
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createSharedPause, withPauses } from '../../dns/bytes/steps.ts'
import { mergeMetrics } from '../../dns/telemetry/merge-metrics.ts'
import { type Metrics, metricInfo } from '../../dns/telemetry/metrics.ts'
import type { Listener } from '../../resolver/chain/listener.ts'
import { fileLimit } from '../node/file-limit.ts'
import { localAddresses, resolveBind } from '../node/local-addresses.ts'
import { NODE_TURNS } from '../node/node-turns.ts'
import { readProcessState } from '../node/process-state.ts'
import { socketsOf } from '../node/socket-table.ts'

/** The addresses of a listener, and its port. */
export type ListenPlace = Pick<Listener, 'transport' | 'addresses' | 'except' | 'port'>

/** Interval at which the event loop's lag is measured. */
const RESOLUTION_MS = 10

const CPU_SECONDS = metricInfo(
  'process_cpu_seconds_total',
  'Total user and system CPU time in seconds.',
)
const DROPS = metricInfo(
  'kubedoh_udp_dropped_total',
  'Datagrams that the kernel dropped, mostly because the receive buffer was full.',
  'address',
)
const RESIDENT = metricInfo('process_resident_memory_bytes', 'Resident memory size in bytes.')
const VIRTUAL = metricInfo('process_virtual_memory_bytes', 'Virtual memory size in bytes.')
const OPEN_FILES = metricInfo('process_open_fds', 'Number of open file descriptors.')
const FILES_MAX = metricInfo('process_max_fds', 'Maximum number of open file descriptors.')
const RESOURCES = metricInfo(
  'nodejs_active_resources',
  'Sockets, timers and requests that keep the event loops of all threads alive, by type. A leak ' +
    'of them shows here, as one of goroutines does in go_goroutines, which counts other things.',
  'type',
)
const HEAP = metricInfo(
  'nodejs_heap_size_used_bytes',
  'Process heap size used from Node.js in bytes.',
)
const STARTED = metricInfo(
  'process_start_time_seconds',
  'Start time of the process since unix epoch in seconds.',
)
const LAG_P50 = metricInfo(
  'nodejs_eventloop_lag_p50_seconds',
  'Lag of the event loop since the previous scrape, p50.',
)
const LAG_P99 = metricInfo(
  'nodejs_eventloop_lag_p99_seconds',
  'Lag of the event loop since the previous scrape, p99.',
)
const LAG_MAX = metricInfo(
  'nodejs_eventloop_lag_max_seconds',
  'Lag of the event loop since the previous scrape, max.',
)

type Delays = ReturnType<typeof monitorEventLoopDelay>

let delays: Delays | undefined

/** Formats all metrics, after updating those of the process and of its sockets. */
export async function formatMetrics(
  metrics: Metrics,
  listeners: readonly ListenPlace[] = [],
): Promise<string> {
  const { rss, heapUsed } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  metrics.gauge(RESIDENT).value = rss
  metrics.gauge(HEAP).value = heapUsed
  metrics.counter(CPU_SECONDS).value = (user + system) / 1e6
  metrics.gauge(STARTED).value = Math.round((Date.now() - process.uptime() * 1000) / 1000)
  await Promise.all([setLimits(metrics), countDrops(metrics, listeners)])
  return formatThreadMetrics(metrics)
}

/**
 * Formats the metrics of one thread, with the lag of its event loop since the last call; the first
 * call starts the measurement. Names are those of prom-client.
 */
export async function formatThreadMetrics(metrics: Metrics): Promise<string> {
  delays ??= startDelays()
  // The monitor reports the time between its timer's runs, which includes the interval itself.
  const lag = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000)
  metrics.gauge(LAG_P50).value = lag(delays.percentile(50))
  metrics.gauge(LAG_P99).value = lag(delays.percentile(99))
  metrics.gauge(LAG_MAX).value = lag(delays.max)
  delays.reset()
  metrics.clear(RESOURCES.name)
  for (const type of process.getActiveResourcesInfo()) metrics.gauge(RESOURCES, [type]).value++
  const pause = createSharedPause(NODE_TURNS)
  const texts: string[] = []
  for (const text of metrics.texts()) {
    texts.push(text)
    const paused = pause()
    if (paused !== undefined) await paused
  }
  return texts.join('')
}

/** Merges the metrics of threads, as `mergeMetrics` does, while queries are answered. */
export function mergeInSlices(texts: readonly string[]): Promise<string> {
  return withPauses(mergeMetrics(texts), createSharedPause(NODE_TURNS))
}

/** Sets what only Linux reports; elsewhere there are no such metrics. */
async function setLimits(metrics: Metrics): Promise<void> {
  const { openFiles, virtualBytes } = await readProcessState()
  const filesMax = fileLimit()
  if (openFiles !== undefined) metrics.gauge(OPEN_FILES).value = openFiles
  if (Number.isFinite(filesMax)) metrics.gauge(FILES_MAX).value = filesMax
  if (virtualBytes !== undefined) metrics.gauge(VIRTUAL).value = virtualBytes
}

function startDelays(): Delays {
  const started = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  started.enable()
  return started
}

/** Sets the counters of drops: one for each local address and port that answers over UDP. */
async function countDrops(metrics: Metrics, listeners: readonly ListenPlace[]): Promise<void> {
  const places = listeners.flatMap(({ transport, addresses, except, port }) => {
    if (transport !== 'dns') return []
    const own = addresses.length > 0 ? resolveBind(addresses, except) : localAddresses()
    return own.map((address) => placeOf(address.replace(/%.*$/, ''), port))
  })
  if (places.length === 0) return
  const drops = new Map(places.map((place) => [place, 0]))
  const pause = createSharedPause(NODE_TURNS)
  for await (const row of socketsOf('udp')) {
    const paused = pause()
    if (paused !== undefined) await paused
    const place = placeOf(row.address, row.port)
    const before = drops.get(place)
    if (before !== undefined) drops.set(place, before + row.drops)
  }
  for (const [place, count] of drops) metrics.counter(DROPS, [place]).value = count
}

function placeOf(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}
