import assert from 'node:assert/strict'
import { describe, type TestContext, test, vi } from 'vitest'
import { ApiError } from '../../../src/cluster/api/object-api.ts'
import { ClusterBuilder } from '../../../src/cluster/follow/cluster-builder.ts'
import {
  createObjectSource,
  createWatchSource,
  type ExportSource,
} from '../../../src/cluster/follow/export-source.ts'
import type { NamingOptions } from '../../../src/cluster/objects/options.ts'
import { toLatin1 } from '../../../src/dns/bytes/bytes.ts'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import { clusterOf, hostsTree, objectsOf, optionsOf, selectorOf } from '../naming.ts'
import { FakeClock, START_MS, settle } from './fake-clock.ts'
import { answerLists, openWatches, page, ScriptedApi, SHOP_LISTS, value } from './scripted-api.ts'
import { hostsIn, namesIn, openBuilt } from './snapshots.ts'
import { buildSnapshot } from './whole-snapshot.ts'

const RESOURCES = Object.keys(SHOP_LISTS)
const SHOP = `
- kind: Namespace
  metadata: { name: shop }
- kind: Service
  metadata: { namespace: shop, name: web }
  spec: { clusterIP: 192.0.2.10 }
- kind: Service
  metadata: { namespace: shop, name: db, labels: { tier: gold } }
  spec: { clusterIP: 192.0.2.11 }
`
const NAMES = ['web.shop.svc', 'db.shop.svc']

async function names(source: Pick<ExportSource, 'build'>): Promise<string[]> {
  return namesIn(openBuilt(await source.build()), NAMES)
}

