/**
 * A StatefulSet's peer that was queried before it existed. Our server finds it as soon as it
 * exists; a real CoreDNS with the same Corefile returns NXDOMAIN for the TTL of its cache. Run by
 * `npm run test:cluster`.
 * @module
 */
import { match } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { ApiServer } from './api-server.ts'
import { answerOf, type QuestionText, type Server } from './asking.ts'
import { prepareBinaries } from './binaries.ts'
import { namespace, RIGHTS, service, slice } from './objects.ts'
import { type Running, start } from './processes.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const binaries = prepareBinaries()
const skip = typeof binaries === 'string' ? binaries : false
/** Long enough for a change to arrive, and far less than the TTL. */
const PATIENCE_MS = 5000
const PEER = 'db-2.db.peers.svc.cluster.local.'
const QUESTIONS: readonly QuestionText[] = [`${PEER} A`, 'peer.example.org. A', 'old.name.test. A']
const FOUND = /10\.244\.7\.2\b/

const formatCorefile = (kubeconfig: string): string => `
cluster.local name.test {
    bind 127.0.0.1
    rewrite name old.name.test ${PEER}
    kubernetes cluster.local {
        kubeconfig ${kubeconfig}
        ttl 30
    }
    cache 30
}
example.org {
    bind 127.0.0.1
    file db.example.org
    cache 30
}
`
const ZONE = `$ORIGIN example.org.
@ 300 IN SOA ns host 1 7200 1800 86400 300
@ 300 IN NS ns
ns 300 IN A 192.0.2.53
peer 300 IN CNAME ${PEER}
`

describeUnless(skip, 'a peer that was looked up too early', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-peer-'))
  const running: Running[] = []
  let api: ApiServer | undefined
  let ours: Server
  let theirs: Server

  beforeAll(async () => {
    if (typeof binaries === 'string') return
    api = await ApiServer.start(binaries)
    const objects = [namespace('peers'), service('peers/db', { clusterIP: 'None' })]
    const first = slice('peers/db-1', 'db', [{ addresses: ['10.244.7.1'], hostname: 'db-1' }])
    for (const object of [...RIGHTS, ...objects, first]) await api.create(object)
    const corefile = join(folder, 'Corefile')
    writeFileSync(corefile, formatCorefile(api.exporterConfig))
    writeFileSync(join(folder, 'db.example.org'), ZONE)
    const [one, other] = [await freePort(), await freePort()]
    const flags = (port: number): string[] => ['-conf', corefile, '-dns.port', String(port)]
    const coredns = start(binaries.coredns, flags(one), {}, folder)
    running.push(coredns)
    const serve = start(KUBEDOH, ['serve', '--conf', corefile, '--dns.port', String(other)])
    running.push(serve)
    await Promise.all([coredns.line(/CoreDNS-/), serve.line(/^ready/)])
    theirs = { protocol: 'udp', port: one }
    ours = { protocol: 'udp', port: other }
  })

  afterAll(async () => {
    for (const one of running.toReversed()) await one.stop()
    await api?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('is found by our server as soon as it exists, but not yet by CoreDNS', async () => {
    for (const question of QUESTIONS) {
      for (const server of [ours, theirs]) await answerOf(server, question)
    }
    const second = { addresses: ['10.244.7.2'], hostname: 'db-2' }
    await api?.create(slice('peers/db-2', 'db', [second]))
    const startMs = performance.now()
    for (const question of QUESTIONS) {
      await until(async () => FOUND.test((await answerOf(ours, question)).join('\n')))
    }
    const tookMs = Math.round(performance.now() - startMs)
    process.stdout.write(`a new peer was found after ${tookMs} ms, by CoreDNS not yet\n`)
    // CoreDNS has seen the change by then, but its cache hides it.
    await until(async () => {
      const other: QuestionText = 'db-2.db.peers.svc.cluster.local. AAAA'
      return (await answerOf(theirs, other)).join('\n').startsWith('NOERROR')
    })
    for (const question of QUESTIONS) {
      const text = (await answerOf(theirs, question)).join('\n')
      match(text, /^NXDOMAIN/)
    }
  })
})

async function until(condition: () => Promise<boolean>): Promise<void> {
  const startMs = performance.now()
  while (!(await condition())) {
    if (performance.now() - startMs > PATIENCE_MS) throw new Error('the peer was not found in time')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
