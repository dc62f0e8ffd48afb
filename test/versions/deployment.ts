/**
 * An exporter and a gateway, each of which other builds replace, and clients that never stop.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import type { TestContext } from 'vitest'
import { hashToken } from '../../src/gateway/access/token.ts'
import { generateKeyPair } from '../../src/snapshot/format/signature.ts'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'
import { type Running, start } from '../real-cluster/processes.ts'
import { within } from '../server/clients.ts'
import { startGateway } from '../workerd.ts'
import type { Build } from './builds.ts'
import { ChangingApi } from './changing-api.ts'
import { SwitchedPort } from './switched-port.ts'

/** Where the gateway runs. */
export type Runtime = 'node' | 'workerd'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const COREFILE = '. {\n  kubernetes shop.example.org cluster.local {\n    cluster shop\n  }\n}\n'
const TOKEN = 'the-token-of-the-exporter'
/** Services whose addresses stay. */
export const STEADY: readonly string[] = Array.from({ length: 20 }, (_, i) => `web-${i}`)
/** The one whose address changes. */
const CHANGING = 'changing'
const PAUSE_MS = 5
/** How long a gateway goes on without new connections, as the hook of a pod has it do. */
const DRAIN_MS = 1000

type Parts = {
  readonly folder: string
  readonly api: ChangingApi
  readonly port: SwitchedPort
  readonly keys: Awaited<ReturnType<typeof generateKeyPair>>
}

/** The deployment. */
export class Deployment {
  private readonly runtime: Runtime
  private readonly parts: Parts
  private exporter: Running | undefined
  private gateway: { readonly stop: () => Promise<unknown> } | undefined
  private changes = 0
  /** Answers to queries by what was wrong with them, '' for none. */
  private readonly results = new Map<string, number>()
  private clients: Promise<void> | undefined
  private isOver = false
  private slowestMs = 0
  /** While workerd is replaced on the same storage, nothing answers. */
  private isAway = false

  private constructor(runtime: Runtime, parts: Parts) {
    this.runtime = runtime
    this.parts = parts
  }

  /** Prepares one without processes; these end with the test. */
  static async open(t: TestContext, runtime: Runtime): Promise<Deployment> {
    const api = await ChangingApi.start(t)
    for (const [i, name] of STEADY.entries()) api.set(name, `192.0.2.${i}`)
    api.set(CHANGING, '198.51.100.0')
    const folder = temporaryFolder(t, {
      Corefile: COREFILE,
      Exported: `. {\n  kubernetes cluster.local {\n    endpoint ${api.url}\n  }\n}\n`,
    })
    const keys = await generateKeyPair()
    const port = await SwitchedPort.open(t)
    const deployment = new Deployment(runtime, { folder, api, port, keys })
    t.onTestFinished(() => deployment.stop())
    return deployment
  }

  /** Replaces the exporter, or starts the first one; it has published when the promise resolves. */
  async replaceExporter(build: Build): Promise<void> {
    await this.exporter?.stop()
    this.exporter = this.startExporter(build)
    await this.exporter.line(/^ready: published/)
  }

  /** Publishes once. @returns the exit status, and the last lines of the output */
  async publishOnce(
    build: Build,
  ): Promise<{ readonly status: number | null; readonly tail: string }> {
    const once = this.startExporter(build, '--once')
    return { status: await once.ended, tail: once.tail() }
  }

  /**
   * Replaces the gateway, or starts the first one. On Node, the next one answers before the
   * previous one stops, as pods do that share a volume.
   */
  async replaceGateway(build: Build): Promise<void> {
    const before = this.gateway
    if (this.runtime === 'workerd') {
      this.isAway = true
      await before?.stop()
    }
    const next = await (this.runtime === 'node' ? this.startNode(build) : this.startWorker(build))
    this.gateway = next
    this.parts.port.target = next.port
    this.isAway = false
    if (this.runtime === 'workerd' || before === undefined) return
    await pause(DRAIN_MS)
    await before.stop()
  }

  /** Sends queries until `finish`, each of all names once at least. */
  startClients(): void {
    this.clients ??= this.query()
  }

  /** Changes an address, and waits until the gateway answers with it. */
  async change(): Promise<void> {
    const address = `198.51.100.${++this.changes}`
    this.parts.api.set(CHANGING, address)
    const seen = async (): Promise<void> => {
      while ((await this.ask(CHANGING).catch(String)) !== address) await pause(PAUSE_MS)
    }
    await within(seen(), address).catch((error: Error) => {
      throw new Error(`${error.message}; the exporter: ${this.exporter?.tail()}`)
    })
  }

