/**
 * Exporters of one real cluster: two that elect a leader by a Lease, and one that loses rights.
 * Run by `npm run test:cluster`.
 * @module
 */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { type LocalGateway, startGateway } from '../../build/local-gateway.ts'
import { recordOf } from '../../src/dns/bytes/unknown.ts'
import { createClusterKeys } from '../../src/exporter/cluster-keys.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { type ApiObject, ApiServer } from './api-server.ts'
import { answerOf, type QuestionText, type Server } from './asking.ts'
import { prepareBinaries } from './binaries.ts'
import { LEASE_RIGHTS, RIGHTS, service, shopObjects } from './objects.ts'
import { type Running, start } from './processes.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const LEASE = 'kube-system/kubedoh'
const SETTLE_MS = 30_000
/** The hand-over after a crash: the goal, from the kill to an answer at the gateway. */
const CRASH_MS = 3000

const binaries = prepareBinaries()
const skip = typeof binaries === 'string' ? binaries : false

type Exporter = Running & { readonly status: string }

describeUnless(skip, 'exporters of a real cluster', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-exporters-'))
  const corefile = join(folder, 'Corefile')
  const running: Exporter[] = []
  let api: ApiServer
  let gateway: LocalGateway
  let keys: Awaited<ReturnType<typeof createClusterKeys>>
  let edge: Server

  const startExporter = async (lease = LEASE): Promise<Exporter> => {
    const listen = `127.0.0.1:${await freePort()}`
    const args = ['--gateway', gateway.url, '--cluster', 'test', '--conf', corefile]
    const election = lease !== '' && { KUBEDOH_LEASE: lease, KUBEDOH_CANARY: 'shop/canary' }
    const one = start(KUBEDOH, ['export', ...args, '--listen', listen], {
      ...election,
      KUBEDOH_TOKEN: keys.token,
      KUBEDOH_SIGNING_KEY: keys.signingKey,
      KUBEDOH_CLIENT_TOKEN: keys.token,
    })
    const exporter = { ...one, status: `http://${listen}` }
    running.push(exporter)
    return exporter
  }
  const generation = async (): Promise<number> => {
    const headers = { authorization: `Bearer ${keys.token}` }
    const response = await fetch(`${gateway.url}/v1/clusters/test`, { headers })
    return Number(recordOf(await response.json()).generation)
  }
  /** Adds a Service. Returns the milliseconds until the gateway answers with it. */
  const addService = async (name: string, clusterIP: string): Promise<number> => {
    const startMs = performance.now()
    await api.create(service(`shop/${name}`, { clusterIP }))
    await until(async () => (await answers(edge, name)).includes(clusterIP))
    return performance.now() - startMs
  }

  beforeAll(async () => {
    if (typeof binaries === 'string') return
    api = await ApiServer.start(binaries)
    for (const object of [...RIGHTS, ...LEASE_RIGHTS, ...shopObjects()]) await api.create(object)
    writeFileSync(corefile, formatCorefile(api.exporterConfig))
    keys = await createClusterKeys()
    const clusters = { test: { publicKey: keys.publicKey, tokenSha256: keys.tokenSha256 } }
    gateway = await startGateway({
      port: 0,
      variables: {
        REQUESTS_PER_MINUTE: '0',
        COREFILE: '. {\n  kubernetes cluster.local {\n    cluster test\n  }\n}\n',
        CLUSTERS: JSON.stringify(clusters),
        CLIENT_TOKEN_SHA256: keys.tokenSha256,
      },
    })
    edge = { protocol: 'doh', url: gateway.url, token: keys.token }
  })

  afterAll(async () => {
    await Promise.all(running.map(({ stop }) => stop()))
    await gateway?.stop()
    await api?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('only the elected one publishes; the other is ready and follows', async () => {
    const [leader, follower] = await startPair()
    match(await textOf(`${leader.status}/readyz`), /^OK$/)
    match(await textOf(`${follower.status}/readyz`), /^OK, follows \S+_[0-9a-f-]{36}$/)
    await addService('first', '10.96.77.1')
    const published = 'kubedoh_exporter_publishes_total{result="stored"}'
    ok((await metric(leader, published)) >= 2)
    equal(await metric(follower, published), 0)
    const leads = 'leader_election_master_status{name="kubedoh"}'
    deepEqual([await metric(leader, leads), await metric(follower, leads)], [1, 0])
    const measured = 'kubedoh_exporter_edge_duration_seconds_count'
    await until(async () => (await metric(leader, measured)) > 0)
    equal(await metric(follower, measured), 0)
    for (const resource of ['services', 'namespaces', 'endpointslices']) {
      const requests = `kubedoh_kubernetes_requests_total{resource="${resource}"`
      // The server and its etcd stream lists, so the watch is the only request.
      const lists = await metric(leader, `${requests},verb="list",code="200"}`)
      const watches = await metric(leader, `${requests},verb="watch",code="200"}`)
      deepEqual([lists, watches], [0, 1], resource)
    }
  })

  it('the follower takes over when the leader crashes, or ends', async () => {
    const before = await generation()
    const [leader, follower] = running
    ok(leader && follower)
    leader.child.kill('SIGKILL')
    const crashMs = await addService('second', '10.96.77.2')
    ok(crashMs < CRASH_MS, `after ${crashMs} ms`)
    const between = await generation()
    ok(between > before)
    const third = await startExporter()
    await until(async () => (await textOf(`${third.status}/readyz`)).startsWith('OK, follows'))
    equal(await follower.stop(), 0)
    const endMs = await addService('third', '10.96.77.3')
    ok((await generation()) > between)
    equal(await metric(third, 'kubedoh_exporter_publishes_total{result="failed"}'), 0)
    process.stdout.write(
      `hand-over until answered: ${crashMs.toFixed(0)} ms after a crash, ` +
        `${endMs.toFixed(0)} ms after SIGTERM\n`,
    )
  })

  it('names the missing verbs, at the start and while it runs, and goes on with the rest', async () => {
    const [role] = RIGHTS
    ok(role)
    const exporter = running.at(-1)
    ok(exporter)
    await api.patch(role, { rules: rulesWithout(role, 'services') })
    const second = await startExporter('')
    match(
      await second.line(/cannot follow services/),
      /cannot list or watch services, add to its ClusterRole: .*\[\\"list\\",\\"watch\\"\]/,
    )
    equal(await second.stop(), 0)
    // An open watch outlives the right; a new one does not.
    await api.pause()
    await api.resume()
    await exporter.line(/cannot list or watch services/)
    const lines = exporter.tail().match(/cannot list or watch services/g)
    equal(lines?.length, 1, exporter.tail())
    match(await answers(edge, 'third'), /10\.96\.77\.3/)
    // This watch, too, has to be opened again.
    const connected = 'kubedoh_exporter_watch_connected{resource="namespaces"}'
    await until(async () => (await metric(exporter, connected)) === 1)
    await api.patch(role, { rules: role.rules })
    await addService('fourth', '10.96.77.4')
  })

  it('creates Events on the objects that claim one hostname, once it may', async () => {
    for (const one of running) if (one.child.exitCode === null) await one.stop()
    const [role] = RIGHTS
    ok(role && Array.isArray(role.rules))
    const verbs = ['list', 'watch']
    const ingresses = { apiGroups: ['networking.k8s.io'], resources: ['ingresses'], verbs }
    await api.patch(role, { rules: [...role.rules, ingresses] })
    for (const namespace of ['default', 'shop']) {
      const [ingress, status] = ingressIn(namespace)
      await api.create(ingress)
      await api.setStatus(ingress, status)
    }
    writeFileSync(corefile, formatCorefile(api.exporterConfig, 'k8s_gateway apps.test'))
    const refused = await startExporter('')
    await refused.line(/cannot create an Event about a hostname: .*\[\\"events\\"\]/)
    equal(await refused.stop(), 0)
    const events = { apiGroups: [''], resources: ['events'], verbs: ['create'] }
    await api.patch(role, { rules: [...role.rules, ingresses, events] })
    const created = async (one: Exporter, code: number): Promise<number> =>
      metric(
        one,
        `kubedoh_kubernetes_requests_total{resource="events",verb="create",code="${code}"}`,
      )
    const first = await startExporter('')
    await until(async () => (await created(first, 200)) === 2)
    equal(await first.stop(), 0)
    // The server keeps an Event for an hour: the next process finds that it exists.
    const second = await startExporter('')
    await until(async () => (await created(second, 409)) === 2)
    equal(await created(second, 200), 0)
  })

  async function startPair(): Promise<readonly [Exporter, Exporter]> {
    const leader = await startExporter()
    await leader.line(/^ready/)
    const follower = await startExporter()
    await until(async () => (await textOf(`${follower.status}/readyz`)).startsWith('OK'))
    return [leader, follower]
  }
})

function formatCorefile(kubeconfig: string, more = ''): string {
  return `. {\n  kubernetes cluster.local {\n    kubeconfig ${kubeconfig}\n  }\n  ${more}\n}\n`
}

/** Returns an Ingress with a hostname that another one has, too, and its status. */
function ingressIn(namespace: string): readonly [ApiObject, unknown] {
  const path = {
    path: '/',
    pathType: 'Prefix',
    backend: { service: { name: 'x', port: { number: 80 } } },
  }
  const ingress = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'www', namespace },
    spec: { rules: [{ host: 'www.apps.test', http: { paths: [path] } }] },
  }
  return [ingress, { loadBalancer: { ingress: [{ ip: '203.0.113.1' }] } }]
}

function rulesWithout({ rules }: ApiObject, resource: string): unknown[] {
  if (!Array.isArray(rules)) return []
  return rules.map((rule: unknown) => {
    const { resources, ...rest } = recordOf(rule)
    const left = Array.isArray(resources) ? resources.filter((one) => one !== resource) : []
    return { ...rest, resources: left }
  })
}

async function answers(edge: Server, name: string): Promise<string> {
  const question: QuestionText = `${name}.shop.svc.cluster.local. A`
  return (await answerOf(edge, question)).join('\n')
}

async function textOf(url: string): Promise<string> {
  try {
    return await (await fetch(url)).text()
  } catch {
    return ''
  }
}

async function metric({ status }: Exporter, series: string): Promise<number> {
  const lines = (await textOf(`${status}/metrics`)).split('\n')
  return Number(lines.find((line) => line.startsWith(`${series} `))?.slice(series.length) ?? 0)
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const startMs = performance.now()
  while (!(await holds())) {
    if (performance.now() - startMs > SETTLE_MS) throw new Error(`not within ${SETTLE_MS} ms`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
