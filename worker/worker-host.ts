/**
 * The runtime of plugins on Cloudflare Workers.
 * @module
 */

import { askDoh } from '../src/doh/doh-client.ts'
import type { GatewayRuntime } from '../src/gateway/gateway.ts'
import type { ExchangeOptions, Upstream } from '../src/plugins/host.ts'
import { formatLogEvent } from '../src/telemetry/log.ts'
import { Metrics } from '../src/telemetry/metrics.ts'

/** Makes the runtime of one isolate. */
export function createWorkerHost(): GatewayRuntime['host'] {
  return {
    isolatesRequests: true,
    hostname: 'localhost',
    runtime: 'workerd',
    now: Date.now,
    random16: () => crypto.getRandomValues(new Uint16Array(1))[0] ?? 0,
    after: (delayMs, task) => {
      const timer = setTimeout(task, delayMs)
      return () => {
        clearTimeout(timer)
      }
    },
    readText: () => undefined,
    modifiedMs: () => undefined,
    exchange,
    metrics: new Metrics(),
    log: (event) => {
      console.log(formatLogEvent(event, Date.now()))
    },
    print: (line) => {
      console.log(line)
    },
    abort: (message) => {
      console.error(message)
    },
  }
}

/** A Worker has no UDP; upstreams are asked over HTTPS. */
function exchange(
  upstream: Upstream,
  message: Uint8Array,
  { timeoutMs }: ExchangeOptions,
): Promise<Uint8Array> {
  if (upstream.url === undefined) {
    return Promise.reject(new Error('a Worker reaches upstreams over https:// only'))
  }
  return askDoh(upstream.url, message, {
    fetch: (url, init) => fetch(url, init),
    signal: AbortSignal.timeout(timeoutMs),
  })
}
