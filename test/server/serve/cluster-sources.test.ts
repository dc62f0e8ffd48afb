import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test, vi } from 'vitest'
import { ApiError, ConnectionError } from '../../../src/cluster/api/object-api.ts'
import { CLUSTER_TREE } from '../../../src/corefile/cluster-tree.ts'
import { defaultKubernetes } from '../../../src/corefile/kubernetes-options.ts'
import { nameOf } from '../../../src/dns/names/name.ts'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import { parseK8sGateway } from '../../../src/resolver/plugins/k8s-gateway/options.ts'
import { block, directive, parseBlocks } from '../../ask.ts'
import { shopFolder } from '../../cli/shop.ts'
import {
  answerLists,
  openWatches,
  page,
  SHOP_LISTS,
  value,
} from '../../cluster/follow/scripted-api.ts'
import { hostsIn, namesIn } from '../../cluster/follow/snapshots.ts'
import { within } from '../clients.ts'
import { directiveOf, directivesOf, NOW_MS, Sources } from '../scripted-sources.ts'

const RESOURCES = ['namespaces', 'services', 'endpointslices']

describe('watched clusters', () => {
  test('load the API client, once and only when needed', async () => {
    const sources = new Sources()
    await sources.prepare(parseBlocks(block('whoami')))
    assert.equal(sources.loads.count, 0)
    const blocks = parseBlocks(block('kubernetes cluster.local'))
    await sources.prepare(blocks)
    await sources.prepare(blocks)
    assert.equal(sources.loads.count, 1)
  })

  test('are ready after the first list, and stale after a minute without contact', async (t) => {
    const sources = new Sources()
    t.onTestFinished(() => sources.keep([]))
    await sources.prepare(parseBlocks(block('kubernetes cluster.local')))
    const source = sources.open(directiveOf())
    assert.deepEqual([source.current(), source.freshness()], [undefined, 'partial'])
    const [api] = sources.apis
    assert.ok(api)
    answerLists(api)
    await within(sources.ready(), 'the lists')
    assert.deepEqual(namesIn(source.current(), ['web.shop.svc']), ['web.shop.svc'])
    assert.equal(await source.load(), source.current())
    openWatches(api, RESOURCES)
    assert.equal(source.freshness(), 'fresh')
    for (const resource of RESOURCES) api.watching(resource).end()
    await new Promise(setImmediate)
    sources.clock.nowMs = NOW_MS + 59_999
    assert.equal(source.freshness(), 'fresh')
    sources.clock.nowMs = NOW_MS + 60_000
    assert.equal(source.freshness(), 'stale')
  })

  test('report what they wait for, and a kind that the API server does not serve', async (t) => {
    const metrics = new Metrics()
    const sources = new Sources({ metrics })
    t.onTestFinished(() => sources.keep([]))
    await sources.prepare(parseBlocks(block('kubernetes cluster.local')))
    const tree = { kind: 'multicluster' } as const
    const source = sources.open(directiveOf(), tree)
    const [api] = sources.apis
    assert.ok(api)
    const waits = (resource: string): string => `api.test:6443: waits for the list of ${resource}`
    const kinds = ['namespaces', 'services', 'serviceimports', 'endpointslices']
    assert.deepEqual(sources.problems(), kinds.map(waits))
    answerLists(api)
    const absent = new ApiError('the server could not find the requested resource', 404)
    api.answer('serviceimports', absent, absent)
    assert.equal(await within(sources.ready(), 'the lists'), true)
    assert.deepEqual(
      api.paths.filter((path) => path.includes('serviceimports')),
      [
        '/apis/multicluster.x-k8s.io/v1beta1/serviceimports',
        '/apis/multicluster.x-k8s.io/v1alpha1/serviceimports',
      ],
    )
    assert.equal(source.freshness(), 'unserved')
    assert.deepEqual(sources.problems(), [
      'api.test:6443: the API server does not serve serviceimports',
    ])
    const shown = (resource: string, value: number): string =>
      `kubedoh_kubernetes_kind_available{host="api.test:6443",resource="${resource}"} ${value}\n`
    assert.ok(metrics.format().includes(shown('serviceimports', 0)))
    assert.ok(metrics.format().includes(shown('services', 1)))
    sources.keep([])
    await new Promise(setImmediate)
    assert.ok(!metrics.format().includes('kind_available{'))
  })

  test('are shared by directives with the same options', async (t) => {
    const sources = new Sources()
    t.onTestFinished(() => sources.keep([]))
    await sources.prepare(parseBlocks(block('kubernetes cluster.local')))
    const [a, b, c] = directivesOf(
      'kubernetes cluster.local',
      'whoami',
      'kubernetes cluster.local',
      directive('kubernetes cluster.local', 'endpoint http://192.0.2.1:8080'),
    )
    assert.ok(a && b && c)
    assert.notEqual(a.line, b.line)
    assert.equal(sources.open(a), sources.open(b))
    assert.notEqual(sources.open(c), sources.open(a))
    assert.deepEqual(sources.connections, [
      { kind: 'default' },
      { kind: 'endpoint', url: 'http://192.0.2.1:8080', tls: undefined },
    ])
  })

  test('share one watch per API server, whatever their naming options', async (t) => {
    const sources = new Sources()
    t.onTestFinished(() => sources.keep([]))
    await sources.prepare(parseBlocks(block('kubernetes cluster.local')))
    const wanted = [
      { directive: directiveOf(), tree: CLUSTER_TREE },
      { directive: directiveOf('ttl 7'), tree: CLUSTER_TREE },
      { directive: directiveOf(), tree: { kind: 'multicluster' } as const },
    ]
    const [a, b, c] = wanted.map(({ directive: options, tree }) => sources.open(options, tree))
    assert.equal(new Set([a, b, c]).size, 3)
    const [api, ...others] = sources.apis
    assert.ok(api)
    assert.deepEqual(others, [])
    const resources = [...RESOURCES, 'serviceimports']
    await new Promise(setImmediate)
    assert.deepEqual(api.calls.toSorted(), resources.map((name) => `list ${name}`).toSorted())
    answerLists(api)
    api.answer('serviceimports', page('4'))
    assert.equal(await within(sources.ready(), 'the lists'), true)
    assert.deepEqual(namesIn(b?.current(), ['web.shop.svc']), ['web.shop.svc'])
    sources.keep(wanted.slice(0, 2))
    await new Promise(setImmediate)
    assert.throws(() => api.watching('serviceimports'))
    assert.equal(api.watching('services').signal.aborted, false)
  })

  test('publish the hostnames of a k8s_gateway tree, and watch only the kinds it needs', async (t) => {
    const sources = new Sources()
    t.onTestFinished(() => sources.keep([]))
    const blocks = parseBlocks(block('k8s_gateway a.test'))
    await sources.prepare(blocks)
    const [gateway] = blocks[0]?.directives ?? []
    assert.ok(gateway)
    const zones = [nameOf('a.test')]
    const { tree } = parseK8sGateway(gateway, zones)
    const source = sources.open(defaultKubernetes(gateway, zones), tree)
    const [api] = sources.apis
    assert.ok(api)
    const web = (host: string, ip: string): string => `
      { metadata: { namespace: shop, name: web }, spec: { rules: [{ host: ${host} }] },
        status: { loadBalancer: { ingress: [{ ip: ${ip} }] } } }`
    answerLists(api, {
      ingresses: `[${web('old.a.test', '203.0.113.1')}]`,
      services: '',
      endpointslices: '',
    })
    assert.equal(await within(sources.ready(), 'the lists'), true)
    const lists = ['ingresses', 'services', 'endpointslices'].map((name) => `list ${name}`)
    assert.deepEqual(api.calls.slice(0, 3).toSorted(), lists.toSorted())
    const names = ['old.a.test', 'new.a.test']
    assert.deepEqual(hostsIn(source.current(), names), ['old.a.test'])
    const before = source.current()
    api.watching('ingresses').send('MODIFIED', value(web('new.a.test', '203.0.113.1')))
    while (source.current() === before) await new Promise((resolve) => setTimeout(resolve, 5))
    assert.deepEqual(hostsIn(source.current(), names), ['new.a.test'])
  })

  test('are served incomplete after the startup timeout', async (t) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const sources = new Sources()
    t.onTestFinished(() => sources.keep([]))
    await sources.prepare(parseBlocks(block('kubernetes cluster.local')))
    const source = sources.open(directiveOf('startup_timeout 2s'))
    sources.apis[0]?.answer('services', page('1', SHOP_LISTS.services))
    sources.apis[0]?.answer('namespaces', page('1', SHOP_LISTS.namespaces))
    await new Promise(setImmediate)
    vi.advanceTimersByTime(2000)
    assert.equal(await sources.ready(), false)
    assert.deepEqual(namesIn(source.current(), ['web.shop.svc']), ['web.shop.svc'])
    assert.equal(source.freshness(), 'partial')
  })

  test('stop when no directive needs them any more', async (t) => {
    const sources = new Sources()
    t.onTestFinished(() => sources.keep([]))
    await sources.prepare(parseBlocks(block('kubernetes cluster.local')))
    const [kept, dropped] = [directiveOf(), directiveOf('endpoint http://192.0.2.1:8080')]
    const source = sources.open(kept)
    sources.open(dropped)
    for (const api of sources.apis) answerLists(api)
    await within(sources.ready(), 'the lists')
    const [first, second] = sources.apis.map((api) => api.watching('services').signal)
    sources.keep([{ directive: kept, tree: CLUSTER_TREE }])
    await new Promise(setImmediate)
    assert.deepEqual([first?.aborted, second?.aborted], [false, true])
    assert.equal(sources.open(kept), source)
    sources.open(dropped)
    assert.equal(sources.apis.length, 3)
  })

  test('report unusable connection options at their directive', async () => {
    const sources = new Sources({
      loadApi: async () => () => {
        throw new ConnectionError('Cannot find a cluster')
      },
    })
    await sources.prepare(parseBlocks(block('kubernetes cluster.local')))
    assert.throws(() => sources.open(directiveOf()), {
      name: 'ConfigError',
      message: 'Corefile:2:3: Cannot find a cluster',
    })
  })

  test('refuse the names of several clusters', () => {
    assert.throws(() => new Sources().open(directiveOf('cluster prod east')), {
      name: 'ConfigError',
      message:
        'Corefile:2:3: "cluster" with several clusters works at gateways only: this server ' +
        'watches one',
    })
  })
})

