/**
 * DNSRecords and HostRoutes of a real API server: its schema and our parser refuse the same
 * objects, and the exporter writes their conditions. Run by `npm run test:cluster`.
 * @module
 */
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { type LocalGateway, startGateway } from '../../build/local-gateway.ts'
import { recordOf } from '../../src/dns/bytes/unknown.ts'
import { createClusterKeys } from '../../src/exporter/cluster-keys.ts'
import { DEFINITION, INVALID, VALID } from '../cluster/dns-record-cases.ts'
import {
  INVALID_ROUTES,
  ROUTE_DEFINITION,
  routeTo,
  VALID_ROUTES,
} from '../cluster/host-route-cases.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { type ApiObject, ApiServer } from './api-server.ts'
import { answerOf, type QuestionText, type Server } from './asking.ts'
import { prepareBinaries } from './binaries.ts'
import { namespace, RIGHTS, service } from './objects.ts'
import { type Running, start } from './processes.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const binaries = prepareBinaries()
const skip = typeof binaries === 'string' ? binaries : false
const PATIENCE_MS = 30_000
const GROUP = 'kubedoh.dev'

const OURS = ['dnsrecords', 'hostroutes']
const READ = { apiGroups: [GROUP], resources: OURS, verbs: ['list', 'watch'] }
const WRITE = {
  apiGroups: [GROUP],
  resources: OURS.map((one) => `${one}/status`),
  verbs: ['update'],
}
const NAME_TAKEN = 'www.open.a.test'

function record(key: string, spec: unknown, kind = 'DNSRecord'): ApiObject {
  const [space = '', name = ''] = key.split('/')
  const metadata = { namespace: space, name }
  return { apiVersion: `${GROUP}/v1alpha1`, kind, metadata, spec }
}

function address(zone: string, value: string): object {
  return { zone, name: 'www', type: 'A', values: [value] }
}

function corefile(kubeconfig: string): string {
  return `. {
    bind 127.0.0.1
    kubernetes cluster.local {
        kubeconfig ${kubeconfig}
    }
    k8s_gateway a.test {
        kubeconfig ${kubeconfig}
        resources DNSRecord HostRoute
        router Service shop/router
        recordZones shop shop.a.test
        recordZones * open.a.test
    }
}
`
}

