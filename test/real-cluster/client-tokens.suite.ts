/**
 * ClientTokens of a real API server: its schema and our parser refuse the same objects; at a
 * gateway in workerd and one on Node a token counts from its object on, and no longer. Run by
 * `npm run test:cluster`.
 * @module
 */
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { startGateway } from '../../build/local-gateway.ts'
import { openApi } from '../../src/cluster/follow/watch.ts'
import { listOf, recordOf } from '../../src/dns/bytes/unknown.ts'
import { createClusterKeys } from '../../src/exporter/cluster-keys.ts'
import { INVALID_TOKENS, TOKEN_DEFINITION, VALID_TOKENS } from '../cluster/client-token-cases.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { type ApiObject, ApiServer } from './api-server.ts'
import { prepareBinaries } from './binaries.ts'
import { bindingOf, READ_SECRETS, secret, TOKENS_ROLE, textOf, token } from './client-tokens.ts'
import { namespace, RIGHTS, shopObjects } from './objects.ts'
import { start } from './processes.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const COREFILE = '. {\n  kubernetes cluster.local {\n    cluster test\n  }\n}\n'
const PATIENCE_MS = 30_000
const REVOKED_MS = 5000
const ADMIN = 'the-token-of-the-operator'
const HOME = 'kubedoh'
const NAME = 'web.shop.svc.cluster.local'
const PATH = '/apis/kubedoh.dev/v1alpha1/namespaces/shop/clienttokens'
/** As the API server of the suites calls it. */
const ISSUER = 'https://kubernetes.default.svc.cluster.local'
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'

const binaries = prepareBinaries()
const skip = typeof binaries === 'string' ? binaries : false

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

type Started = { readonly url: string; readonly stop: () => Promise<unknown> }

