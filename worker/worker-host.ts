/**
 * The runtime of plugins on Cloudflare Workers.
 * @module
 */

import { createElapsed } from '../src/dns/telemetry/elapsed.ts'
import { formatLogEvent, sampledLog } from '../src/dns/telemetry/log.ts'
import { Metrics } from '../src/dns/telemetry/metrics.ts'
import { checkWorkerUpstream } from '../src/gateway/config/compile-corefile.ts'
import { readVariableFiles, type VariableFiles } from '../src/gateway/config/variable-files.ts'
import { askDoh } from '../src/gateway/doh/doh-client.ts'
import type { GatewayRuntime } from '../src/gateway/routes/gateway.ts'
import type { Upstream, UpstreamClient, UpstreamOptions } from '../src/resolver/contract/host.ts'
import { bindPlugins } from '../src/resolver/contract/plugin-entry.ts'
import { EDGE_PLUGINS } from '../src/resolver/plugins/edge-plugins.ts'

/** Memory of an isolate (developers.cloudflare.com/workers/platform/limits). */
const MEMORY_BYTES = 128 * 1024 * 1024

/** Creates the host of one isolate, with the files that its variables have. */
export function createWorkerHost(
  files: Omit<VariableFiles, 'source'> = readVariableFiles({}),
): GatewayRuntime['host'] {
  const elapsed = createElapsed({ wall: Date.now, monotonic: () => performance.now() })
  return {
    plugins: bindPlugins(EDGE_PLUGINS, { memoryLimitBytes: MEMORY_BYTES }),
    isolatesRequests: true,
    hostname: 'localhost',
    runtime: 'workerd',
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
    log: sampledLog({
      log: (event) => console.log(formatLogEvent(event, Date.now())),
      now: elapsed,
    }),
    print: (line) => console.log(line),
    abort: logError,
  }
}

/** Writes an error to the Worker's log. */
export function logError(message: string): void {
  console.error(message)
}

/** A Worker has no UDP: it queries upstreams over HTTPS, on connections that the platform keeps. */
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
