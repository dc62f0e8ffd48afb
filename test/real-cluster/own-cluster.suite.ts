/**
 * Three gateways that each follow a real API server themselves, with nothing else in common: no
 * exporter, no store, no leader for names. One of them is killed, and the API server goes away. Run
 * by `npm run test:cluster`.
 * @module
 */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, it } from 'vitest'
import { listOf, recordOf } from '../../src/dns/bytes/unknown.ts'
import { createClusterKeys, createToken } from '../../src/exporter/cluster-keys.ts'
import { TOKEN_DEFINITION } from '../cluster/client-token-cases.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { type ApiObject, ApiServer } from './api-server.ts'
import { prepareBinaries } from './binaries.ts'
import { bindingOf, READ_SECRETS, secret, TOKENS_ROLE, textOf, token } from './client-tokens.ts'
import {
  LEASE_RIGHTS,
  namespace,
  RBAC_RIGHTS,
  RIGHTS,
  service,
  shopObjects,
  slice,
} from './objects.ts'
import { type Running, start } from './processes.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const PATIENCE_MS = 30_000
/** What the documentation promises of a change of a ClientToken, and of a name. */
const TOKEN_MS = 5000
const NAME_MS = 500
const CHANGES = 20
const HOME = 'kubedoh'
const ISSUER = 'https://kubernetes.default.svc.cluster.local'
const COREFILE = ['own', 'pushed']
  .map((id) => `${id}.example {\n  kubernetes {\n    cluster ${id}\n  }\n}\n`)
  .join('')
const READER = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: { name: 'reader', namespace: 'shop' },
  rules: [{ apiGroups: [''], resources: ['services'], verbs: ['get'] }],
}
const READER_BINDING = {
  ...bindingOf(READER),
  subjects: [{ kind: 'ServiceAccount', name: 'job', namespace: 'shop' }],
}
const ACCOUNT = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'job', namespace: 'shop' },
}

const binaries = prepareBinaries()
const skip = typeof binaries === 'string' ? binaries : false

/** A gateway, which may be killed and started again. */
type Replica = { readonly url: string; readonly open: () => Running; running: Running }

