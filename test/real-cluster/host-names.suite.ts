/**
 * Hostnames of objects of a real API server, served by `k8s_gateway`: Ingresses, Services, and
 * routes of a Gateway API, which is added later. Run by `npm run test:cluster`.
 * @module
 */
import { deepEqual } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { type ApiObject, ApiServer } from './api-server.ts'
import { answerOf, type QuestionText, type Server } from './asking.ts'
import { prepareBinaries } from './binaries.ts'
import { definition, GATEWAY_API, namespace, service, slice } from './objects.ts'
import { type Running, start } from './processes.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const binaries = prepareBinaries()
const skip = typeof binaries === 'string' ? binaries : false
const PATIENCE_MS = 10_000
/** Interval at which a kind that the API server does not serve is looked for again. */
const ABSENT_MS = 60_000

/** Only the rights that the README and the plugin's page list. */
const RIGHTS: readonly ApiObject[] = [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'kubedoh-hosts' },
    rules: [
      { apiGroups: [''], resources: ['services'], verbs: ['list', 'watch'] },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
      { apiGroups: ['networking.k8s.io'], resources: ['ingresses'], verbs: ['list', 'watch'] },
      { apiGroups: [GATEWAY_API], resources: ['*'], verbs: ['list', 'watch'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'kubedoh-hosts' },
    roleRef: {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'ClusterRole',
      name: 'kubedoh-hosts',
    },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'exporters' }],
  },
]

function ingress(name: string, host: string): ApiObject {
  const backend = { service: { name: 'web', port: { number: 80 } } }
  const http = { paths: [{ path: '/', pathType: 'Prefix', backend }] }
  const metadata = { name, namespace: 'shop' }
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata,
    spec: { rules: [{ host, http }] },
  }
}

const at = (...ingresses: readonly object[]): object => ({ loadBalancer: { ingress: ingresses } })

describeUnless(skip, 'hostnames of a real cluster', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-hosts-'))
  const running: Running[] = []
  let api: ApiServer
  const servers: Server[] = []

  const serve = async (): Promise<Server> => {
    const port = await freePort()
    const conf = join(folder, 'Corefile')
    const one = start(KUBEDOH, ['serve', '--conf', conf, '--dns.port', String(port)])
    running.push(one)
    await one.line(/^ready/)
    return { protocol: 'udp', port }
  }

  beforeAll(async () => {
    if (typeof binaries === 'string') return
    api = await ApiServer.start(binaries)
    const web = ingress('web', 'web.gw.test')
    const balanced = service('shop/api', { type: 'LoadBalancer' })
    const headless: ApiObject = {
      ...service('shop/db', { clusterIP: 'None' }),
      metadata: {
        name: 'db',
        namespace: 'shop',
        ...{ annotations: { 'k8s-gateway.dns/resolve-endpoints': 'true' } },
      },
    }
    const endpoints = slice('shop/db-1', 'db', [{ addresses: ['10.244.3.1'] }])
    for (const object of [...RIGHTS, namespace('shop'), web, balanced, headless, endpoints]) {
      await api.create(object)
    }
    await api.setStatus(web, at({ ip: '203.0.113.1' }, { ip: '2001:db8::1' }))
    await api.setStatus(balanced, at({ ip: '203.0.113.2' }))
    writeFileSync(
      join(folder, 'Corefile'),
      `gw.test {
    bind 127.0.0.1
    k8s_gateway {
        resources HTTPRoute Ingress Service
        kubeconfig ${api.exporterConfig}
        ttl 30
    }
}
`,
    )
    servers.push(await serve())
  })

  afterAll(async () => {
    for (const one of running.toReversed()) await one.stop()
    await api?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const holds = async (
    question: QuestionText,
    expected: readonly string[],
    { server = servers.at(-1) ?? assertServer(), patienceMs = PATIENCE_MS } = {},
  ): Promise<void> => {
    const startMs = performance.now()
    for (;;) {
      const found = (await answerOf(server, question)).filter((line) => !line.includes(' SOA '))
      if (found.join() === expected.join()) return
      if (performance.now() - startMs > patienceMs) deepEqual(found, expected, question)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  it('are answered', async () => {
    await holds('web.gw.test. A', ['NOERROR AA RD', 'answer web.gw.test. 30 IN A 203.0.113.1'])
    await holds('web.gw.test. AAAA', [
      'NOERROR AA RD',
      'answer web.gw.test. 30 IN AAAA 2001:db8::1',
    ])
    await holds('api.shop.gw.test. A', [
      'NOERROR AA RD',
      'answer api.shop.gw.test. 30 IN A 203.0.113.2',
    ])
    await holds('db.shop.gw.test. A', [
      'NOERROR AA RD',
      'answer db.shop.gw.test. 30 IN A 10.244.3.1',
    ])
    await holds('none.gw.test. A', ['NXDOMAIN AA RD'])
  })

  it('follow changes', async () => {
    const later = ingress('later', '*.later.gw.test')
    await api.create(later)
    await api.setStatus(later, at({ ip: '203.0.113.9' }))
    await holds('x.later.gw.test. A', [
      'NOERROR AA RD',
      'answer x.later.gw.test. 30 IN A 203.0.113.9',
    ])
    await api.delete(later)
    await holds('x.later.gw.test. A', ['NXDOMAIN AA RD'])
  })

  it('include those of routes once the cluster has the Gateway API', async () => {
    for (const [kind, plural] of [
      ['Gateway', 'gateways'],
      ['HTTPRoute', 'httproutes'],
    ] as const) {
      await api.create(definition(kind, plural))
    }
    const apiVersion = `${GATEWAY_API}/v1`
    const gateway: ApiObject = {
      apiVersion,
      kind: 'Gateway',
      metadata: { name: 'public', namespace: 'shop' },
      spec: { gatewayClassName: 'any' },
      status: { addresses: [{ type: 'IPAddress', value: '203.0.113.7' }] },
    }
    const route: ApiObject = {
      apiVersion,
      kind: 'HTTPRoute',
      metadata: { name: 'route', namespace: 'shop' },
      spec: { hostnames: ['route.gw.test'], parentRefs: [{ name: 'public' }] },
    }
    for (const object of [gateway, route]) await created(api, object)
    servers.push(await serve())
    await holds('route.gw.test. A', ['NOERROR AA RD', 'answer route.gw.test. 30 IN A 203.0.113.7'])
  })

  it('follow the Gateway API that a cluster gets, or loses, while a server runs', async () => {
    const [server] = servers
    const expected = ['NOERROR AA RD', 'answer route.gw.test. 30 IN A 203.0.113.7']
    await holds('route.gw.test. A', expected, { server, patienceMs: ABSENT_MS + PATIENCE_MS })
    await api.delete(definition('HTTPRoute', 'httproutes'))
    await holds('route.gw.test. A', ['NXDOMAIN AA RD'], { server })
    await holds('web.gw.test. A', ['NOERROR AA RD', 'answer web.gw.test. 30 IN A 203.0.113.1'], {
      server,
    })
  })
})

function assertServer(): never {
  throw new Error('no server runs')
}

/** Creates an object; retries while the API server does not serve its new CRD yet. */
async function created(api: ApiServer, object: ApiObject): Promise<void> {
  const startMs = performance.now()
  for (;;) {
    try {
      await api.create(object)
      return
    } catch (error) {
      if (performance.now() - startMs > PATIENCE_MS) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
