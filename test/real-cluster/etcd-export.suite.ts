/**
 * Keys of a real etcd at a gateway, published by an exporter: all three are processes of their own.
 * @module
 */
import { equal, match } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { type LocalGateway, startGateway } from '../../build/local-gateway.ts'
import { createClusterKeys } from '../../src/exporter/cluster-keys.ts'
import { describeUnless } from '../describe-unless.ts'
import { answerOf, type QuestionText, type Server } from './asking.ts'
import { prepareBinaries } from './binaries.ts'
import { Etcd } from './etcd.ts'
import { type Running, start } from './processes.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const PATIENCE_MS = 30_000
const GATEWAY_KEYS = 'live.test {\n  etcd {\n    cluster test\n  }\n}\n'
const KEYS = '/skydns/test/live'
const binaries = prepareBinaries()
const skip = typeof binaries === 'string' ? binaries : false

/** Returns a Service whose name is a CNAME. */
function service(name: string): string {
  return `
apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: shop }
spec: { type: ExternalName, externalName: ${name}.example.org }
`
}

describeUnless(skip, 'keys of a real etcd, at a gateway', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-etcd-export-'))
  const file = (name: string): string => join(folder, name)
  let etcd: Etcd
  let gateway: LocalGateway
  let exporter: Running
  let startExporter: () => Running
  let edge: Server

  beforeAll(async () => {
    if (typeof binaries === 'string') return
    etcd = await Etcd.start(binaries.etcd)
    const keys = await createClusterKeys()
    const clusters = { test: { publicKey: keys.publicKey, tokenSha256: keys.tokenSha256 } }
    gateway = await startGateway({
      variables: {
        REQUESTS_PER_MINUTE: '0',
        COREFILE: `cluster.local {\n  kubernetes {\n    cluster test\n  }\n}\n${GATEWAY_KEYS}`,
        CLUSTERS: JSON.stringify(clusters),
        CLIENT_TOKEN_SHA256: keys.tokenSha256,
      },
    })
    edge = { protocol: 'doh', url: gateway.url, token: keys.token }
    writeFileSync(file('shop.yaml'), service('web'))
    const etcdBlock = `live.test {\n  etcd {\n    endpoint ${etcd.url}\n  }\n}\n`
    writeFileSync(file('Corefile'), `cluster.local {\n  kubernetes\n}\n${etcdBlock}`)
    const sources = ['--conf', file('Corefile'), '--objects', file('shop.yaml')]
    const args = ['--gateway', gateway.url, '--cluster', 'test', '--listen', '', ...sources]
    startExporter = () =>
      start(KUBEDOH, ['export', ...args], {
        KUBEDOH_TOKEN: keys.token,
        KUBEDOH_SIGNING_KEY: keys.signingKey,
      })
    exporter = startExporter()
  })

  afterAll(async () => {
    await exporter?.stop()
    await gateway?.stop()
    await etcd?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Waits until the gateway's response is the expected one. */
  async function answers(question: QuestionText, wanted: RegExp): Promise<void> {
    const startMs = performance.now()
    for (;;) {
      const text = (await answerOf(edge, question)).join('\n')
      if (wanted.test(text)) return
      if (performance.now() - startMs > PATIENCE_MS) throw new Error(`${question} stays\n${text}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  it('are answered once they are written', async () => {
    await etcd.put(`${KEYS}/www`, { host: '192.0.2.1', ttl: 60 })
    await answers(
      'www.live.test. A',
      /^NOERROR AA.*\nanswer www\.live\.test\. 60 IN A 192\.0\.2\.1$/,
    )
  })

  it('change when they are changed', async () => {
    await etcd.put(`${KEYS}/www`, { host: '192.0.2.2', ttl: 60 })
    await answers('www.live.test. A', /IN A 192\.0\.2\.2$/)
  })

  it('are gone when they are deleted', async () => {
    await etcd.put(`${KEYS}/gone`, { host: '192.0.2.3' })
    await answers('gone.live.test. A', /IN A 192\.0\.2\.3$/)
    await etcd.delete(`${KEYS}/gone`)
    await answers('gone.live.test. A', /^NXDOMAIN/)
    await answers('www.live.test. A', /IN A 192\.0\.2\.2$/)
  })

  it('stay while etcd is away, and follow its later changes', async () => {
    const failure = /cannot watch the keys of etcd: /
    equal(failure.test(exporter.tail()), false)
    await etcd.pause()
    await exporter.line(failure)
    match((await answerOf(edge, 'www.live.test. A')).join('\n'), /IN A 192\.0\.2\.2$/)
    await etcd.resume()
    await etcd.put(`${KEYS}/later`, { host: '192.0.2.4' })
    await answers('later.live.test. A', /IN A 192\.0\.2\.4$/)
    await answers('www.live.test. A', /IN A 192\.0\.2\.2$/)
  })

  it('stay while they are too large, and are listed again once they fit', async () => {
    const text = 'x'.repeat(60_000)
    for (let i = 0; i < 300; i++) await etcd.put(`${KEYS}/large/${i}`, { text })
    await exporter.line(/more than 50000 keys or 16 MiB/)
    await etcd.put(`${KEYS}/www`, { host: '192.0.2.5', ttl: 60 })
    match((await answerOf(edge, 'www.live.test. A')).join('\n'), /IN A 192\.0\.2\.2$/)
    for (let i = 0; i < 290; i++) await etcd.delete(`${KEYS}/large/${i}`)
    await answers('www.live.test. A', /IN A 192\.0\.2\.5$/)
    await etcd.put(`${KEYS}/www`, { host: '192.0.2.2', ttl: 60 })
    await answers('www.live.test. A', /IN A 192\.0\.2\.2$/)
  })

  it('stay when an exporter starts while etcd is away', async () => {
    await etcd.pause()
    await exporter.stop()
    writeFileSync(file('shop.yaml'), service('next'))
    exporter = startExporter()
    await exporter.line(/publishing without the keys of etcd/)
    await answers('next.shop.svc.cluster.local. CNAME', /IN CNAME next\.example\.org\.$/)
    match((await answerOf(edge, 'www.live.test. A')).join('\n'), /IN A 192\.0\.2\.2$/)
  })
})
