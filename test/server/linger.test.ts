import assert from 'node:assert/strict'
import { describe, test, vi } from 'vitest'
import { Metrics } from '../../src/dns/telemetry/metrics.ts'
import { DnsServer } from '../../src/server/serve/dns-server.ts'
import { ask, line, resolverOf, serveAnywhere } from './answering-server.ts'

describe('drain stays while queries come over UDP', () => {
  const POLL_MS = 500
  const withDraining = async (
    lingerMs: number,
    act: (port: number, isDrained: () => boolean) => Promise<void>,
  ): Promise<void> => {
    const server = new DnsServer(new Metrics(), { lingerMs })
    const port = await serveAnywhere(server, resolverOf({ says: '192.0.2.1' }))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      let isDrained = false
      const drained = server.drain().then(() => {
        isDrained = true
      })
      await act(port, () => isDrained)
      await drained
    } finally {
      vi.useRealTimers()
      await server.close()
    }
  }

  test('until none has come for 3 s', () =>
    withDraining(60_000, async (port, isDrained) => {
      for (let i = 0; i < 10; i++) {
        assert.deepEqual(await ask(port), line('192.0.2.1'))
        await vi.advanceTimersByTimeAsync(2900)
        assert.equal(isDrained(), false)
      }
      await vi.advanceTimersByTimeAsync(3000)
      assert.equal(isDrained(), true)
    }))

  test('for at most its time', () =>
    withDraining(5000, async (port, isDrained) => {
      for (let ms = 0; ms < 5000; ms += POLL_MS) {
        assert.equal(isDrained(), false)
        await ask(port)
        await vi.advanceTimersByTimeAsync(POLL_MS)
      }
      assert.equal(isDrained(), true)
    }))
})
