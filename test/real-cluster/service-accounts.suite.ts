/**
 * Tokens of ServiceAccounts that a real API server issues, at a gateway that cannot reach it: the
 * exporter, itself a ServiceAccount, publishes the keys. Run by `npm run test:cluster`.
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
import { generateKeyPair } from '../../src/snapshot/format/signature.ts'
import { describeUnless } from '../describe-unless.ts'
import { type ApiObject, ApiServer } from './api-server.ts'
import { prepareBinaries } from './binaries.ts'
import { RBAC_RIGHTS, RIGHTS, shopObjects } from './objects.ts'
import { type Running, start } from './processes.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const PATIENCE_MS = 30_000
const ISSUER = 'https://kubernetes.default.svc.cluster.local'

const binaries = prepareBinaries()
const skip = typeof binaries === 'string' ? binaries : false

function account(name: string): ApiObject {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'shop' } }
}

/** Gives a ServiceAccount a ClusterRole, in a namespace or in all. */
function binding(role: string, name: string, namespace?: string): ApiObject {
  const apiGroup = 'rbac.authorization.k8s.io'
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: { name: `${name}-${role}`, ...(namespace && { namespace }) },
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name, namespace: 'shop' }],
  }
}

const READS: ApiObject = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'reads' },
  rules: [{ apiGroups: [''], resources: ['services'], verbs: ['get'] }],
}

/** The exporter has no right beyond those that it needs. */
const BINDINGS = [binding('kubedoh-exporter', 'exporter'), binding('kubedoh-rbac', 'exporter')]
const CHANGES = 10
/** Unchanged names are confirmed in this interval: a change must not wait for it. */
const CONFIRM_MS = 15_000

