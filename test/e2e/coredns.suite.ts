/**
 * CoreDNS's integration tests for Kubernetes (github.com/coredns/ci), rebuilt from tables of what
 * they ask, for `kubedoh serve` with a real API server. `npm run test:conformance`.
 * @module
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, test, vi } from 'vitest'
import { findMissing } from '../clients/programs.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { type ApiObject, ApiServer } from '../real-cluster/api-server.ts'
import { answerOf, type QuestionText } from '../real-cluster/asking.ts'
import { prepareBinaries } from '../real-cluster/binaries.ts'
import { namespace, pod, service, slice } from '../real-cluster/objects.ts'
import { type Running, start } from '../real-cluster/processes.ts'
import { NEW_NAMES, PLACES, TRANSFERS } from './coredns-cases.ts'
import { NEW_OBJECTS, OBJECTS, OUTSIDE, SERVER_ADDRESS } from './coredns-tables.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const PATIENCE = { timeout: 20_000, interval: 100 }
const binaries = prepareBinaries()
const missing = typeof binaries === 'string' ? binaries : findMissing('dig')

describeUnless(missing, "CoreDNS's tests", () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-coredns-ci-'))
  const running: Running[] = []
  let api: ApiServer
  let upstream: string

  beforeAll(async () => {
    assert.ok(typeof binaries !== 'string')
    api = await ApiServer.start(binaries)
    for (const object of OBJECTS) await api.create(object)
    const client = pod('test-1/coredns-test-client')
    await api.create(client)
    await api.setStatus(client, {
      phase: 'Running',
      podIP: '127.0.0.1',
      podIPs: [{ ip: '127.0.0.1' }],
    })
    const zone = write('outside.db', OUTSIDE)
    const { port } = await serve(`bind 127.0.0.1\nfile ${zone} example.net`)
    upstream = `127.0.0.1:${port}`
  })
  afterEach(async () => {
    for (const one of running.splice(1)) await one.stop()
  })
  afterAll(async () => {
    for (const one of running) await one.stop()
    await api?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  function write(name: string, text: string): string {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }

  /** Returns a Corefile of one server block for directives of a table. */
  function corefileOf(directives: string, zone = ''): string {
    const own = `{\nkubeconfig ${api.adminConfig}\n`
    const lines = directives
      .replaceAll('ZONE', zone)
      .replaceAll('UPSTREAM', upstream)
      .replace(/^KUBERNETES (.*?)( \{)?$/m, (_, zones, opened) =>
        opened === undefined ? `kubernetes ${zones} ${own}}` : `kubernetes ${zones} ${own}`,
      )
    return `. {\nbind 127.0.0.1\nerrors\n${lines}\n}\n`
  }

  /** Serves a Corefile, or directives for one server block. */
  async function serve(text: string): Promise<{
    readonly port: number
    readonly conf: string
    readonly server: Running
  }> {
    const port = await freePort()
    const corefile = text.startsWith('. {') ? text : `. {\n${text}\n}\n`
    const conf = write(`Corefile-${port}`, corefile)
    const flags = ['--conf', conf, '--dns.port', String(port)]
    const server = start(KUBEDOH, ['serve', ...flags], { LOCAL_IPS: SERVER_ADDRESS })
    running.push(server)
    await server.line(/^ready/)
    return { port, conf, server }
  }

  const check = async (port: number, question: string, expected: readonly string[]) => {
    const lines = await answerOf({ protocol: 'udp', port }, question as QuestionText)
    assert.deepEqual(comparable(lines).sort(), [...expected].sort(), question)
  }

  for (const { name, directives, zone, asked } of PLACES) {
    test(`${name}: ${Object.keys(asked).length} questions`, async () => {
      const file = zone === undefined ? '' : write('zone.db', zone)
      const { port } = await serve(corefileOf(directives, file))
      for (const [question, expected] of Object.entries(asked)) {
        await check(port, question, expected)
      }
    })
  }

  test('objects that are created while the server runs', async () => {
    const { port } = await serve(corefileOf('KUBERNETES cluster.local {\nnamespaces test-1\n}'))
    for (const object of NEW_OBJECTS) await api.create(object)
    for (const [question, expected] of Object.entries(NEW_NAMES)) {
      await vi.waitFor(() => check(port, question, expected), PATIENCE)
    }
    for (const object of NEW_OBJECTS) await api.delete(object)
  })

  for (const { options, records } of TRANSFERS) {
    test(`a zone transfer with ${options.replaceAll('\n', ', ')}`, async () => {
      const zones = 'cluster.local 10.in-addr.arpa'
      const directives = `KUBERNETES ${zones} {\n${options}\n}\ntransfer {\nto *\n}`
      const { port } = await serve(corefileOf(directives))
      const args = ['@127.0.0.1', '-p', String(port), '+noall', '+answer', '+onesoa']
      const text = execFileSync('dig', [...args, 'cluster.local.', 'AXFR'], { encoding: 'utf8' })
      const [soa = '', ...rest] = text.trim().split('\n').map(withoutTtl)
      assert.match(soa, /^cluster\.local\. SOA/)
      assert.deepEqual(rest.sort(), [...records].sort())
    })
  }

  test('the time until a change of endpoints is answered is counted', async () => {
    const metrics = await freePort()
    await serve(corefileOf(`KUBERNETES cluster.local\nprometheus 127.0.0.1:${metrics}`))
    const counts = async (): Promise<number[]> => {
      const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()
      const pattern =
        /^coredns_kubernetes_dns_programming_duration_seconds_bucket\{.*le="([^"]+)"\} (\d+)$/gm
      const rows = [...text.matchAll(pattern)].filter(([line]) => line.includes('headless'))
      return rows.map(([, , count]) => Number(count))
    }
    const before = await counts()
    for (const object of timedObjects()) await createOrReplace(api, object)
    await vi.waitFor(async () => {
      const gained = (await counts()).map((count, i) => count - (before[i] ?? 0))
      // 66 s after the trigger is the 18th bucket, 132 s the 19th; four other slices count nothing.
      assert.deepEqual(gained.slice(16), [0, 1, 2, 2, 2])
    }, PATIENCE)
  })

  test('reload prints that it is complete', async () => {
    const health = await freePort()
    const reloading = `health 127.0.0.1:${health}\nlog\nreload 2s\nKUBERNETES cluster.local`
    const { conf, server } = await serve(corefileOf(reloading))
    await server.line(/^\[INFO\] plugin\/reload: Running configuration SHA512 = [0-9a-f]{128}$/)
    writeFileSync(conf, corefileOf(`${reloading} test`))
    await server.line(/^\[INFO\] Reloading complete$/)
    assert.doesNotMatch(server.tail(), /\[PANIC\]/)
  })
})