describe('a source of watched objects', () => {
  type Running = {
    readonly api: ScriptedApi
    readonly clock: FakeClock
    readonly source: ExportSource
    readonly messages: string[]
    readonly metrics: Metrics
  }

  function start(t: TestContext, trees: Readonly<Record<string, NamingOptions>> = {}): Running {
    const api = new ScriptedApi()
    const clock = new FakeClock()
    const messages: string[] = []
    const metrics = new Metrics()
    const source = createWatchSource({
      api,
      naming: optionsOf(),
      trees,
      onChange: () => messages.push('change'),
      onWarning: (message) => messages.push(`warning: ${message}`),
      onError: (message) => messages.push(`error: ${message}`),
      sleep: clock.sleep,
      random: () => 1,
      now: clock.now,
      elapsed: clock.elapsed,
      metrics,
    })
    const ended = new AbortController()
    const running = source.run(ended.signal)
    t.onTestFinished(async () => {
      ended.abort()
      await running
    })
    return { api, clock, source, messages, metrics }
  }

  test('is not confirmed before all is listed and watched', async (t) => {
    const { api, clock, source, messages } = start(t)
    assert.equal(source.confirmedMs(), undefined)
    answerLists(api)
    await clock.advance(2000)
    assert.equal(source.confirmedMs(), undefined)
    assert.deepEqual(messages, ['change'])
    openWatches(api, RESOURCES)
    assert.equal(source.confirmedMs(), START_MS + 2000)
  })

  const denied = new ApiError('ingresses.networking.k8s.io is forbidden', 403)
  const ingressTrees = { hosts: optionsOf({ tree: hostsTree({ resources: ['Ingress'] }) }) }

  test('without the right to read Ingresses publishes and confirms all else', async (t) => {
    const { api, clock, source, messages } = start(t, ingressTrees)
    answerLists(api)
    api.answer('ingresses', denied, denied, denied, denied)
    await clock.advance(0)
    openWatches(api, RESOURCES)
    assert.equal(source.confirmedMs(), undefined)
    messages.splice(0)
    await clock.advance(3500)
    assert.equal(source.confirmedMs(), START_MS + 3500)
    assert.deepEqual(messages, ['change'])
    assert.deepEqual(await names(source), ['web.shop.svc'])
    const available = (): unknown =>
      source.states().flatMap(({ resource, isAvailable }) => (isAvailable ? [] : [resource]))
    assert.deepEqual(available(), ['ingresses'])
    api.answer('ingresses', page('9'))
    await clock.advance(4000)
    openWatches(api, ['ingresses'])
    assert.deepEqual(available(), [])
  })

  test('that loses the right to read Ingresses confirms all else', async (t) => {
    const { api, clock, source } = start(t, ingressTrees)
    const all = { ...SHOP_LISTS, ingresses: '' }
    answerLists(api, all)
    await clock.advance(0)
    openWatches(api, Object.keys(all))
    for (let i = 0; i < 4; i++) {
      api.watching('ingresses').fail(denied)
      await clock.advance(500 * 2 ** i)
    }
    assert.equal(source.confirmedMs(), clock.now())
  })

  test('without the right to read Services is not confirmed', async (t) => {
    const { api, clock, source } = start(t)
    api.answer('services', ...new Array(6).fill(new ApiError('services is forbidden', 403)))
    answerLists(api, { namespaces: '', endpointslices: '' })
    await clock.advance(30_000)
    assert.equal(source.confirmedMs(), undefined)
  })

  test('builds listed and changed objects', async (t) => {
    const { api, clock, source, messages } = start(t)
    answerLists(api)
    await clock.advance(0)
    assert.deepEqual(await names(source), ['web.shop.svc'])
    const db = '{ metadata: { namespace: shop, name: db }, spec: { clusterIP: 192.0.2.11 } }'
    api.watching('services').send('ADDED', value(db))
    assert.deepEqual(await names(source), NAMES)
    assert.deepEqual(messages, ['change', 'change'])
  })

  test('leaves turns to others within a long build, which changes do not disturb', async (t) => {
    const { api, clock, source, messages } = start(t)
    answerLists(api)
    await clock.advance(0)
    const { buildInSteps } = ClusterBuilder.prototype
    let steps = 0
    vi.spyOn(ClusterBuilder.prototype, 'buildInSteps').mockImplementation(function* (
      this: ClusterBuilder,
    ) {
      for (; steps < 10; steps++) {
        clock.pass(5)
        yield
      }
      return yield* buildInSteps.call(this)
    })
    const building = names(source)
    for (let turn = 0; turn < 5; turn++) {
      assert.ok(steps <= turn, `${steps} steps in ${turn} turns`)
      await settle()
    }
    const db = '{ metadata: { namespace: shop, name: db }, spec: { clusterIP: 192.0.2.11 } }'
    api.watching('services').send('ADDED', value(db))
    assert.deepEqual(await building, ['web.shop.svc'])
    assert.deepEqual(messages, ['change', 'change'])
    assert.deepEqual(await names(source), NAMES)
  })

  test('warns of objects that it can neither read nor name', async (t) => {
    const { api, clock, source, messages } = start(t)
    answerLists(api)
    await clock.advance(0)
    const { send } = api.watching('services')
    send('ADDED', value('{ metadata: { namespace: shop, name: bad }, spec: 1 }'))
    send('ADDED', value('{ metadata: { namespace: shop, name: db } }'))
    source.build()
    source.build()
    assert.deepEqual(
      messages.filter((message) => message !== 'change'),
      [
        'warning: Service shop/bad: spec is 1, expected an object',
        'warning: Service shop/db: it has no cluster IP',
      ],
    )
  })

  test('times changed slices until the gateway has them', async (t) => {
    const { api, clock, source, metrics } = start(t)
    answerLists(api)
    await clock.advance(0)
    openWatches(api, RESOURCES)
    const trigger = '{ endpoints.kubernetes.io/last-change-trigger-time: "2026-01-01T00:00:00Z" }'
    const labels = '{ kubernetes.io/service-name: web }'
    const metadata = `{ namespace: shop, name: web-1, labels: ${labels}, annotations: ${trigger} }`
    api.watching('endpointslices').send('ADDED', value(`{ metadata: ${metadata} }`))
    const count = (): string | undefined =>
      /duration_seconds_count\{service_kind="cluster_ip"\} (\d+)/.exec(metrics.format())?.[1]
    // A snapshot before the change says nothing of it.
    source.acknowledged()
    assert.equal(count(), undefined)
    source.build()
    source.acknowledged()
    assert.equal(count(), '1')
  })

  test('returns versions and states of its collections', async (t) => {
    const { api, clock, source } = start(t)
    answerLists(api)
    await clock.advance(0)
    assert.deepEqual(source.sources(), { namespaces: '1', services: '2', endpointslices: '3' })
    assert.deepEqual(
      source.states().map(({ resource, count }) => `${resource} ${count}`),
      ['namespaces 1', 'services 1', 'endpointslices 0'],
    )
  })
})

