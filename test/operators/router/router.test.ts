import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'vitest'
import { sleep } from '../../../src/cluster/api/backoff.ts'
import { ApiError } from '../../../src/cluster/api/object-api.ts'
import type { RouteTable } from '../../../src/cluster/rules/route-table.ts'
import { recordOf } from '../../../src/dns/bytes/unknown.ts'
import { type Applied, Router } from '../../../src/operators/router/router.ts'
import { elapsed } from '../../../src/server/node/elapsed.ts'
import { settle } from '../../cluster/follow/fake-clock.ts'
import { ScriptedApi } from '../../cluster/follow/scripted-api.ts'
import { routeTo } from '../../cluster/host-route-cases.ts'

const PATH = '/apis/kubedoh.dev/v1alpha1/namespaces/shop/hostroutes/r/status'
const ROUTE = {
  metadata: { name: 'r', namespace: 'shop', generation: 1, resourceVersion: '7' },
  spec: routeTo('/'),
}
const WEB = {
  metadata: { name: 'web', namespace: 'shop', resourceVersion: '5' },
  spec: { clusterIP: '10.96.0.1', ports: [{ port: 80 }] },
}

/** Resolves once a condition holds, which some event brings about. */
async function until(holds: () => boolean): Promise<void> {
  const signal = AbortSignal.timeout(10_000)
  while (!holds()) {
    assert.ok(!signal.aborted, 'not within 10 s')
    await sleep(5, signal)
  }
}

/** Runs a router over an API server with one HostRoute. */
function running(
  t: TestContext,
  apply: (table: RouteTable) => Applied,
  ready = (): Promise<void> => Promise.resolve(),
) {
  const api = new ScriptedApi()
  const statuses: unknown[] = []
  const log: string[] = []
  api.replies.set(`PUT ${PATH}`, (body: unknown) => statuses.push(recordOf(body).status))
  const router = new Router({
    api,
    tree: { recordZones: [{ namespace: '*', zones: [''] }] },
    target: { ready, apply: (table) => Promise.resolve(apply(table)) },
    onWarning: (message) => log.push(`warning ${message}`),
    onError: (message) => log.push(`error ${message}`),
    onApplied: ({ hosts }) => log.push(`applied ${hosts.length}`),
    // Attempts without a change follow soon.
    sleep: (delayMs, signal) => sleep(Math.min(delayMs, 1000), signal),
    random: () => 0,
    now: () => 0,
    elapsed,
  })
  const ended = new AbortController()
  const run = router.run(ended.signal)
  t.onTestFinished(async () => {
    ended.abort()
    await run
  })
  const page = (items: readonly unknown[]) => ({ items, resourceVersion: '9', continueToken: '' })
  return { api, router, log, statuses, page }
}

describe('a router', () => {
  test('waits for the whole cluster, applies its routes, and writes conditions', async (t) => {
    const { api, router, log, statuses, page } = running(t, ({ verdicts }) => ({ verdicts }))
    api.answer('hostroutes', page([ROUTE]))
    await until(() => api.calls.some((call) => call.startsWith('watch hostroutes')))
    assert.deepEqual([log, router.isReady], [[], false])
    api.answer('services', page([]))
    await until(() => statuses.length === 1)
    assert.deepEqual(log, ['warning HostRoute shop/r: /: no Service shop/web', 'applied 1'])
    api.watching('services').open()
    api.watching('services').send('ADDED', WEB)
    await until(() => statuses.length === 2)
    const reasons = statuses.map((status) => {
      const { conditions } = status as { conditions: { type: string; reason: string }[] }
      return conditions.map(({ type, reason }) => `${type} ${reason}`).join()
    })
    assert.deepEqual(reasons, ['Routed ServiceNotFound', 'Routed Routed'])
    assert.equal(router.isReady, true)
  })

  test('writes a condition later that the API server did not take, without a change', async (t) => {
    const { api, statuses, page } = running(t, ({ verdicts }) => ({ verdicts }))
    let attempts = 0
    api.replies.set(`PUT ${PATH}`, (body: unknown) => {
      if (++attempts === 1) return new ApiError('unavailable', 503)
      return statuses.push(body)
    })
    api.answer('hostroutes', page([ROUTE]))
    api.answer('services', page([WEB]))
    await until(() => statuses.length === 1)
  })

  test('is ready while its program serves the routes before', async (t) => {
    const { api, router, page } = running(t, ({ verdicts }) => {
      return { verdicts, problem: 'no', isServing: true }
    })
    api.answer('hostroutes', page([ROUTE]))
    api.answer('services', page([WEB]))
    await until(() => router.isReady)
    assert.equal(router.state, 'no')
  })

  test('applies the latest routes once its program is ready', async (t) => {
    const isReady = Promise.withResolvers<void>()
    let isAsked = false
    const applied: unknown[] = []
    const { api, page } = running(
      t,
      ({ hosts, verdicts }) => {
        applied.push(hosts.map(({ routes }) => routes[0]?.backend?.address))
        return { verdicts }
      },
      () => {
        isAsked = true
        return isReady.promise
      },
    )
    api.answer('hostroutes', page([ROUTE]))
    api.answer('services', page([WEB]))
    await until(() => isAsked)
    const metadata = { ...WEB.metadata, resourceVersion: '10' }
    const spec = { ...WEB.spec, clusterIP: '10.96.0.2' }
    api.watching('services').open()
    api.watching('services').send('MODIFIED', { metadata, spec })
    await settle()
    isReady.resolve()
    await until(() => applied.length > 0)
    assert.deepEqual(applied[0], ['10.96.0.2'])
  })

  test('tries again what its program refuses, and logs that once', async (t) => {
    let attempts = 0
    const { api, router, log, page } = running(t, ({ verdicts }) => {
      attempts++
      return attempts < 3 ? { verdicts, problem: 'no' } : { verdicts }
    })
    api.answer('hostroutes', page([ROUTE]))
    api.answer('services', page([WEB]))
    await until(() => log.includes('error no'))
    assert.deepEqual([router.isReady, router.state], [false, 'no'])
    await until(() => router.isReady)
    assert.deepEqual(log, ['error no', 'applied 1'])
  })
})
