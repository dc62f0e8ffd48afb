/**
 * What `gateway.kubernetes` adds to the chart, and the gateway with exactly these rights on a real
 * API server.
 * @module
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'vitest'
import { createToken } from '../../src/exporter/cluster-keys.ts'
import { TOKEN_DEFINITION } from '../cluster/client-token-cases.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { type ApiObject, ApiServer } from '../real-cluster/api-server.ts'
import { prepareBinaries } from '../real-cluster/binaries.ts'
import { secret, textOf, token } from '../real-cluster/client-tokens.ts'
import { shopObjects } from '../real-cluster/objects.ts'
import { start } from '../real-cluster/processes.ts'
import { objectsWith, render } from './helm.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const PATIENCE_MS = 30_000
const GATEWAY = ['server.enabled=false', 'gateway.enabled=true']
const OWN = [...GATEWAY, 'gateway.kubernetes.enabled=true', 'gateway.replicas=3']
const ALL = [
  ...[...OWN, 'gateway.kubernetes.rbac=true', 'gateway.kubernetes.clientTokens.enabled=true'],
  'gateway.kubernetes.clientTokens.secretNamespaces={shop}',
]
const binaries = prepareBinaries()

type Container = {
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value: string }[]
}
type Pod = {
  readonly containers: readonly [Container]
  readonly volumes: readonly { readonly name: string }[]
  readonly automountServiceAccountToken?: boolean
}

function kindsOf(objects: readonly ApiObject[]): readonly string[] {
  return objects.map(({ kind }) => kind).toSorted()
}

function podOf(objects: readonly ApiObject[]): Pod {
  const deployment = objects.find(({ kind }) => kind === 'Deployment')
  return Object(deployment?.spec).template.spec
}

function variablesOf(objects: readonly ApiObject[]): Readonly<Record<string, string>> {
  const [{ env }] = podOf(objects).containers
  return Object.fromEntries(env.map(({ name, value }) => [name, value]))
}

describeUnless(typeof binaries === 'string' && binaries, 'gateway.kubernetes', () => {
  test('adds an account, rights and a Lease in place of the volume', () => {
    const kinds = 'ClusterRole ClusterRoleBinding ConfigMap Deployment PodDisruptionBudget'
    const objects = objectsWith(...OWN)
    const own = [...kinds.split(' '), 'Role', 'RoleBinding', 'Service', 'ServiceAccount']
    assert.deepEqual(kindsOf(objects), own)
    const { containers, volumes, automountServiceAccountToken } = podOf(objects)
    assert.equal(automountServiceAccountToken, undefined)
    assert.doesNotMatch(String(containers[0].args), /--store|--follow/)
    assert.deepEqual(
      volumes.map(({ name }) => name),
      ['corefile', 'tls', 'variables'],
    )
    const { KUBEDOH_LINGER, KUBEDOH_VARIABLES, ...variables } = variablesOf(objects)
    const lease = { KUBEDOH_LEASE: 'kube-system/kubedoh-gateway' }
    assert.deepEqual(variables, { KUBEDOH_CLUSTER: 'own', ...lease })
    assert.ok(KUBEDOH_LINGER && KUBEDOH_VARIABLES)
  })

  test('keeps the volume that existingClaim names', () => {
    const objects = objectsWith(...OWN, 'gateway.existingClaim=nfs')
    const { containers, volumes } = podOf(objects)
    assert.match(String(containers[0].args), /--store=file:/)
    assert.ok(volumes.some(({ name }) => name === 'store'))
    assert.ok(!kindsOf(objects).includes('PersistentVolumeClaim'))
  })

  test('excludes gateway.follow, which trusts the authority of gateway.caSecretName', () => {
    const follow = 'gateway.follow=https://dns.example.org'
    const { status, stderr } = render(...[...OWN, follow].flatMap((value) => ['--set', value]))
    assert.equal(status, 1)
    assert.match(stderr, /gateway\.kubernetes\.enabled and gateway\.follow exclude each other/)
    const replica = objectsWith(...GATEWAY, follow)
    assert.equal(variablesOf(replica).KUBEDOH_CA, undefined)
    assert.equal(podOf(replica).automountServiceAccountToken, false)
    const trusting = objectsWith(...GATEWAY, follow, 'gateway.caSecretName=authority')
    assert.equal(variablesOf(trusting).KUBEDOH_CA, '/etc/kubedoh-ca/ca.crt')
    const volume = podOf(trusting).volumes.find(({ name }) => name === 'ca')
    assert.equal(Object(volume).secret.secretName, 'authority')
  })

  test('runs with these rights: names, and a ClientToken with its status', async (t) => {
    assert.ok(typeof binaries !== 'string')
    const api = await ApiServer.start(binaries)
    t.onTestFinished(() => api.stop())
    const objects = objectsWith(...ALL)
    const rights = objects.filter(({ kind }) => /^ServiceAccount$|Role/.test(kind))
    for (const object of [...shopObjects(), TOKEN_DEFINITION as ApiObject, ...rights]) {
      await api.create(object)
    }
    const account = objects.find(({ kind }) => kind === 'ServiceAccount')
    const corefile = objects.find(({ kind }) => kind === 'ConfigMap')
    assert.ok(account !== undefined && corefile !== undefined)
    const folder = mkdtempSync(join(tmpdir(), 'kubedoh-own-chart-'))
    t.onTestFinished(() => rmSync(folder, { recursive: true }))
    const conf = join(folder, 'Corefile')
    writeFileSync(conf, Object(corefile.data).Corefile)
    const listen = `127.0.0.1:${await freePort()}`
    const client = await createToken()
    const gateway = start(KUBEDOH, ['gateway', '--conf', conf, '--listen', listen], {
      ...variablesOf(objects),
      KUBEDOH_LINGER: '',
      KUBEDOH_VARIABLES: '',
      KUBECONFIG: await api.serviceAccountConfig(account),
      CLIENT_TOKEN_SHA256: client.sha256,
    })
    t.onTestFinished(async () => void (await gateway.stop()))
    const statusOf = async (text: string): Promise<number> => {
      const url = `http://${listen}/resolve?name=web.shop.svc.cluster.local`
      return (await fetch(url, { headers: { authorization: `Bearer ${text}` } })).status
    }
    const isAnswered = async (text: string): Promise<boolean> =>
      (await statusOf(text).catch(() => 0)) === 200
    await until(() => isAnswered(client.token), gateway.tail)
    const object = token('shop/ci', { secretRef: { name: 'ci' } })
    await api.create(secret('shop/ci', textOf('chart')))
    await api.create(object)
    await until(() => isAnswered(textOf('chart')), gateway.tail)
    const isWritten = async (): Promise<boolean> =>
      JSON.stringify(await api.read(object)).includes('"reason":"Accepted"')
    await until(isWritten, gateway.tail)
    assert.doesNotMatch(gateway.tail(), /forbidden|ClusterRole/)
  })
})

async function until(holds: () => Promise<boolean>, tail: () => string): Promise<void> {
  const startMs = performance.now()
  while (!(await holds())) {
    assert.ok(performance.now() - startMs < PATIENCE_MS, tail())
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