describeUnless(skip, 'gateways that follow an API server themselves', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-own-'))
  const replicas: Replica[] = []
  const others: Running[] = []
  let api: ApiServer
  let client = ''
  let pushed: Awaited<ReturnType<typeof createClusterKeys>>

  const file = (name: string, text: string): string => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }

  /** Returns the RCODE of a response and the data of its answers. */
  async function ask(url: string, name: string, text = client): Promise<string> {
    const headers = { authorization: `Bearer ${text}` }
    const response = await fetch(`${url}/resolve?name=${name}&type=A`, { headers })
    if (response.status !== 200) return `HTTP ${response.status}`
    const { Status, Answer } = recordOf(await response.json())
    return [Status, ...listOf(Answer).map((one) => recordOf(one).data)].join(' ')
  }
  const inShop = (name: string): string => `${name}.shop.svc.own.example`
  /** Waits until all gateways give the same response; resolves with how long each took. */
  async function untilAll(name: string, expected: string, text?: string): Promise<number[]> {
    const startMs = performance.now()
    return Promise.all(
      replicas.map(async ({ url, running }) => {
        for (;;) {
          const found = await ask(url, name, text).catch(String)
          const tookMs = performance.now() - startMs
          if (found === expected) return tookMs
          ok(tookMs < PATIENCE_MS, `${name}: ${found} at ${url}\n${running.tail()}`)
          await sleep(2)
        }
      }),
    )
  }
  const isReady = async ({ url }: Replica): Promise<boolean> =>
    fetch(`${url}/ready`).then(
      ({ status }) => status === 200,
      () => false,
    )
  async function untilReady(replica: Replica): Promise<void> {
    const startMs = performance.now()
    while (!(await isReady(replica))) {
      ok(performance.now() - startMs < PATIENCE_MS, replica.running.tail())
      await sleep(20)
    }
  }
  async function addReplica(environment: Readonly<Record<string, string>>): Promise<void> {
    const listen = `127.0.0.1:${await freePort()}`
    const args = ['gateway', '--conf', file('gateway', COREFILE), '--listen', listen]
    const open = (): Running => start(KUBEDOH, args, environment)
    replicas.push({ url: `http://${listen}`, open, running: open() })
  }
  async function kill(replica: Replica | undefined): Promise<Replica> {
    ok(replica)
    replica.running.child.kill('SIGKILL')
    await replica.running.ended
    return replica
  }
  async function statusOf(object: ApiObject): Promise<string> {
    const { status, metadata } = recordOf(await api.read(object))
    const [condition] = listOf(recordOf(status).conditions).map(recordOf)
    const { resourceVersion } = recordOf(metadata)
    return `${condition?.status} ${condition?.reason} ${resourceVersion}`
  }

  beforeAll(async () => {
    if (typeof binaries === 'string') return
    api = await ApiServer.start(binaries)
    const rights = [
      ...[...RIGHTS, ...RBAC_RIGHTS, ...LEASE_RIGHTS, TOKENS_ROLE, bindingOf(TOKENS_ROLE)],
      ...[...shopObjects(), namespace(HOME), namespace('secret')],
      ...[READ_SECRETS, bindingOf(READ_SECRETS), READER, READER_BINDING, ACCOUNT],
      ...[service('secret/web', { clusterIP: '10.96.77.1' }), TOKEN_DEFINITION as ApiObject],
    ]
    for (const object of rights) await api.create(object)
    pushed = await createClusterKeys()
    const { publicKey, tokenSha256 } = pushed
    const { token: text, sha256 } = await createToken()
    client = text
    const kubernetes = `kubernetes cluster.local {\n    kubeconfig ${api.exporterConfig}\n  }`
    const environment = {
      CLUSTERS: JSON.stringify({ pushed: { publicKey, tokenSha256 } }),
      CLIENT_TOKEN_SHA256: sha256,
      ISSUERS: JSON.stringify([
        {
          issuer: ISSUER,
          audiences: ['kubedoh'],
          keys: 'cluster:own',
          rules: [
            { when: { sub: 'system:serviceaccount:*' }, clusters: ['own'], namespaces: 'rbac' },
          ],
        },
      ]),
      REQUESTS_PER_MINUTE: '0',
      KUBEDOH_CLUSTER: 'own',
      KUBEDOH_CLUSTER_COREFILE: file('own', `. {\n  ${kubernetes}\n}\n`),
      KUBEDOH_CLIENT_TOKENS: HOME,
      KUBEDOH_RBAC: '1',
      KUBEDOH_LEASE: 'kube-system/kubedoh',
    }
    for (let i = 0; i < 3; i++) await addReplica(environment)
    for (const replica of replicas) await untilReady(replica)
  })

  afterAll(async () => {
    await Promise.all([...replicas.map(({ running }) => running), ...others].map((p) => p.stop()))
    await api?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('answer a change of a Service or of its endpoints within half a second', async () => {
    const times: number[] = []
    for (let i = 0; i < CHANGES; i++) {
      const address = `10.96.78.${i + 1}`
      await api.create(service(`shop/new-${i}`, { clusterIP: address }))
      times.push(...(await untilAll(inShop(`new-${i}`), `0 ${address}`)))
    }
    await api.create(service('shop/headless', { clusterIP: 'None' }))
    await api.create(slice('shop/headless-1', 'headless', [{ addresses: ['10.244.9.9'] }]))
    times.push(...(await untilAll(inShop('headless'), '0 10.244.9.9')))
    times.sort((a, b) => a - b)
    const [median = 0, most = 0] = [times[times.length >> 1], times.at(-1)]
    const text = `median ${median.toFixed(0)} ms, most ${most.toFixed(0)} ms`
    process.stdout.write(`a change answered by each of three gateways: ${text}\n`)
    ok(median < NAME_MS, text)
  })

  it('take a ClientToken while its object exists, and write its status once', async () => {
    const text = textOf('own')
    const object = token('shop/ci', { secretRef: { name: 'ci' } })
    await api.create(secret('shop/ci', text))
    await api.create(object)
    const taken = Math.max(...(await untilAll(inShop('new-0'), '0 10.96.78.1', text)))
    await untilAll('web.secret.svc.own.example', '3', text)
    while (!(await statusOf(object)).startsWith('True Accepted')) await sleep(20)
    // The day of the first use follows, and then nothing.
    await sleep(3000)
    const status = await statusOf(object)
    await sleep(3000)
    equal(await statusOf(object), status)
    const one = await kill(replicas[0])
    one.running = one.open()
    await untilReady(one)
    equal(await ask(one.url, inShop('new-0'), text), '0 10.96.78.1')
    await api.delete(object)
    const refused = Math.max(...(await untilAll(inShop('new-0'), 'HTTP 401', text)))
    const times = `${taken.toFixed(0)} ms, refused ${refused.toFixed(0)} ms`
    process.stdout.write(`a ClientToken at three gateways: accepted ${times} after the change\n`)
    ok(taken < TOKEN_MS && refused < TOKEN_MS, times)
  })

  it('show a ServiceAccount what RBAC lets it read', async () => {
    const text = await api.serviceAccountToken(ACCOUNT, 'kubedoh')
    await untilAll(inShop('new-0'), '0 10.96.78.1', text)
    await untilAll('web.secret.svc.own.example', '3', text)
    await api.delete(READER_BINDING)
    await untilAll(inShop('new-0'), '3', text)
  })

  it('are ready after a crash when the lists are read, while the others answer', async () => {
    const one = await kill(replicas[1])
    await api.create(service('shop/late', { clusterIP: '10.96.78.200' }))
    equal(await isReady(one), false)
    const startMs = performance.now()
    one.running = one.open()
    await untilReady(one)
    equal(await ask(one.url, inShop('late')), '0 10.96.78.200')
    const tookMs = (performance.now() - startMs).toFixed(0)
    process.stdout.write(`a gateway is ready ${tookMs} ms after its start\n`)
    await untilAll(inShop('late'), '0 10.96.78.200')
  })

  it('answer while the API server is away, and have what changed when it is back', async () => {
    await api.pause()
    for (const { url } of replicas) equal(await ask(url, inShop('late')), '0 10.96.78.200')
    const one = await kill(replicas[2])
    one.running = one.open()
    await one.running.line(/^ready/)
    await sleep(1000)
    equal(await isReady(one), false)
    // Only etcd has this change: no watch sees it.
    await api.resume()
    await api.delete(service('shop/late'))
    await api.create(service('shop/back', { clusterIP: '10.96.78.201' }))
    await untilAll(inShop('back'), '0 10.96.78.201')
    await untilAll(inShop('late'), '3')
    await untilReady(one)
  })

  it('have pushed clusters beside it', async () => {
    const args = ['--cluster', 'pushed', '--objects', file('objects.json', OBJECTS), '--once']
    for (const { url } of replicas) {
      const exporter = start(KUBEDOH, ['export', '--gateway', url, ...args], {
        KUBEDOH_TOKEN: pushed.token,
        KUBEDOH_SIGNING_KEY: pushed.signingKey,
      })
      equal(await exporter.ended, 0, exporter.tail())
    }
    await untilAll('web.pub.svc.pushed.example', '0 10.1.2.3')
    await untilAll(inShop('back'), '0 10.96.78.201')
    for (const { running } of replicas) match(running.tail(), /^ready|"message"/m)
    deepEqual(
      replicas.map(({ running }) => running.tail().includes('kdo_')),
      [false, false, false],
    )
  })
})

const OBJECTS = JSON.stringify({
  apiVersion: 'v1',
  kind: 'List',
  items: [namespace('pub'), service('pub/web', { clusterIP: '10.1.2.3' })],
})
