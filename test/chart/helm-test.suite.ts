/**
 * The pod of `helm test`: its command, with the variables that a kubelet sets, against a server.
 * @module
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, test } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { KUBERNETES, prepareBinaries } from '../real-cluster/binaries.ts'
import { type Running, start } from '../real-cluster/processes.ts'
import { CHART, DEPLOY, helm, objectsOf } from './helm.ts'

const binaries = prepareBinaries()
const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const API_SERVER = '10.96.0.1'
const SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'kubernetes', namespace: 'default' },
  spec: { clusterIP: API_SERVER, clusterIPs: [API_SERVER], ports: [{ port: 443 }] },
}
const COREFILE = '.:0 {\n kubernetes cluster.local\n}\n'

/** Returns the command and the arguments of the test's pod. */
function testOf(...values: readonly string[]): readonly string[] {
  const options = ['--namespace', 'kube-system', '--kube-version', KUBERNETES]
  const set = values.flatMap((value) => ['--set', value])
  const { status, stdout, stderr } = helm('template', 'kubedoh', CHART, ...options, ...set)
  assert.equal(status, 0, stderr)
  const pod = objectsOf(stdout).find(({ kind }) => kind === 'Pod')
  const [{ command, args }] = Object(pod?.spec ?? { containers: [{}] }).containers
  return [...(command ?? []), ...(args ?? [])]
}

describeUnless(typeof binaries === 'string' && binaries, 'helm test', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-helm-test-'))
  let server: Running
  let port: number
  beforeAll(async () => {
    port = await freePort()
    const write = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    }
    const conf = write('Corefile', COREFILE.replace(':0', `:${port}`))
    const objects = write('objects.json', JSON.stringify(SERVICE))
    server = start(KUBEDOH, ['serve', '--conf', conf, '--objects', objects])
    await server.line(/^ready: /)
  })
  afterAll(async () => {
    await server.stop()
    rmSync(folder, { recursive: true })
  })

  const runWith = (address: string, name = 'KUBEDOH_SERVER') => {
    const [node = '', ...args] = testOf()
    assert.equal(node, '/usr/local/bin/node')
    const given = args.map((word) => (word === '53' ? String(port) : word))
    const env = { [`${name}_SERVICE_HOST`]: '127.0.0.1', KUBERNETES_SERVICE_HOST: address }
    return spawnSync(process.execPath, given, { encoding: 'utf8', env })
  }

  test("passes if the Service has the API server's address", () => {
    const { status, stdout, stderr } = runWith(API_SERVER)
    assert.equal(status, 0, stderr)
    assert.match(
      stdout,
      /^kubernetes\.default\.svc\.cluster\.local\. at 127\.0\.0\.1: 10\.96\.0\.1/,
    )
  })

  test('fails if it has another, or if there is no Service', () => {
    assert.match(runWith('10.96.0.2').stderr, /10\.96\.0\.2 is missing/)
    assert.match(runWith(API_SERVER, 'OTHER').stderr, /ENOTFOUND|EAI_AGAIN/)
  })

  test('asks the Service of the mode, for the zone of the Corefile', () => {
    const service = 'server.service.mode=kube-dns'
    const corefile = 'server.corefile=.:53 {\n kubernetes a.test {\n }\n}\n'
    assert.deepEqual(testOf(service, corefile).slice(-3), [
      'kube-dns',
      '53',
      'kubernetes.default.svc.a.test.',
    ])
    assert.deepEqual(testOf('server.enabled=false'), [])
    assert.deepEqual(testOf('server.corefile=.:53 {\n}\n'), [])
  })

  test('the manifests have no such pod, and Kustomize takes them', () => {
    assert.ok(typeof binaries !== 'string')
    const folderOfManifests = join(DEPLOY, 'manifests')
    const args = ['kubectl', 'kustomize', folderOfManifests]
    const { status, stdout } = spawnSync(binaries.kubernetes, args, { encoding: 'utf8' })
    assert.equal(status, 0)
    const kinds = objectsOf(stdout).map(({ kind }) => kind)
    assert.equal(kinds.length, 7)
    assert.ok(kinds.includes('Deployment') && !kinds.includes('Pod'))
  })
})
