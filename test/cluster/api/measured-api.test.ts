import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  measuredApi,
  type Throttle,
  throttledApi,
  USUAL_BOUNDS,
} from '../../../src/cluster/api/measured-api.ts'
import { ApiError, type ObjectApi } from '../../../src/cluster/api/object-api.ts'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import { FakeClock, settle } from '../follow/fake-clock.ts'
import { SERVICES } from '../follow/mirror.ts'
import { page, ScriptedApi } from '../follow/scripted-api.ts'

const PREFIX = 'coredns_kubernetes_rest_client_request'

type Measured = {
  readonly scripted: ScriptedApi
  readonly api: ObjectApi
  readonly clock: { ms: number }
  /** Counts by status, and sums of times, as the metrics have them. */
  readonly samples: () => string[]
  /** Counts by kind and verb. */
  readonly byKind: () => string[]
}

function measure(): Measured {
  const scripted = new ScriptedApi()
  const metrics = new Metrics()
  const clock = { ms: 1000 }
  const byKind = (): string[] =>
    metrics.format().match(/(?<=^kubedoh_kubernetes_requests_total).*/gm) ?? []
  const samples = (): string[] =>
    metrics
      .format()
      .split('\n')
      .filter((line) => /^coredns.*(s_total|_sum)\{/.test(line))
      .map((line) => line.replace(PREFIX, ''))
      .toReversed()
  const api = measuredApi(scripted, metrics, () => clock.ms)
  return { scripted, api, clock, samples, byKind }
}

const { signal } = new AbortController()

test('a list is counted, and timed until it is complete', async () => {
  const { scripted, api, clock, samples } = measure()
  const listing = api.list(SERVICES, 'token', signal)
  clock.ms += 2000
  assert.deepEqual(samples(), [])
  scripted.answer('services', page('5'))
  assert.deepEqual(await listing, page('5'))
  assert.deepEqual(scripted.calls, ['list services token'])
  assert.deepEqual(samples(), [
    's_total{code="200",method="GET",host="api.test:6443"} 1',
    '_duration_seconds_sum{verb="GET",host="api.test:6443"} 2',
  ])
})

test('a watch is counted once, when it begins to be answered', async () => {
  const { scripted, api, clock, samples } = measure()
  let opened = 0
  const onOpen = (): void => {
    opened++
  }
  const watching = api.watch(SERVICES, {
    resourceVersion: '5',
    signal,
    onEvent: () => assert.fail(),
    onOpen,
  })
  clock.ms += 500
  scripted.watching('services').open()
  clock.ms += 500
  const expected = [
    's_total{code="200",method="GET",host="api.test:6443"} 1',
    '_duration_seconds_sum{verb="GET",host="api.test:6443"} 0.5',
  ]
  assert.deepEqual(samples(), expected)
  scripted.watching('services').fail(new ApiError('reset by peer'))
  await assert.rejects(watching, { message: 'reset by peer' })
  assert.deepEqual(samples(), expected)
  assert.equal(opened, 1)
})

for (const [error, code] of [
  [new ApiError('forbidden', 403), '403'],
  [new ApiError('reset by peer'), '<error>'],
] as const) {
  test(`requests that fail count as ${code}`, async () => {
    const { scripted, api, samples } = measure()
    scripted.answer('services', error)
    await assert.rejects(api.list(SERVICES, '', signal), error)
    const watching = api.watch(SERVICES, {
      resourceVersion: '5',
      signal,
      onEvent: () => assert.fail(),
      onOpen: () => assert.fail(),
    })
    await settle()
    scripted.watching('services').fail(error)
    await assert.rejects(watching, error)
    assert.equal(samples()[0], `s_total{code="${code}",method="GET",host="api.test:6443"} 2`)
  })
}

test('requests are counted by kind and verb', async () => {
  const { scripted, api, byKind } = measure()
  scripted.answer('services', page('5', '', 'two'), page('5'))
  await api.list(SERVICES, '', signal)
  await api.list(SERVICES, 'two', signal)
  scripted.replies.set('PUT /lease', {})
  await api.send({ method: 'PUT', path: '/lease', resource: 'leases', body: {} }, signal)
  await assert.rejects(api.send({ method: 'GET', path: '/none', resource: 'leases' }, signal))
  assert.deepEqual(byKind(), [
    '{resource="services",verb="list",code="200"} 2',
    '{resource="leases",verb="update",code="200"} 1',
    '{resource="leases",verb="get",code="404"} 1',
  ])
})

test('times are in Prometheus’s default buckets', () => {
  assert.deepEqual([USUAL_BOUNDS.length, USUAL_BOUNDS[0], USUAL_BOUNDS.at(-1)], [11, 0.005, 10])
})

const FREE: Throttle = { requestsPerSecond: 0, burst: 0, inFlightMax: 0 }

function throttle(options: Partial<Throttle>): {
  readonly scripted: ScriptedApi
  readonly api: ObjectApi
  readonly clock: FakeClock
  readonly metrics: Metrics
} {
  const scripted = new ScriptedApi()
  const clock = new FakeClock()
  const metrics = new Metrics()
  const api = throttledApi(scripted, { ...FREE, ...options }, { metrics, ...clock })
  return { scripted, api, clock, metrics }
}

/** Asks for lists, each of which is answered at once. */
function list(api: ObjectApi, scripted: ScriptedApi, count: number): Promise<unknown> {
  scripted.answer('services', ...Array.from({ length: count }, () => page('5')))
  return Promise.all(Array.from({ length: count }, () => api.list(SERVICES, '', signal)))
}

test('an API that nothing is said of is left as it is', () => {
  const { scripted, api } = throttle({})
  assert.equal(api, scripted)
})

describe('requests in a second', () => {
  test('are at the given rate after a burst', async () => {
    const { scripted, api, clock, metrics } = throttle({ requestsPerSecond: 2, burst: 3 })
    const listing = list(api, scripted, 6)
    await settle()
    assert.equal(scripted.calls.length, 3)
    await clock.advance(499)
    assert.equal(scripted.calls.length, 3)
    await clock.advance(1)
    assert.equal(scripted.calls.length, 4)
    await clock.advance(1000)
    assert.equal(scripted.calls.length, 6)
    await listing
    const waits = /limiter_duration_seconds_sum\{verb="GET",host="api.test:6443"\} (.*)/
    assert.equal(waits.exec(metrics.format())?.[1], '3')
  })

  test('may come in a burst again after some time', async () => {
    const { scripted, api, clock } = throttle({ requestsPerSecond: 2, burst: 3 })
    await list(api, scripted, 3)
    await clock.advance(60_000)
    const listing = list(api, scripted, 4)
    await settle()
    assert.equal(scripted.calls.length, 6)
    await clock.advance(500)
    await listing
  })

  test('have the default of 5 and bursts of 10 when only one is given', async () => {
    for (const [said, burst] of [
      [{ requestsPerSecond: 5 }, 10],
      [{ burst: 2 }, 2],
    ] as const) {
      const { scripted, api, clock } = throttle(said)
      const listing = list(api, scripted, burst + 1)
      await settle()
      assert.equal(scripted.calls.length, burst)
      await clock.advance(200)
      await listing
    }
  })

  test('count a watch too', async () => {
    const { scripted, api, clock } = throttle({ requestsPerSecond: 1, burst: 1 })
    await list(api, scripted, 1)
    const ended = new AbortController()
    const watching = api.watch(SERVICES, {
      resourceVersion: '5',
      signal: ended.signal,
      onEvent: () => assert.fail(),
      onOpen: () => assert.fail(),
    })
    await clock.advance(999)
    assert.deepEqual(scripted.calls, ['list services'])
    await clock.advance(1)
    assert.deepEqual(scripted.calls, ['list services', 'watch services 5'])
    ended.abort()
    await watching
  })
})

describe('requests at a time', () => {
  test('are so many', async () => {
    const { scripted, api } = throttle({ inFlightMax: 2 })
    const listing = Promise.all(
      ['a', 'b', 'c'].map((resource) => api.list({ ...SERVICES, resource }, '', signal)),
    )
    await settle()
    assert.deepEqual(scripted.calls, ['list a', 'list b'])
    scripted.answer('b', page('5'))
    await settle()
    assert.deepEqual(scripted.calls, ['list a', 'list b', 'list c'])
    for (const resource of ['a', 'c']) scripted.answer(resource, page('5'))
    await listing
  })

  test('are no watches that are being answered', async () => {
    const { scripted, api } = throttle({ inFlightMax: 1 })
    const ended = new AbortController()
    const watching = api.watch(SERVICES, {
      resourceVersion: '5',
      signal: ended.signal,
      onEvent: () => assert.fail(),
      onOpen: () => undefined,
    })
    await settle()
    const listing = list(api, scripted, 1)
    await settle()
    assert.deepEqual(scripted.calls, ['watch services 5'])
    scripted.watching('services').open()
    await listing
    ended.abort()
    await watching
    await list(api, scripted, 1)
    assert.equal(scripted.calls.length, 3)
  })
})
