import assert from 'node:assert/strict'
import { test } from 'vitest'
import { measuredApi, USUAL_BOUNDS } from '../../src/exporter/measured-api.ts'
import { ApiError, type ObjectApi } from '../../src/exporter/object-api.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { settle } from './fake-clock.ts'
import { SERVICES } from './mirror.ts'
import { page, ScriptedApi } from './scripted-api.ts'

const PREFIX = 'coredns_kubernetes_rest_client_request'

type Measured = {
  readonly scripted: ScriptedApi
  readonly api: ObjectApi
  readonly clock: { ms: number }
  /** Counts by status, and sums of times, as the metrics have them. */
  readonly told: () => string[]
}

function measure(): Measured {
  const scripted = new ScriptedApi()
  const metrics = new Metrics()
  const clock = { ms: 1000 }
  const told = (): string[] =>
    metrics
      .format()
      .split('\n')
      .filter((line) => /s_total\{|_sum\{/.test(line))
      .map((line) => line.replace(PREFIX, ''))
      .toReversed()
  return { scripted, api: measuredApi(scripted, metrics, () => clock.ms), clock, told }
}

const { signal } = new AbortController()

test('a list is counted, and timed until it is complete', async () => {
  const { scripted, api, clock, told } = measure()
  const listing = api.list(SERVICES, 'token', signal)
  clock.ms += 2000
  assert.deepEqual(told(), [])
  scripted.answer('services', page('5'))
  assert.deepEqual(await listing, page('5'))
  assert.deepEqual(scripted.calls, ['list services token'])
  assert.deepEqual(told(), [
    's_total{code="200",method="GET",host="api.test:6443"} 1',
    '_duration_seconds_sum{verb="GET",host="api.test:6443"} 2',
  ])
})

test('a watch is counted once, when it begins to be answered', async () => {
  const { scripted, api, clock, told } = measure()
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
  assert.deepEqual(told(), expected)
  scripted.watching('services').fail(new ApiError('reset by peer'))
  await assert.rejects(watching, { message: 'reset by peer' })
  assert.deepEqual(told(), expected)
  assert.equal(opened, 1)
})

for (const [error, code] of [
  [new ApiError('forbidden', 403), '403'],
  [new ApiError('reset by peer'), '<error>'],
] as const) {
  test(`requests that fail count as ${code}`, async () => {
    const { scripted, api, told } = measure()
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
    assert.equal(told()[0], `s_total{code="${code}",method="GET",host="api.test:6443"} 2`)
  })
}

test('times are in Prometheus’s default buckets', () => {
  assert.deepEqual([USUAL_BOUNDS.length, USUAL_BOUNDS[0], USUAL_BOUNDS.at(-1)], [11, 0.005, 10])
})
