/**
 * What befalls a cluster, its exporters and its gateway while objects change. Each fault ends with
 * everything running again.
 * @module
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClusterKeys } from '../../src/exporter/cluster-keys.ts'
import { freePort } from '../free-port.ts'
import type { ApiServer } from './api-server.ts'
import type { Server } from './asking.ts'
import { type Running, start } from './processes.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const CLOCK = join(import.meta.dirname, '../faults/clock.ts')
const LEASE = 'kube-system/kubedoh'
/** Longest absence of an API server, an etcd or a process. */
const AWAY_MS = 4000
/** Most that a wall clock is off; gateways refuse 5 minutes. */
const SKEW_MS = 240_000

/** A gateway on Node, two exporters of one Lease and a DNS server, of one cluster. */
export class ChurnProcesses {
  readonly edge: Server
  readonly server: Server
  private readonly api: ApiServer
  private readonly random: () => number
  private readonly folder: string
  private readonly keys: Awaited<ReturnType<typeof createClusterKeys>>
  private readonly url: string
  private gateway: Running | undefined
  private dns: Running | undefined
  private readonly exporters: Running[] = []

  private constructor(
    parts: { readonly api: ApiServer; readonly random: () => number; readonly ports: number[] },
    keys: ChurnProcesses['keys'],
  ) {
    const [gatewayPort = 0, port = 0] = parts.ports
    this.api = parts.api
    this.random = parts.random
    this.keys = keys
    this.folder = mkdtempSync(join(tmpdir(), 'kubedoh-churn-'))
    this.url = `http://127.0.0.1:${gatewayPort}`
    this.edge = { protocol: 'doh', url: this.url, token: keys.token }
    this.server = { protocol: 'udp', port }
  }

  /** Starts them all; resolves when gateway and server answer. */
  static async start(api: ApiServer, random: () => number): Promise<ChurnProcesses> {
    const ports = [await freePort(), await freePort()]
    const all = new ChurnProcesses({ api, random, ports }, await createClusterKeys())
    all.writeCorefiles(ports[1] ?? 0)
    for (const i of [0, 1, 2]) all.skew(i, 0)
    await all.startAll().catch(async (error: unknown) => {
      await all.stop()
      throw error
    })
    return all
  }

  private async startAll(): Promise<void> {
    await this.startGateway()
    this.dns = this.startSkewed(2, ['serve', '--conf', join(this.folder, 'serve')])
    for (const i of [0, 1]) this.startExporter(i)
    await Promise.all([
      this.dns.line(/^ready/),
      ...this.exporters.map((one) => one.line(/^ready|follows/)),
    ])
  }

  /** Returns the number of records that the gateway has. */
  async publishedRecords(): Promise<number> {
    const headers = { authorization: `Bearer ${this.keys.token}` }
    const response = await fetch(`${this.url}/v1/clusters/test`, { headers })
    const { records } = JSON.parse(await response.text())
    return Number(records)
  }

  /** Stops them all. */
  async stop(): Promise<void> {
    const all = [this.dns, this.gateway, ...this.exporters]
    await Promise.all(all.map((one) => one?.stop()))
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** The faults by name. */
  readonly faults: Readonly<Record<string, () => Promise<void>>> = {
    'API server killed': async () => {
      await this.api.crash()
      await this.pause(AWAY_MS)
      await this.api.resume()
    },
    'etcd killed': () => this.api.crashEtcd(this.random() * AWAY_MS),
    'token rotated, the previous one refused': async () => {
      this.api.rotateToken()
      await this.api.pause()
      await this.api.resume()
    },
    'exporter killed': async () => {
      const i = Math.floor(this.random() * 2)
      this.exporters[i]?.child.kill('SIGKILL')
      await this.exporters[i]?.stop()
      this.startExporter(i)
    },
    'exporter stopped for longer than its Lease': async () => {
      const child = this.exporters[Math.floor(this.random() * 2)]?.child
      child?.kill('SIGSTOP')
      await this.pause(2 * AWAY_MS)
      child?.kill('SIGCONT')
    },
    'both exporters stopped in turn': async () => {
      for (const { child } of [...this.exporters, ...this.exporters]) {
        child.kill('SIGSTOP')
        await this.pause(AWAY_MS)
        child.kill('SIGCONT')
      }
    },
    'wall clocks skewed': async () => {
      for (const i of [0, 1, 2]) this.skew(i, Math.round((2 * this.random() - 1) * SKEW_MS))
      await this.pause(AWAY_MS)
      // Ten minutes: the gateway refuses the manifests of that exporter for a while.
      this.skew(0, 600_000)
      await this.pause(AWAY_MS)
      for (const i of [0, 1, 2]) this.skew(i, 0)
    },
    'gateway killed': async () => {
      this.gateway?.child.kill('SIGKILL')
      await this.gateway?.stop()
      await this.pause(AWAY_MS / 2)
      await this.startGateway()
    },
  }

  private async pause(mostMs: number): Promise<void> {
    await sleep(this.random() * mostMs)
  }

  private writeCorefiles(port: number): void {
    const kubernetes = `kubernetes cluster.local {\n    kubeconfig ${this.api.podConfig}\n  }`
    const write = (name: string, text: string): void => writeFileSync(join(this.folder, name), text)
    write('export', `. {\n  ${kubernetes}\n}\n`)
    write('serve', `.:${port} {\n  bind 127.0.0.1\n  ${kubernetes}\n}\n`)
    write('gateway', '. {\n  kubernetes cluster.local {\n    cluster test\n  }\n}\n')
  }

  private async startGateway(): Promise<void> {
    const { publicKey, tokenSha256 } = this.keys
    const conf = ['--conf', join(this.folder, 'gateway')]
    const listen = ['--listen', new URL(this.url).host]
    const store = ['--store', `file:${join(this.folder, 'store')}`]
    this.gateway = start(KUBEDOH, ['gateway', ...conf, ...listen, ...store], {
      REQUESTS_PER_MINUTE: '0',
      CLUSTERS: JSON.stringify({ test: { publicKey, tokenSha256 } }),
      CLIENT_TOKEN_SHA256: tokenSha256,
    })
    await this.gateway.line(/^ready/)
  }

  private startExporter(i: number): void {
    const conf = ['--conf', join(this.folder, 'export'), '--listen', '127.0.0.1:0']
    const to = ['--gateway', this.url, '--cluster', 'test']
    this.exporters[i] = this.startSkewed(i, ['export', ...to, ...conf])
  }

  private startSkewed(i: number, args: readonly string[]): Running {
    return start(KUBEDOH, args, {
      NODE_OPTIONS: `--import=${CLOCK}`,
      FAULT_JUMP: join(this.folder, `clock-${i}`),
      KUBEDOH_TOKEN: this.keys.token,
      KUBEDOH_SIGNING_KEY: this.keys.signingKey,
      KUBEDOH_LEASE: LEASE,
    })
  }

  private skew(i: number, ms: number): void {
    writeFileSync(join(this.folder, `clock-${i}`), `${ms}\n`)
  }
}
