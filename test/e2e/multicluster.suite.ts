/**
 * What the conformance tests of the multicluster API (sigs.k8s.io/mcs-api, conformance) expect of
 * DNS, for `kubedoh serve` with a real API server that has that API's own definitions. The suite
 * does what a multicluster controller does: it imports Services. `npm run test:conformance`.
 * @module
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, test, vi } from 'vitest'
import { parse } from 'yaml'
import { describeUnless } from '../describe-unless.ts'
import { goModuleFolder } from '../foreign/go-module.ts'
import { freePort } from '../free-port.ts'
import { type ApiObject, ApiServer } from '../real-cluster/api-server.ts'
import { answerOf, type QuestionText } from '../real-cluster/asking.ts'
import { prepareBinaries } from '../real-cluster/binaries.ts'
import { namespace, service, slice } from '../real-cluster/objects.ts'
import { type Running, start } from '../real-cluster/processes.ts'
import { createOnce } from '../real-cluster/routing.ts'

const MODULE = 'sigs.k8s.io/mcs-api@v0.5.2'
const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const PATIENCE = { timeout: 20_000, interval: 100 }
/** The Service of those tests: one port number for TCP and UDP. */
const PORTS = ['tcp', 'udp'].map((name) => ({ name, port: 42, protocol: name.toUpperCase() }))
const [LOCAL, SHARED] = ['10.96.0.42', ['10.112.0.42', 'fd00:10:112::42']] as const
const HELLO = 'hello.mcs.svc'
const HEADLESS = 'headless.mcs.svc'

const binaries = prepareBinaries()