describe('a source of objects that never change', () => {
  const clock = { now: () => START_MS }

  test('builds the names of the objects', async () => {
    const onWarning = assert.fail
    const source = createObjectSource(objectsOf(SHOP), { naming: optionsOf(), onWarning, ...clock })
    assert.deepEqual(source.build(), buildSnapshot(clusterOf(SHOP), optionsOf()))
    assert.deepEqual(await names(source), NAMES)
  })

  test('returns the records of a zone transfer', () => {
    const onWarning = assert.fail
    const source = createObjectSource(objectsOf(SHOP), { naming: optionsOf(), onWarning, ...clock })
    const owners = Array.from(source.transferRecords(), ({ owner }) => toLatin1(owner))
    assert.ok(owners.includes('\x03web\x04shop\x03svc'), owners.join())
  })

  for (const pods of ['verified', 'insecure'] as const) {
    test(`finds the Pod of a client's address, with pods ${pods}`, () => {
      const pod = '- {kind: Pod, metadata: {name: a, namespace: shop}, status: {podIP: 192.0.2.9}}'
      const naming = optionsOf({ pods })
      const made = { naming, onWarning: assert.fail, ...clock }
      const builder = new ClusterBuilder(naming, assert.fail)
      for (const object of objectsOf(pod)) builder.set(object)
      for (const source of [createObjectSource(objectsOf(pod), made), builder]) {
        assert.equal(source.podAt('192.0.2.9')?.name, pods === 'verified' ? 'a' : undefined)
      }
    })
  }

  test('skips objects that the selectors do not match', async () => {
    const naming = optionsOf({ objectSelector: selectorOf('tier=gold') })
    const source = createObjectSource(objectsOf(SHOP), {
      naming,
      onWarning: assert.fail,
      ...clock,
    })
    assert.deepEqual(await names(source), ['db.shop.svc'])
  })

  test('warns of objects that DNS cannot name', () => {
    const warnings: string[] = []
    const objects = objectsOf(`
      - { kind: Namespace, metadata: { name: shop } }
      - { kind: Service, metadata: { namespace: shop, name: db } }
    `)
    const onWarning = (warning: string): unknown => warnings.push(warning)
    const source = createObjectSource(objects, { naming: optionsOf(), onWarning, ...clock })
    source.build()
    source.build()
    assert.deepEqual(warnings, ['Service shop/db: it has no cluster IP'])
  })

  test('is always confirmed, has no collections and nothing to follow', async () => {
    const source = createObjectSource([], {
      naming: optionsOf(),
      onWarning: assert.fail,
      ...clock,
    })
    assert.equal(source.confirmedMs(), START_MS)
    assert.deepEqual(source.sources(), {})
    assert.deepEqual(source.states(), [])
    assert.equal(await source.run(new AbortController().signal), undefined)
  })
})

test('a source of hostnames from objects builds them once', () => {
  const objects = objectsOf(`
- { kind: Service, metadata: { namespace: shop, name: web }, spec: { type: LoadBalancer },
    status: { loadBalancer: { ingress: [{ ip: 203.0.113.1 }] } } }
- kind: Service
  metadata: { namespace: shop, name: db, annotations: { coredns.io/hostname: 'db_.test' } }
  spec: { type: LoadBalancer }`)
  const warnings: string[] = []
  const source = createObjectSource(objects, {
    naming: optionsOf({ tree: hostsTree() }),
    now: () => START_MS,
    onWarning: (message) => warnings.push(message),
  })
  assert.equal(source.build(), source.build())
  assert.deepEqual(hostsIn(openBuilt(source.build()), ['web.shop.a.test', 'db.shop.a.test']), [
    'web.shop.a.test',
  ])
  assert.deepEqual(warnings, ['Service shop/db: "db_.test" is not a hostname'])
  assert.deepEqual([...source.transferRecords()], [])
})