describeUnless(skip, 'tokens of ServiceAccounts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-accounts-'))
  let api: ApiServer
  let gateway: LocalGateway
  let exporter: Running

  beforeAll(async () => {
    if (typeof binaries === 'string') return
    api = await ApiServer.start(binaries)
    const accounts = ['exporter', 'builder', 'reader', 'stranger'].map(account)
    const rights = [...RIGHTS, ...RBAC_RIGHTS, READS]
    for (const object of [...rights, ...shopObjects(), ...accounts, ...BINDINGS]) {
      await api.create(object)
    }
    const kubeconfig = await api.serviceAccountConfig(account('exporter'))
    writeFileSync(
      join(folder, 'Corefile'),
      `cluster.local {\n  kubernetes {\n    kubeconfig ${kubeconfig}\n  }\n}\n`,
    )
    const keys = await createClusterKeys()
    const { publicKey, tokenSha256 } = keys
    const when = (name: string): object => {
      return { 'kubernetes.io': { namespace: 'shop', serviceaccount: { name } } }
    }
    const rules = [
      { when: when('builder'), clusters: ['test'], namespaces: ['shop'] },
      { when: when('reader'), clusters: ['test'], namespaces: 'rbac' },
    ]
    const issuer = { issuer: ISSUER, audiences: ['kubedoh'], keys: 'cluster:test', rules }
    gateway = await startGateway({
      port: 0,
      variables: {
        REQUESTS_PER_MINUTE: '0',
        COREFILE: '. {\n  kubernetes cluster.local {\n    cluster test\n  }\n}\n',
        CLUSTERS: JSON.stringify({ test: { publicKey, tokenSha256 } }),
        ISSUERS: JSON.stringify([issuer]),
        EXCHANGE_KEY: (await generateKeyPair()).privateKey,
      },
    })
    const args = ['--gateway', gateway.url, '--cluster', 'test', '--listen', '']
    exporter = start(KUBEDOH, ['export', ...args, '--conf', join(folder, 'Corefile')], {
      KUBEDOH_RBAC: '1',
      KUBEDOH_TOKEN: keys.token,
      KUBEDOH_SIGNING_KEY: keys.signingKey,
    })
  })

  afterAll(async () => {
    await exporter?.stop()
    await gateway?.stop()
    await api?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function ask(token: string, name = 'web.shop.svc.cluster.local'): Promise<Response> {
    const headers = { authorization: `Bearer ${token}` }
    return fetch(`${gateway.url}/resolve?name=${name}&type=A`, { headers })
  }

  /** Asks until a response has a text; returns how long that took, in milliseconds. */
  async function askUntil(token: string, text: RegExp): Promise<number> {
    const startMs = performance.now()
    for (;;) {
      const body = await (await ask(token)).text()
      const tookMs = performance.now() - startMs
      if (text.test(body)) return tookMs
      ok(tookMs < PATIENCE_MS, `${body}\n${exporter.tail()}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  it('count by the keys that the exporter publishes', async () => {
    const token = await api.serviceAccountToken(account('builder'), 'kubedoh')
    await askUntil(token, /"Status":0,.*"data":"10\./)
    match(await (await ask(token, 'kubernetes.default.svc.cluster.local')).text(), /"Status":3/)
  })

  async function exchange(token: string): Promise<Response> {
    const urn = 'urn:ietf:params:oauth'
    const body = new URLSearchParams({
      grant_type: `${urn}:grant-type:token-exchange`,
      subject_token_type: `${urn}:token-type:jwt`,
      subject_token: token,
    })
    return fetch(`${gateway.url}/v1/token`, { method: 'POST', body })
  }

  it('are given for tokens of the gateway, which see the same', async () => {
    const given = await exchange(await api.serviceAccountToken(account('builder'), 'kubedoh'))
    equal(given.status, 200)
    const { access_token: token, expires_in: seconds } = recordOf(await given.json())
    ok(Number(seconds) > 86_000 && Number(seconds) <= 86_400)
    match(await (await ask(String(token))).text(), /"Status":0,.*"data":"10\./)
    const hidden = await ask(String(token), 'kubernetes.default.svc.cluster.local')
    match(await hidden.text(), /"Status":3/)
    equal((await exchange(String(token))).status, 400)
    const other = await exchange(await api.serviceAccountToken(account('stranger'), 'kubedoh'))
    match(await other.text(), /"error":"invalid_grant"/)
  })

  it('see the namespaces that RBAC allows, as soon as it does', async () => {
    const token = await api.serviceAccountToken(account('reader'), 'kubedoh')
    const isSeen = async (): Promise<boolean> => (await (await ask(token)).text()).includes('"10.')
    const others = 'kubernetes.default.svc.cluster.local'
    const allowed = binding('reads', 'reader', 'shop')
    const until = async (isWanted: boolean): Promise<number> => {
      const startMs = performance.now()
      while ((await isSeen()) !== isWanted) {
        ok(performance.now() - startMs < CONFIRM_MS, `no ${isWanted} from RBAC`)
      }
      return performance.now() - startMs
    }
    ok(!(await isSeen()))
    const tookMs: number[] = []
    for (let i = 0; i < CHANGES; i++) {
      await api.create(allowed)
      tookMs.push(await until(true))
      match(await (await ask(token, others)).text(), /"Status":3/)
      await api.delete(allowed)
      tookMs.push(await until(false))
    }
    const [fastest, median, slowest] = [0, CHANGES, 2 * CHANGES - 1].map((at) =>
      tookMs.toSorted((a, b) => a - b)[at]?.toFixed(0),
    )
    const text = `median ${median} ms, from ${fastest} to ${slowest} ms`
    process.stderr.write(`a binding changed → answered at the gateway: ${text}\n`)
  })

  it('do not count for another audience, or for an account without a rule', async () => {
    const refused = [
      await api.serviceAccountToken(account('builder')),
      await api.serviceAccountToken(account('builder'), 'vault'),
      await api.serviceAccountToken(account('stranger'), 'kubedoh'),
    ]
    const statuses = await Promise.all(refused.map(async (token) => (await ask(token)).status))
    deepEqual(statuses, [401, 401, 401])
  })
})
