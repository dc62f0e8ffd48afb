import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { describe, test } from 'vitest'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import { formatMetrics, formatThreadMetrics } from '../../../src/server/serve/process-metrics.ts'

describe('formatMetrics', () => {
  test("adds the process's memory and CPU time", async () => {
    const text = await formatMetrics(new Metrics())
    const readGauge = (name: string): number =>
      Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
    assert.ok(readGauge('process_resident_memory_bytes') > 1e6)
    assert.ok(readGauge('nodejs_heap_size_used_bytes') > 1e5)
    assert.ok(readGauge('process_cpu_seconds_total') > 0)
    assert.ok(readGauge('process_cpu_seconds_total') < 3600)
    assert.ok(readGauge('process_virtual_memory_bytes') > 1e8)
    assert.ok(readGauge('process_open_fds') > 3)
    assert.ok(readGauge('process_max_fds') > readGauge('process_open_fds'))
    assert.match(text, /^nodejs_active_resources\{type="\w+"\} [1-9]/m)
    const age = Date.now() / 1000 - readGauge('process_start_time_seconds')
    assert.ok(age > -2 && age < 3600, `started ${age} seconds ago`)
  })

  test('writes each metric once, even when called again', async () => {
    const metrics = new Metrics()
    await formatMetrics(metrics)
    const text = await formatMetrics(metrics)
    const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
    assert.equal(new Set(names).size, names.length)
    assert.equal(names.length, 11)
  })

  test('counts what the kernel has dropped, by local address', async (t) => {
    const socket = createSocket('udp4')
    t.onTestFinished(() => {
      socket.close()
    })
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    socket.setRecvBufferSize(2048)
    const { port } = socket.address()
    const sender = createSocket('udp4')
    await new Promise<void>((resolve) => sender.connect(port, '127.0.0.1', resolve))
    const place = { transport: 'dns', addresses: ['127.0.0.1'], except: [], port } as const
    const metrics = new Metrics()
    const drops = async (): Promise<number> => {
      const text = await formatMetrics(metrics, [place, { ...place, transport: 'https', port: 1 }])
      const pattern = /^kubedoh_udp_dropped_total\{address="127\.0\.0\.1:(\d+)"\} (\d+)$/gm
      const found = [...text.matchAll(pattern)].map(([, at, count]) => [Number(at), Number(count)])
      assert.equal(found.length, 1)
      assert.equal(found[0]?.[0], port)
      return found[0]?.[1] ?? -1
    }
    assert.equal(await drops(), 0)
    const sent = Array.from(
      { length: 64 },
      () => new Promise((resolve) => sender.send(new Uint8Array(512), resolve)),
    )
    // A connected socket of libuv sends at once: the buffer has overflowed before anybody reads it.
    await Promise.all(sent)
    const count = await drops()
    sender.close()
    assert.ok(count > 0 && count < 64, `${count} dropped`)
  })
})

describe('formatThreadMetrics', () => {
  test('reports how long the event loop was blocked since the last call, and only then', async () => {
    const metrics = new Metrics()
    const lag = async (): Promise<number> => {
      const text = await formatThreadMetrics(metrics)
      return Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1])
    }
    await lag()
    await new Promise((resolve) => setTimeout(resolve, 50))
    const endMs = performance.now() + 300
    while (performance.now() < endMs);
    await new Promise((resolve) => setTimeout(resolve, 50))
    const blocked = await lag()
    assert.ok(blocked >= 0.28, `${blocked} s`)
    assert.ok((await lag()) < blocked)
  })
})
