/**
 * The host of plugins where there are Web APIs only, as on Cloudflare Workers.
 * @module
 */

import { createElapsed } from '../dns/telemetry/elapsed.ts'
import { formatLogEvent, type Log, type LogEvent, sampledLog } from '../dns/telemetry/log.ts'
import { Metrics } from '../dns/telemetry/metrics.ts'
import { checkWorkerUpstream } from '../gateway/config/compile-corefile.ts'
import { readVariableFiles, type VariableFiles } from '../gateway/config/variable-files.ts'
import { askDoh } from '../gateway/doh/doh-client.ts'
import type { GatewayRuntime } from '../gateway/routes/gateway.ts'
import type { Upstream, UpstreamClient, UpstreamOptions } from '../resolver/contract/host.ts'
import { bindPlugins } from '../resolver/contract/plugin-entry.ts'
import { EDGE_PLUGINS } from '../resolver/plugins/edge-plugins.ts'

/** Memory of an isolate (developers.cloudflare.com/workers/platform/limits). */
const MEMORY_BYTES = 128 * 1024 * 1024

/** Options of a host. */
export type WebHostOptions = {
  /** The runtime's name, for metrics. */
  readonly runtime: string
  /** Files that variables have (default: none). */
  readonly files?: Omit<VariableFiles, 'source'>
  /** Receives log events (default: the console, sampled, as JSON lines). */
  readonly log?: Log
}

/** Creates the host of one process or isolate. */
export function createWebHost({
  runtime,
  files = readVariableFiles({}),
  log,
}: WebHostOptions): GatewayRuntime['host'] {
  const elapsed = createElapsed({ wall: Date.now, monotonic: () => performance.now() })
  return {
    plugins: bindPlugins(EDGE_PLUGINS, { memoryLimitBytes: MEMORY_BYTES }),
    isolatesRequests: true,
    hostname: 'localhost',
    runtime,
    now: Date.now,
    elapsed,
    awake: () => performance.now(),
    random16: () => crypto.getRandomValues(new Uint16Array(1))[0] ?? 0,
    after: (delayMs, task) => {
      const timer = setTimeout(task, delayMs)
      return () => clearTimeout(timer)
    },
    nextTurn: () => new Promise((resolve) => setTimeout(resolve, 0)),
    readText: files.readText,
    listFiles: files.listFiles,
    readFile: files.readFile,
    fileState: files.fileState,
    openUpstream,
    // The platform manages certificates.
    checkIdentity: () => undefined,
    metrics: new Metrics(),
    log: log ?? sampledLog({ log: logEvent, now: elapsed }),
    print: (line) => console.log(line),
    abort: logError,
  }
}

function logEvent(event: LogEvent): void {
  console.log(formatLogEvent(event, Date.now()))
}

/** Writes an error to the console. */
export function logError(message: string): void {
  console.error(message)
}

/** Web APIs have no UDP: queries to upstreams go over HTTPS, by the platform's connections. */
function openUpstream(upstream: Upstream, options: UpstreamOptions): UpstreamClient {
  const url = checkWorkerUpstream(upstream, options)
  const { dohMethod: method } = options
  return {
    exchange: (message, { timeoutMs, signal }) =>
      askDoh(url, message, {
        fetch: (to, request) => fetch(to, request),
        signal: AbortSignal.any([
          AbortSignal.timeout(Math.ceil(timeoutMs)),
          ...(signal ? [signal] : []),
        ]),
        method,
        token: upstream.token,
      }),
    close: () => undefined,
  }
}