describe('clusters from files', () => {
  test('need no API server, are ready at once, and always fresh', async (t) => {
    const sources = new Sources({ objectPaths: [join(shopFolder(t), 'shop.yaml')] })
    await sources.prepare(parseBlocks(block('kubernetes cluster.local')))
    assert.equal(sources.loads.count, 0)
    const source = sources.open(directiveOf('ttl 7'))
    await sources.ready()
    const snapshot = source.current()
    assert.deepEqual(namesIn(snapshot, ['web.shop.svc']), ['web.shop.svc'])
    assert.deepEqual(
      [snapshot?.info.ttlSeconds, snapshot?.info.generation, source.freshness()],
      [7, NOW_MS / 1000, 'fresh'],
    )
    assert.equal(await source.load(), snapshot)
  })

  test('are read once, and their warnings are logged once', async (t) => {
    const bad = 'kind: Service\nmetadata: { namespace: shop, name: 7 }\n'
    const folder = shopFolder(t, { 'bad.yaml': bad })
    const sources = new Sources({ objectPaths: [folder] })
    const one = sources.open(directiveOf())
    const two = sources.open(directiveOf('ttl 7'))
    assert.notEqual(one, two)
    assert.deepEqual(
      sources.events.map(({ level, message }) => [level, message.slice(0, folder.length + 10)]),
      [['warning', `${folder}/bad.yaml:`]],
    )
  })

  test('report a missing file', () => {
    const sources = new Sources({ objectPaths: ['/none/shop.yaml'] })
    assert.throws(() => sources.open(directiveOf()), {
      name: 'ObjectFileError',
      message: '/none/shop.yaml: no such file or folder',
    })
  })
})
