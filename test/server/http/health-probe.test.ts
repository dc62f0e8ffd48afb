import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { describe, type TestContext, test, vi } from 'vitest'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import { startHealthProbe } from '../../../src/server/http/health-probe.ts'
import { freePort } from '../../free-port.ts'

/** The number of probes and of failures. */
function counts(metrics: Metrics): (number | undefined)[] {
  const text = metrics.format()
  return ['duration_seconds_count', 'failures_total'].map((name) => {
    const value = new RegExp(`^coredns_health_request_${name} (\\d+)$`, 'm').exec(text)?.[1]
    return value === undefined ? undefined : Number(value)
  })
}

/** Waits until a probe has been counted. */
async function untilCounted(metrics: Metrics, count: number): Promise<void> {
  while (counts(metrics)[0] !== count) await new Promise((resolve) => setImmediate(resolve))
}

function startProbe(t: TestContext, port: number): { metrics: Metrics; stop: () => void } {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const metrics = new Metrics()
  const stop = startHealthProbe({ host: '127.0.0.1', port }, metrics)
  t.onTestFinished(stop)
  return { metrics, stop }
}

describe('startHealthProbe', () => {
  test('probes once a second until it is stopped', async (t) => {
    const paths: (string | undefined)[] = []
    const port = await freePort()
    const server = createServer((request, response) => {
      paths.push(request.url)
      response.end('OK')
    }).listen(port, '127.0.0.1')
    t.onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { metrics, stop } = startProbe(t, port)
    assert.deepEqual(counts(metrics), [0, 0])
    for (const count of [1, 2, 3]) {
      vi.advanceTimersByTime(1000)
      await untilCounted(metrics, count)
    }
    stop()
    vi.advanceTimersByTime(5000)
    assert.deepEqual(counts(metrics), [3, 0])
    assert.deepEqual(paths, ['/health', '/health', '/health'])
  })

  test('counts a failure when nothing answers', async (t) => {
    const { metrics } = startProbe(t, await freePort())
    vi.advanceTimersByTime(1000)
    await untilCounted(metrics, 1)
    assert.deepEqual(counts(metrics), [1, 1])
  })
})