  /** Returns the version of the newest manifest in the folder of a gateway on Node. */
  newestVersion(): number {
    const folder = join(this.parts.folder, 'store/clusters/shop/manifests')
    const generations = readdirSync(folder).filter((name) => /^\d+$/.test(name))
    const newest = Math.max(...generations.map(Number))
    const [, version] =
      /"version": (\d+)/.exec(readFileSync(join(folder, String(newest)), 'latin1')) ?? []
    return Number(version)
  }

  /**
   * Ends the clients. @returns what was wrong with answers, how many were right, and how long the
   * slowest took
   */
  async finish(): Promise<{
    readonly wrong: readonly string[]
    readonly right: number
    readonly slowestMs: number
  }> {
    this.isOver = true
    await this.clients
    const wrong = [...this.results].filter(([what]) => what !== '')
    const texts = wrong.map(([what, count]) => `${count} × ${what}`)
    return { wrong: texts, right: this.results.get('') ?? 0, slowestMs: this.slowestMs }
  }

  private async stop(): Promise<void> {
    this.isOver = true
    await this.clients
    await Promise.all([this.exporter?.stop(), this.gateway?.stop()])
  }

  private startExporter({ entry }: Build, ...more: readonly string[]): Running {
    const args = ['export', '--cluster', 'shop', '--gateway', this.parts.port.url, '--listen', '']
    return start(KUBEDOH, [...args, '--conf', join(this.parts.folder, 'Exported'), ...more], {
      KUBEDOH_ENTRY: entry,
      KUBEDOH_TOKEN: TOKEN,
      KUBEDOH_SIGNING_KEY: this.parts.keys.privateKey,
    })
  }

  private async variables(): Promise<Record<string, string>> {
    const shop = { publicKey: this.parts.keys.publicKey, tokenSha256: await hashToken(TOKEN) }
    return { PUBLIC: 'true', CLUSTERS: JSON.stringify({ shop }) }
  }

  private async startNode({ entry }: Build) {
    const store = `file:${join(this.parts.folder, 'store')}`
    const args = ['gateway', '--listen', '127.0.0.1:0', '--store', store]
    const conf = ['--conf', join(this.parts.folder, 'Corefile')]
    const variables = { ...(await this.variables()), KUBEDOH_ENTRY: entry }
    const running = start(KUBEDOH, [...args, ...conf], variables)
    const [, port] = /:(\d+)\/dns-query$/.exec(await running.line(/^ready: /)) ?? []
    return { port: Number(port), stop: () => running.stop() }
  }

  private async startWorker({ worker }: Build) {
    const variables = { ...(await this.variables()), COREFILE }
    const storage = join(this.parts.folder, 'objects')
    const { url, stop } = await startGateway({ variables, port: 0, storage, entry: worker })
    return { port: Number(new URL(url).port), stop }
  }

  private async query(): Promise<void> {
    do {
      for (const [i, name] of [...STEADY, CHANGING].entries()) {
        const wasAway = this.isAway
        const begunMs = performance.now()
        const answer = await this.ask(name).catch(String)
        this.slowestMs = Math.max(this.slowestMs, performance.now() - begunMs)
        const isRight =
          name === CHANGING ? answer.startsWith('198.51.100.') : answer === `192.0.2.${i}`
        if (wasAway || this.isAway) continue
        const what = isRight ? '' : `${name}: ${answer}`
        this.results.set(what, (this.results.get(what) ?? 0) + 1)
      }
      await pause(PAUSE_MS)
    } while (!this.isOver)
  }

  /** Queries the address of a Service, over a connection of its own. */
  private ask(service: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const url = `${this.parts.port.url}/resolve?name=${service}.shop.svc.shop.example.org`
      const sent = get(url, { agent: false, timeout: 10_000 }, (response) => {
        let text = ''
        response.on('data', (chunk) => {
          text += chunk
        })
        response.once('error', reject)
        response.once('end', () => {
          if (response.statusCode !== 200) return resolve(`status ${response.statusCode}`)
          const { Status, Answer = [] } = JSON.parse(text)
          resolve(Status === 0 ? (Answer[0]?.data ?? 'no answer') : `RCODE ${Status}`)
        })
      })
      sent.once('timeout', () => sent.destroy(new Error('timeout')))
      sent.once('error', reject)
    })
  }
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs))
}