describeUnless(typeof binaries === 'string' && binaries, "the multicluster API's tests", () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-mcs-'))
  let api: ApiServer
  let server: Running
  let port: number

  beforeAll(async () => {
    assert.ok(typeof binaries !== 'string')
    api = await ApiServer.start(binaries)
    const definitions = join(goModuleFolder(MODULE), 'config/crd')
    const file = join(definitions, 'multicluster.x-k8s.io_serviceimports.yaml')
    // Without the older version, which CoreDNS 1.14.7 needs.
    const definition = parse(readFileSync(file, 'utf8'))
    for (const version of definition.spec.versions) version.served = version.name === 'v1beta1'
    await api.create(definition)
    for (const object of [
      namespace('mcs'),
      service('mcs/hello', { clusterIP: LOCAL, ports: PORTS }),
      service('mcs/headless', { clusterIP: 'None', ports: PORTS }),
      serviceImport('hello', { type: 'ClusterSetIP', ips: SHARED }),
      serviceImport('headless', { type: 'Headless' }),
      imported('cluster-a', 'IPv4', { '10.1.0.1': 'ss-0', '10.1.0.2': 'ss-1' }),
      imported('cluster-b', 'IPv4', { '10.2.0.1': '' }),
      imported('cluster-b', 'IPv6', { 'fd00:2::1': '' }),
    ]) {
      await createOnce(api, object)
    }
    port = await freePort()
    const conf = join(folder, 'Corefile')
    writeFileSync(
      conf,
      `. {
  bind 127.0.0.1
  kubernetes cluster.local clusterset.local {
    kubeconfig ${api.adminConfig}
    multicluster clusterset.local
  }
}
`,
    )
    server = start(KUBEDOH, ['serve', '--conf', conf, '--dns.port', String(port)])
    await server.line(/^ready/)
  })
  afterAll(async () => {
    await server?.stop()
    await api?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Returns the data of the answer's records, sorted. */
  const ask = async (question: QuestionText): Promise<string[]> => {
    const [head = '', ...lines] = await answerOf({ protocol: 'udp', port }, question)
    assert.match(head, /^NOERROR/, question)
    const answers = lines.filter((line) => line.startsWith('answer '))
    return answers.map((line) => line.split(' ').slice(5).join(' ')).sort()
  }

  test('a name of a ClusterIP Service resolves to the clusterset IP', async () => {
    assert.deepEqual(await ask(`${HELLO}.clusterset.local. A`), [SHARED[0]])
    assert.deepEqual(await ask(`${HELLO}.clusterset.local. AAAA`), [SHARED[1]])
  })

  test('an SRV query of a ClusterIP Service has one valid record', async () => {
    const [record = '', ...more] = await ask(`${HELLO}.clusterset.local. SRV`)
    assert.match(record, /^\d+ \d+ 42 hello\.mcs\.svc\.clusterset\.local\.$/)
    assert.deepEqual(more, [])
  })

  test('a name of the cluster resolves to the local Service only', async () => {
    assert.deepEqual(await ask(`${HELLO}.cluster.local. A`), [LOCAL])
  })

  test('a name of a headless Service has the ready endpoints of all clusters', async () => {
    const addresses = ['10.1.0.1', '10.1.0.2', '10.2.0.1']
    assert.deepEqual(await ask(`${HEADLESS}.clusterset.local. A`), addresses)
    assert.deepEqual(await ask(`${HEADLESS}.clusterset.local. AAAA`), ['fd00:2::1'])
  })

  test('HOSTNAME.CLUSTER has the address of one pod of a StatefulSet', async () => {
    for (const [hostname, address] of [
      ['ss-0', '10.1.0.1'],
      ['ss-1', '10.1.0.2'],
    ]) {
      const name = `${hostname}.cluster-a.${HEADLESS}.clusterset.local.`
      assert.deepEqual(await ask(`${name} A`), [address])
    }
  })

  test('an SRV query of a headless Service has a record for each endpoint', async () => {
    const records = await ask(`${HEADLESS}.clusterset.local. SRV`)
    const targets = records.map((record) => record.split(' ').slice(2).join(' ')).sort()
    assert.deepEqual(
      targets.map((target) => target.replace(`.${HEADLESS}.clusterset.local.`, '')),
      ['42 10-2-0-1.cluster-b', '42 fd00-2--1.cluster-b', '42 ss-0.cluster-a', '42 ss-1.cluster-a'],
    )
  })

  test('endpoints that become unready leave, and an import that is deleted has no names', async () => {
    const changed = imported('cluster-a', 'IPv4', { '10.1.0.1': 'ss-0', '10.1.0.2': 'ss-1' }, false)
    await api.patch(changed, changed)
    await vi.waitFor(async () => {
      assert.deepEqual(await ask(`${HEADLESS}.clusterset.local. A`), ['10.2.0.1'])
    }, PATIENCE)
    await api.delete(serviceImport('hello', { type: 'ClusterSetIP', ips: SHARED }))
    await vi.waitFor(async () => {
      const question: QuestionText = `${HELLO}.clusterset.local. A`
      const [head = ''] = await answerOf({ protocol: 'udp', port }, question)
      assert.match(head, /^NXDOMAIN/)
    }, PATIENCE)
    assert.deepEqual(await ask(`${HELLO}.cluster.local. A`), [LOCAL])
  })
})

function serviceImport(name: string, spec: Readonly<Record<string, unknown>>): ApiObject {
  return {
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
    kind: 'ServiceImport',
    metadata: { namespace: 'mcs', name },
    spec: { ports: PORTS, ...spec },
  }
}

/** A slice that a controller imports from a cluster. */
function imported(
  cluster: string,
  addressType: string,
  addresses: Readonly<Record<string, string>>,
  isReady = true,
): ApiObject {
  const endpoints = Object.entries(addresses).map(([address, hostname]) => ({
    addresses: [address],
    conditions: { ready: isReady },
    ...(hostname !== '' && { hostname }),
  }))
  const object = slice(`mcs/imported-${cluster}-${addressType.toLowerCase()}`, '', endpoints, {
    ports: PORTS,
    addressType,
  })
  const labels = {
    'multicluster.kubernetes.io/service-name': 'headless',
    'multicluster.kubernetes.io/source-cluster': cluster,
  }
  const { namespace: room = '', name } = object.metadata
  return { ...object, metadata: { name, namespace: room, ...{ labels } } }
}
