/**
 * A real cluster, its exporter, a gateway and a replica of that, each of which is killed in turn.
 * Run by `npm run test:cluster`.
 * @module
 */
import { ok } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { createClusterKeys, createToken } from '../../src/exporter/cluster-keys.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { ApiServer } from './api-server.ts'
import { answerOf, type QuestionText } from './asking.ts'
import { prepareBinaries } from './binaries.ts'
import { RIGHTS, service, shopObjects } from './objects.ts'
import { type Running, start } from './processes.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const SETTLE_MS = 60_000

const binaries = prepareBinaries()
const skip = typeof binaries === 'string' ? binaries : false

type Part = 'exporter' | 'primary' | 'replica'

describeUnless(skip, 'a replica of a gateway', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-replicas-'))
  const running = new Map<Part, Running>()
  const starts = new Map<Part, () => Running>()
  const urls = new Map<Part, string>()
  const durations: string[] = []
  let api: ApiServer
  let clientToken = ''

  const open = async (part: Part): Promise<void> => {
    const one = starts.get(part)?.()
    ok(one)
    running.set(part, one)
    if (part !== 'exporter') await one.line(/^ready: /)
  }
  const kill = async (part: Part): Promise<void> => {
    const one = running.get(part)
    ok(one)
    const gone = new Promise((resolve) => one.child.once('close', resolve))
    one.child.kill('SIGKILL')
    await gone
  }
  const answers = async (part: Part, name: string): Promise<string> => {
    const question: QuestionText = `${name}.shop.svc.cluster.local. A`
    const server = { protocol: 'doh', url: urls.get(part) ?? '', token: clientToken } as const
    return (await answerOf(server, question)).join('\n')
  }
  /** Adds a Service. */
  const add = (name: string, clusterIP: string): Promise<unknown> =>
    api.create(service(`shop/${name}`, { clusterIP }))
  /** Waits until the replica answers with an address, and notes how long that took. */
  const untilAnswered = async (name: string, address: string, after: string): Promise<void> => {
    const startMs = performance.now()
    const has = async (): Promise<boolean> =>
      (await answers('replica', name).catch(() => '')).includes(address)
    while (!(await has())) {
      ok(performance.now() - startMs < SETTLE_MS, `${name}: ${running.get('replica')?.tail()}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    durations.push(`${after}: ${(performance.now() - startMs).toFixed(0)} ms`)
  }

  beforeAll(async () => {
    if (typeof binaries === 'string') return
    api = await ApiServer.start(binaries)
    for (const object of [...RIGHTS, ...shopObjects()]) await api.create(object)
    const file = (name: string, text: string): string => {
      const path = join(folder, name)
      writeFileSync(path, text)
      return path
    }
    const conf = file('gateway', '. {\n  kubernetes cluster.local {\n    cluster test\n  }\n}\n')
    const kubernetes = `  kubernetes cluster.local {\n    kubeconfig ${api.exporterConfig}\n  }\n`
    const exported = file('exporter', `. {\n${kubernetes}}\n`)
    const keys = await createClusterKeys()
    const { publicKey, tokenSha256 } = keys
    const [client, replica] = [await createToken(), await createToken()]
    clientToken = client.token
    const shared = {
      CLUSTERS: JSON.stringify({ test: { publicKey, tokenSha256 } }),
      CLIENT_TOKEN_SHA256: client.sha256,
      REQUESTS_PER_MINUTE: '0',
    }
    const gateway = async (part: Part): Promise<string[]> => {
      const listen = `127.0.0.1:${await freePort()}`
      urls.set(part, `http://${listen}`)
      return ['gateway', '--conf', conf, '--listen', listen]
    }
    const primaryArgs = [...(await gateway('primary')), '--store', `file:${join(folder, 'store')}`]
    const url = urls.get('primary') ?? ''
    const replicaArgs = [...(await gateway('replica')), '--follow', url]
    starts.set('primary', () =>
      start(KUBEDOH, primaryArgs, { ...shared, REPLICA_TOKEN_SHA256: replica.sha256 }),
    )
    starts.set('replica', () =>
      start(KUBEDOH, replicaArgs, { ...shared, KUBEDOH_REPLICA_TOKEN: replica.token }),
    )
    const exporterArgs = ['export', '--gateway', url, '--cluster', 'test', '--conf', exported]
    starts.set('exporter', () =>
      start(KUBEDOH, exporterArgs, {
        KUBEDOH_TOKEN: keys.token,
        KUBEDOH_SIGNING_KEY: keys.signingKey,
      }),
    )
    for (const part of ['primary', 'replica', 'exporter'] as const) await open(part)
  })

  afterAll(async () => {
    await Promise.all([...running.values()].map(({ stop }) => stop()))
    await api?.stop()
    rmSync(folder, { recursive: true, force: true })
    process.stdout.write(`until the replica answered: ${durations.join('; ')}\n`)
  })

  it('answers what the exporter publishes to the primary', async () => {
    await add('first', '10.96.78.1')
    await untilAnswered('first', '10.96.78.1', 'from the start')
    await add('second', '10.96.78.2')
    await untilAnswered('second', '10.96.78.2', 'a change')
  })

  it('answers while the exporter is killed, and what it publishes then', async () => {
    await kill('exporter')
    await add('third', '10.96.78.3')
    ok((await answers('replica', 'second')).includes('10.96.78.2'))
    await open('exporter')
    await untilAnswered('third', '10.96.78.3', 'the exporter killed')
  })

  it('answers while the primary is killed, and goes on once it is back', async () => {
    await kill('primary')
    await add('fourth', '10.96.78.4')
    for (let i = 0; i < 100; i++) ok((await answers('replica', 'third')).includes('10.96.78.3'))
    await open('primary')
    await untilAnswered('fourth', '10.96.78.4', 'the primary killed')
  })

  it('answers after it was killed itself', async () => {
    await kill('replica')
    await open('replica')
    await untilAnswered('fourth', '10.96.78.4', 'the replica killed')
    await add('fifth', '10.96.78.5')
    await untilAnswered('fifth', '10.96.78.5', 'a change')
  })
})