describeUnless(skip, 'DNSRecords of a real API server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-records-'))
  const conf = join(folder, 'Corefile')
  const running: Running[] = []
  let api: ApiServer
  let gateway: LocalGateway
  let edge: Server
  let exporter: Running

  beforeAll(async () => {
    if (typeof binaries === 'string') return
    api = await ApiServer.start(binaries)
    writeFileSync(conf, corefile(api.exporterConfig))
    const names = ['shop', 'web', 'try'].map(namespace)
    for (const object of [...RIGHTS, ...names]) await api.create(object)
    await api.create(DEFINITION as ApiObject)
    await api.create(ROUTE_DEFINITION as ApiObject)
    await until(() => isTaken(api, record('try/first', VALID[0]?.spec)))
    await until(() => isTaken(api, record('try/first', VALID_ROUTES[0], 'HostRoute')))
  })

  afterAll(async () => {
    for (const one of running.toReversed()) await one.stop()
    await gateway?.stop()
    await api?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('are taken if they are valid', async () => {
    equal(VALID.length, 20)
    for (const [i, { spec }] of VALID.entries()) await api.create(record(`try/valid-${i}`, spec))
    equal(VALID_ROUTES.length, 9)
    for (const [i, spec] of VALID_ROUTES.entries()) {
      await api.create(record(`try/valid-${i}`, spec, 'HostRoute'))
    }
  })

  it('are refused if they are invalid', async () => {
    equal(INVALID.length >= 30, true)
    for (const [i, { spec }] of INVALID.entries()) {
      const created = api.create(record(`try/invalid-${i}`, spec))
      await rejects(created, /: 422 .*spec/, JSON.stringify(spec)?.slice(0, 100))
    }
    equal(INVALID_ROUTES.length >= 30, true)
    for (const [i, spec] of INVALID_ROUTES.entries()) {
      const created = api.create(record(`try/invalid-${i}`, spec, 'HostRoute'))
      await rejects(created, /: 422 .*spec/, JSON.stringify(spec).slice(0, 100))
    }
  })

  it('are answered at the gateway, also if the exporter may not write their status', async () => {
    const [role = assertRole()] = RIGHTS
    const allowed = [...(Array.isArray(role.rules) ? role.rules : []), READ]
    await api.patch(role, { rules: allowed })
    await api.create(record('shop/www', address('open.a.test', '203.0.113.1')))
    const keys = await createClusterKeys()
    const clusters = { test: { publicKey: keys.publicKey, tokenSha256: keys.tokenSha256 } }
    gateway = await startGateway({
      port: 0,
      variables: {
        REQUESTS_PER_MINUTE: '0',
        COREFILE: 'a.test {\n  k8s_gateway {\n    cluster test\n  }\n}\n',
        CLUSTERS: JSON.stringify(clusters),
        CLIENT_TOKEN_SHA256: keys.tokenSha256,
      },
    })
    edge = { protocol: 'doh', url: gateway.url, token: keys.token }
    const args = ['--gateway', gateway.url, '--cluster', 'test', '--conf', conf, '--listen', '']
    exporter = start(KUBEDOH, ['export', ...args], {
      KUBEDOH_TOKEN: keys.token,
      KUBEDOH_SIGNING_KEY: keys.signingKey,
    })
    running.push(exporter)
    await exporter.line(/cannot write the status of DNSRecords: .*dnsrecords\/status/)
    match(await answers(edge, `${NAME_TAKEN}. A`), /203\.0\.113\.1/)
    await api.patch(role, { rules: [...allowed, WRITE] })
    const conditions = ['Accepted True Accepted', 'Programmed True Programmed']
    await has(record('shop/www', {}), conditions)
    equal(exporter.tail().match(/cannot write the status of DNSRecords/g)?.length, 1)
  })

  it('have the reason why they are refused', async () => {
    // Times of creation are whole seconds: of two objects of one second, the first by name is
    // older.
    const cases: [key: string, spec: object, reason: string][] = [
      ['web/taken', address('open.a.test', '203.0.113.2'), 'Conflict'],
      ['web/far', address('shop.a.test', '203.0.113.3'), 'OutsideAllowedZones'],
      [
        'shop/xcname',
        { zone: 'open.a.test', name: 'www', type: 'CNAME', values: ['lb.test'] },
        'CNAMEBesideOtherData',
      ],
    ]
    for (const [key, spec, reason] of cases) {
      const object = record(key, spec)
      await api.create(object)
      await has(object, [`Accepted False ${reason}`, 'Programmed False NotAccepted'])
    }
    const taken = await answers(edge, `${NAME_TAKEN}. A`)
    match(taken, /203\.0\.113\.1$/)
    await api.delete(record('shop/xcname', {}))
    await api.delete(record('shop/www', {}))
    await has(record('web/taken', {}), ['Accepted True Accepted', 'Programmed True Programmed'])
    await until(async () => (await answers(edge, `${NAME_TAKEN}. A`)).endsWith('203.0.113.2'))
  })

  it('of a host resolve to the router', async () => {
    const host = 'x.shop.a.test'
    const route = record('shop/x', { ...routeTo('/'), host }, 'HostRoute')
    await api.create(route)
    const refused = ['Accepted False RouterHasNoAddress', 'Programmed False NotAccepted']
    await has(route, refused)
    await api.create(service('shop/router', { type: 'LoadBalancer' }))
    const ingress = [{ ip: '203.0.113.9', ipMode: 'VIP' }]
    await api.setStatus(service('shop/router'), { loadBalancer: { ingress } })
    await has(route, ['Accepted True Accepted', 'Programmed True Programmed'])
    await until(async () => (await answers(edge, `${host}. A`)).endsWith('203.0.113.9'))
    await api.delete(route)
    await until(async () => (await answers(edge, `${host}. A`)).startsWith('NXDOMAIN'))
  })

  it('are answered by a server in the cluster', async () => {
    const port = await freePort()
    const server = start(KUBEDOH, ['serve', '--conf', conf, '--dns.port', String(port)])
    running.push(server)
    await server.line(/^ready/)
    deepEqual(await answerOf({ protocol: 'udp', port }, `${NAME_TAKEN}. A`), [
      'NOERROR AA RD',
      `answer ${NAME_TAKEN}. 60 IN A 203.0.113.2`,
    ])
  })

  /** Waits until a record has these conditions, `TYPE STATUS REASON`. */
  async function has(object: ApiObject, expected: readonly string[]): Promise<void> {
    let found: string[] = []
    const holds = async (): Promise<boolean> => {
      const { conditions = [] } = recordOf(recordOf(await api.read(object)).status)
      found = (Array.isArray(conditions) ? conditions : []).map((one) => {
        const { type, status, reason } = recordOf(one)
        return `${type} ${status} ${reason}`
      })
      return found.join() === expected.join()
    }
    await until(holds, () => deepEqual(found, expected, JSON.stringify(object.metadata)))
  }
})

function assertRole(): never {
  throw new Error('the exporter has no role')
}

async function answers(edge: Server, question: QuestionText): Promise<string> {
  return (await answerOf(edge, question)).join('\n')
}

/** Creates an object; false while the API server does not serve its kind yet. */
async function isTaken(api: ApiServer, object: ApiObject): Promise<boolean> {
  try {
    await api.create(object)
    return true
  } catch {
    return false
  }
}

async function until(
  holds: () => Promise<boolean>,
  fail: () => void = () => undefined,
): Promise<void> {
  const startMs = performance.now()
  while (!(await holds())) {
    if (performance.now() - startMs > PATIENCE_MS) {
      fail()
      throw new Error(`not within ${PATIENCE_MS / 1000} s`)
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
