/**
 * Objects of a real API server in Protocol Buffers and in JSON: both give the same. Run by
 * `npm run test:cluster`.
 * @module
 */
import { deepEqual, ok, rejects } from 'node:assert/strict'
import { afterAll, beforeAll, it } from 'vitest'
import {
  type Collection,
  collectionsFor,
  type ObjectApi,
} from '../../src/cluster/api/object-api.ts'
import { openApi } from '../../src/cluster/follow/watch.ts'
import { parseObject } from '../../src/cluster/objects/parse-object.ts'
import { recordOf } from '../../src/dns/bytes/unknown.ts'
import { describeUnless } from '../describe-unless.ts'
import { type ApiObject, ApiServer } from './api-server.ts'
import { prepareBinaries } from './binaries.ts'
import { namespace, pod, RIGHTS, rareObjects, service, shopObjects, slice } from './objects.ts'

const binaries = prepareBinaries()
const skip = typeof binaries === 'string' ? binaries : false
const WATCH_MS = 10_000

const READ = collectionsFor({ tree: { kind: 'cluster' }, pods: 'verified', hasEndpoints: true })
const EVERY_POD = READ.map(({ fieldSelector: _, ...rest }): Collection => rest)

const BALANCED = service('forms/balanced', {
  type: 'LoadBalancer',
  externalIPs: ['192.0.2.7'],
  ports: [
    { name: 'https', port: 443, appProtocol: 'https', nodePort: 30443 },
    { name: 'dns', port: 53, protocol: 'UDP' },
  ],
})
const RUNNING = pod('forms/running')
const CHANGED = 'endpoints.kubernetes.io/last-change-trigger-time'

/** Adds labels or annotations. */
function withMeta(object: ApiObject, added: Readonly<Record<string, object>>): ApiObject {
  return { ...object, metadata: { ...object.metadata, ...added } }
}

/** Objects that have every field that we read, and some that we do not. */
const FORMS: readonly ApiObject[] = [
  withMeta(namespace('forms'), { labels: { team: 'web', 'a.test/x': '' } }),
  withMeta(BALANCED, {
    annotations: {
      'external-dns.alpha.kubernetes.io/hostname': 'a.test, b.test',
      'example.org/greeting': 'grüße …',
    },
  }),
  service('forms/external', { type: 'ExternalName', externalName: 'www.a.test' }),
  service('forms/headless', { clusterIP: 'None', publishNotReadyAddresses: true }),
  service('forms/node', { type: 'NodePort' }),
  withMeta(
    slice(
      'forms/full',
      'headless',
      [
        {
          addresses: ['10.9.0.1'],
          conditions: { ready: false, serving: true, terminating: true },
          hostname: 'one',
          nodeName: 'node-1',
          targetRef: { kind: 'Pod', namespace: 'forms', name: 'running', uid: 'u' },
          zone: 'EU-1a',
        },
        { addresses: ['10.9.0.2'], conditions: {}, hints: { forZones: [{ name: 'x' }] } },
        { addresses: ['10.9.0.3'], conditions: { ready: true } },
      ],
      { ports: [{ port: 80 }, { name: 'dns', port: 53, protocol: 'UDP', appProtocol: 'x' }] },
    ),
    { annotations: { [CHANGED]: '2026-11-28T08:00:00.5Z' } },
  ),
  slice('forms/names', 'headless', [{ addresses: ['a.test'] }], { addressType: 'FQDN' }),
  RUNNING,
  pod('forms/pending'),
]

describeUnless(skip, 'Protocol Buffers of a real API server', () => {
  let server: ApiServer
  let api: ObjectApi

  beforeAll(async () => {
    if (typeof binaries === 'string') throw new Error(binaries)
    server = await ApiServer.start(binaries)
    for (const object of [...RIGHTS, ...shopObjects(), ...rareObjects(), ...FORMS]) {
      await server.create(object)
    }
    const ingress = [{ ip: '192.0.2.8', ipMode: 'Proxy' }, { hostname: 'lb.a.test' }]
    await server.setStatus(BALANCED, { loadBalancer: { ingress } })
    await server.setStatus(RUNNING, { phase: 'Running', podIP: '10.9.0.1' })
    const { exporterConfig: path } = server
    api = openApi({ kind: 'kubeconfig', path, context: undefined })
  }, 300_000)

  afterAll(() => server?.stop())

  /** Returns the objects of a collection by name, as they are parsed. */
  function parsed(items: readonly unknown[], { kind }: Collection): Map<string, unknown> {
    const named = items.map((item) => {
      const { namespace: space = '', name } = recordOf(recordOf(item).metadata)
      return [`${space}/${name}`, parseObject(item, kind)] as const
    })
    return new Map(named.sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  async function listed(collection: Collection): Promise<readonly unknown[]> {
    const { items, resourceVersion } = await api.list(collection, '', AbortSignal.timeout(WATCH_MS))
    ok(Number(resourceVersion) > 0)
    return items
  }

  /** Reads the initial events of a watch. */
  async function streamed(collection: Collection): Promise<readonly unknown[]> {
    const items: unknown[] = []
    const ended = new AbortController()
    await api.watch(collection, {
      resourceVersion: '',
      sendInitialEvents: true,
      onOpen: () => undefined,
      onEvent: ({ type, object }) => {
        if (type === 'ADDED') items.push(object)
        const { annotations } = recordOf(recordOf(object).metadata)
        if (recordOf(annotations)['k8s.io/initial-events-end'] === 'true') ended.abort()
      },
      signal: AbortSignal.any([ended.signal, AbortSignal.timeout(WATCH_MS)]),
    })
    return items
  }

  for (const collection of EVERY_POD) {
    const { resource, hasProtobuf, ...inJson } = collection
    it(`has the same ${resource} as JSON`, async () => {
      deepEqual(hasProtobuf, true)
      const expected = parsed(await listed({ ...inJson, resource }), collection)
      ok(expected.size > 1)
      deepEqual(parsed(await listed(collection), collection), expected)
      deepEqual(parsed(await streamed(collection), collection), expected)
    })
  }

  it('has the reason of a refusal', async () => {
    const [collection] = EVERY_POD
    ok(collection)
    const secrets = { ...collection, path: '/api/v1/secrets' }
    await rejects(listed(secrets), { status: 403, message: /^secrets is forbidden: User/ })
  })
})