/** Drops flags, TTLs and the data of SOA records, which those tests do not compare. */
function comparable([head = '', ...records]: readonly string[]): string[] {
  const [rcode = ''] = head.split(' ')
  return [
    rcode,
    ...records
      .filter((line) => !/^additional \. /.test(line))
      .map((line) => {
        const [section = '', ...record] = line.split(' ')
        return `${section} ${withoutTtl(record.join(' '))}`
      }),
  ]
}

/** Turns `OWNER TTL IN TYPE DATA` into `OWNER TYPE DATA`, without the data of a SOA record. */
function withoutTtl(line: string): string {
  return line.replace(/^(\S+)\s+\d+\s+IN\s+(\S+)\s+/, '$1 $2 ').replace(/^(\S+ SOA) .*/, '$1')
}

/**
 * Slices whose change began some time ago; only those of a headless Service with that time
 * count.
 */
function timedObjects(): ApiObject[] {
  const timed = (name: string, secondsAgo: number | undefined, addresses: readonly string[]) => {
    const object = slice(
      `testns/${name}-12345`,
      name,
      addresses.map((one) => ({ addresses: [one] })),
    )
    const since = new Date(Date.now() - (secondsAgo ?? 0) * 1000).toISOString()
    const annotations = { 'endpoints.kubernetes.io/last-change-trigger-time': since }
    return secondsAgo === undefined
      ? object
      : { ...object, metadata: { ...object.metadata, annotations } }
  }
  return [
    namespace('testns'),
    service('testns/my-service', { clusterIP: 'None' }),
    service('testns/clusterip-service', { clusterIP: '10.96.99.12' }),
    service('testns/headless-no-annotation', { clusterIP: 'None' }),
    timed('my-service', 132, ['1.2.3.4']),
    timed('my-service', 66, ['1.2.3.5']),
    timed('endpoints-no-service', 4, []),
    timed('clusterip-service', 8, []),
    timed('headless-no-annotation', undefined, []),
  ]
}

async function createOrReplace(api: ApiServer, object: ApiObject): Promise<void> {
  try {
    await api.create(object)
  } catch {
    await api.patch(object, object)
  }
}