describeUnless(skip, 'ClientTokens of a real API server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-tokens-'))
  const conf = join(folder, 'Corefile')
  const edge = join(folder, 'Gateway')
  const running: Started[] = []
  let api: ApiServer

  beforeAll(async () => {
    if (typeof binaries === 'string') return
    api = await ApiServer.start(binaries)
    writeFileSync(edge, COREFILE)
    const kubeconfig = `kubeconfig ${api.exporterConfig}`
    writeFileSync(conf, `cluster.local {\n  kubernetes {\n    ${kubeconfig}\n  }\n}\n`)
    const rights = [...RIGHTS, TOKENS_ROLE, bindingOf(TOKENS_ROLE)]
    for (const object of [...rights, ...shopObjects(), namespace(HOME), namespace('try')]) {
      await api.create(object)
    }
    await api.create(TOKEN_DEFINITION as ApiObject)
    await until('the definition', () => isTaken(token('try/first', VALID_TOKENS[0])))
  })

  afterAll(async () => {
    for (const one of running.toReversed()) await one.stop()
    await api?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('are taken if they are valid, and refused if they are not', async () => {
    for (const [i, spec] of VALID_TOKENS.entries()) {
      await api.create(token(`try/valid-${i}`, spec))
      await api.delete(token(`try/valid-${i}`, spec))
    }
    ok(INVALID_TOKENS.length >= 30)
    for (const [i, { spec }] of INVALID_TOKENS.entries()) {
      const created = api.create(token(`try/invalid-${i}`, spec))
      await rejects(created, /: 422 .*spec/, JSON.stringify(spec)?.slice(0, 100))
    }
    await api.delete(token('try/first', {}))
  })

  for (const runtime of ['workerd', 'node'] as const) {
    it(`count at a gateway in ${runtime} as long as their objects exist`, async () => {
      const keys = await createClusterKeys()
      const { publicKey, tokenSha256 } = keys
      const variables = {
        REQUESTS_PER_MINUTE: '0',
        ADMIN_TOKEN_SHA256: sha256(ADMIN),
        CLUSTERS: JSON.stringify({ test: { publicKey, tokenSha256 } }),
        CLIENT_TOKEN_CLUSTERS: 'test',
        ISSUERS: JSON.stringify([
          { issuer: ISSUER, audiences: ['kubedoh'], keys: 'cluster:test', rules: [] },
        ]),
      }
      const gateway = await (runtime === 'workerd'
        ? startGateway({ port: 0, variables: { ...variables, COREFILE } })
        : startNode(variables))
      running.push(gateway)
      const args = ['--gateway', gateway.url, '--cluster', 'test', '--conf', conf, '--listen', '']
      const exporter = start(KUBEDOH, ['export', ...args], {
        KUBEDOH_CLIENT_TOKENS: HOME,
        KUBEDOH_TOKEN: keys.token,
        KUBEDOH_SIGNING_KEY: keys.signingKey,
        KUBEDOH_INSECURE: '1',
      })
      running.push({ url: '', stop: exporter.stop })
      await exporter.line(/^ready/)
      await holdsAt(gateway.url, runtime)
      await namesAt(gateway.url, runtime)
      await exporter.stop()
      equal(exporter.tail().includes('kdo_'), false)
    })
  }

  /** The story of an object at a gateway. */
  async function holdsAt(url: string, runtime: string): Promise<void> {
    const text = textOf(`${runtime} one`)
    const object = token('shop/ci', { secretRef: { name: 'ci' }, expires: '2099-01-01T00:00:00Z' })
    await api.create(secret('shop/ci', text))
    await api.create(object)
    if (runtime === 'workerd') {
      // The exporter may read no Secret yet; it says which right that takes.
      await has(object, /^False SecretForbidden .*"verbs":\["get"\]/)
      for (const right of [READ_SECRETS, bindingOf(READ_SECRETS)]) await api.create(right)
    }
    await until('the token', async () => (await ask(url, text)).status === 200)
    match(await (await ask(url, text)).text(), /"Status":0,.*"data":"10\./)
    match(await (await ask(url, text, 'kubernetes.default.svc.cluster.local')).text(), /"Status":3/)
    await has(object, /^True Accepted/)
    deepEqual(await row(object), [
      ...['ci', 'shop', 'ci', '', '2099-01-01T00:00:00Z'],
      ...['True', 'Accepted'],
    ])
    await listed(url, object)
    const greedy = token('shop/greedy', { secretRef: { name: 'ci' }, namespaces: ['*'] })
    await api.create(greedy)
    await has(greedy, /^False OutsideAllowedNamespaces/)
    await api.delete(greedy)
    const startMs = performance.now()
    await api.delete(object)
    await until('the end', async () => (await ask(url, text)).status === 401, REVOKED_MS)
    const tookMs = Math.round(performance.now() - startMs)
    process.stdout.write(`refused ${tookMs} ms after its object was deleted (${runtime})\n`)
    await api.delete(secret('shop/ci', text))
  }

  /** The story of an object that names a ServiceAccount. */
  async function namesAt(url: string, runtime: string): Promise<void> {
    const metadata = { namespace: 'shop', name: `job-${runtime}` }
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata }
    await api.create(account)
    const text = await api.serviceAccountToken(account, 'kubedoh')
    await until('the keys', async () => (await ask(url, text)).status === 401)
    const name = `system:serviceaccount:shop:${metadata.name}`
    const object = token('shop/job', { subject: { issuer: ISSUER, name } })
    const foreign = token('try/job', { subject: { issuer: ISSUER, name } })
    await api.create(foreign)
    await has(foreign, /^False NotAllowed .*"system:serviceaccount:try:NAME"/)
    equal((await ask(url, text)).status, 401)
    await api.create(object)
    await until('the client', async () => (await ask(url, text)).status === 200)
    match(await (await ask(url, text)).text(), /"Status":0,.*"data":"10\./)
    match(await (await ask(url, text, 'kubernetes.default.svc.cluster.local')).text(), /"Status":3/)
    const otherAudience = await api.serviceAccountToken(account)
    equal((await ask(url, otherAudience)).status, 401)
    await has(object, /^True Accepted/)
    deepEqual(await row(object), ['job', 'shop', '', name, '', 'True', 'Accepted'])
    const startMs = performance.now()
    await api.delete(object)
    await until('the end', async () => (await ask(url, text)).status === 401, REVOKED_MS)
    const tookMs = Math.round(performance.now() - startMs)
    process.stdout.write(`client refused ${tookMs} ms after its object was deleted (${runtime})\n`)
    for (const one of [foreign, account]) await api.delete(one)
  }

  /** Operators see the token in the list, with the identifier of the status. */
  async function listed(url: string, object: ApiObject): Promise<void> {
    const headers = { authorization: `Bearer ${ADMIN}` }
    const response = await fetch(`${url}/v1/tokens`, { headers })
    const [one] = listOf(recordOf(await response.json()).tokens).map(recordOf)
    const { identifier } = recordOf(recordOf(await api.read(object)).status)
    deepEqual([one?.id, one?.name, one?.by], [identifier, 'shop/ci', 'cluster test'])
    const path = `${url}/v1/tokens/${one?.id}`
    equal((await fetch(path, { method: 'DELETE', headers })).status, 409)
  }

  async function startNode(variables: Readonly<Record<string, string>>): Promise<Started> {
    const listen = `127.0.0.1:${await freePort()}`
    const process = start(KUBEDOH, ['gateway', '--conf', edge, '--listen', listen], variables)
    await process.line(/^ready/)
    return { url: `http://${listen}`, stop: process.stop }
  }

  /** Returns what kubectl prints of an object, without its ID, use and age. */
  async function row({ metadata }: ApiObject): Promise<readonly string[]> {
    const admin = openApi({ kind: 'kubeconfig', path: api.adminConfig, context: undefined })
    const request = { method: 'GET', path: PATH, resource: 'clienttokens', accept: TABLE } as const
    const table = recordOf(await admin.send(request, AbortSignal.timeout(PATIENCE_MS)))
    const names = listOf(table.columnDefinitions).map((one) => String(recordOf(one).name))
    const all = [
      'Name',
      'ID',
      'Scope',
      'Secret',
      'Subject',
      'Expires',
      'Used',
      'Accepted',
      'Reason',
      'Message',
    ]
    deepEqual(names, [...all, 'Age'])
    const rows = listOf(table.rows).map((one) => listOf(recordOf(one).cells).map(String))
    const found = rows.find(([name]) => name === metadata.name) ?? []
    match(found[1] ?? '', /^[0-9a-f]{12}$/)
    // The API server writes a missing text as null.
    return [0, 2, 3, 4, 5, 7, 8].map((i) => (found[i] ?? 'null').replace(/^null$/, ''))
  }

  /** Waits until an object's condition fits, as `STATUS REASON MESSAGE`. */
  async function has(object: ApiObject, expected: RegExp): Promise<void> {
    await until(`${object.metadata.name}: ${expected}`, async () => {
      const { conditions } = recordOf(recordOf(await api.read(object)).status)
      const [{ type, status, reason, message } = {}] = listOf(conditions).map(recordOf)
      return type === 'Accepted' && expected.test(`${status} ${reason} ${message}`)
    })
  }

  async function isTaken(object: ApiObject): Promise<boolean> {
    return api.create(object).then(
      () => true,
      () => false,
    )
  }
})

function ask(url: string, text: string, name = NAME): Promise<Response> {
  const headers = { authorization: `Bearer ${text}` }
  return fetch(`${url}/resolve?name=${name}&type=A`, { headers })
}

async function until(
  what: string,
  holds: () => Promise<boolean>,
  limitMs: number = PATIENCE_MS,
): Promise<void> {
  const startMs = performance.now()
  while (!(await holds())) {
    if (performance.now() - startMs > limitMs) throw new Error(`${what}: not in ${limitMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
