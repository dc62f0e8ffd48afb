import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { listenStatus } from '../../../src/cli/export/export-status.ts'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import { freePort } from '../../free-port.ts'

describe('listenStatus', () => {
  test('serves liveness, readiness and metrics', async (t) => {
    const metrics = new Metrics()
    metrics.counter({ name: 'a_total', help: 'A.', labels: [] }).value = 3
    let isReady = false
    const address = `127.0.0.1:${await freePort()}`
    let state = ''
    const options = { metrics, isReady: () => isReady, state: () => state }
    const server = await listenStatus(address, options)
    t.onTestFinished(() => server?.close())
    const get = async (path: string): Promise<[number, string]> => {
      const response = await fetch(`http://${address}${path}`)
      return [response.status, await response.text()]
    }
    assert.deepEqual(await get('/healthz'), [200, 'OK'])
    assert.deepEqual(await get('/readyz'), [503, 'nothing published yet'])
    isReady = true
    assert.deepEqual(await get('/readyz'), [200, 'OK'])
    state = ', follows b'
    assert.deepEqual(await get('/readyz'), [200, 'OK, follows b'])
    const [status, text] = await get('/metrics')
    assert.equal(status, 200)
    assert.match(text, /^a_total 3$/m)
    assert.match(text, /^process_resident_memory_bytes \d+$/m)
    assert.equal((await get('/'))[0], 404)
  })

  test('does not listen without an address', async () => {
    const options = { metrics: new Metrics(), isReady: () => true }
    assert.equal(await listenStatus('', options), undefined)
  })

  test('reports an address in use and what to do', async (t) => {
    const address = `127.0.0.1:${await freePort()}`
    const options = { metrics: new Metrics(), isReady: () => true }
    const server = await listenStatus(address, options)
    t.onTestFinished(() => server?.close())
    await assert.rejects(listenStatus(address, options), {
      name: 'CommandError',
      message:
        `Cannot listen on ${address}: address in use; ` +
        'stop the other process or choose another port (--listen; "" disables the status server)',
    })
  })

  test('explains the format of an address', async () => {
    await assert.rejects(listenStatus('9154', { metrics: new Metrics(), isReady: () => true }), {
      name: 'ListenError',
      message: '"9154" is not HOST:PORT',
    })
  })
})
