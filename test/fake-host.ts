/**
 * The runtime of plugins for tests: time that a test advances, numbers that repeat, files in
 * memory, scripted upstreams, clusters made from YAML; what plugins log is collected.
 * @module
 */
import type { ClusterTree } from '../src/corefile/cluster-tree.ts'
import type { KubernetesOptions } from '../src/corefile/kubernetes-options.ts'
import type { LogEvent } from '../src/dns/telemetry/log.ts'
import { Metrics } from '../src/dns/telemetry/metrics.ts'
import type {
  ExchangeOptions,
  FileState,
  SnapshotSource,
  TlsIdentity,
  Upstream,
  UpstreamClient,
  UpstreamOptions,
} from '../src/resolver/contract/host.ts'
import {
  bindPlugins,
  type PluginHost,
  type PluginSet,
} from '../src/resolver/contract/plugin-entry.ts'
import { ALL_PLUGINS, type AllPluginsHost } from '../src/resolver/plugins/all-plugins.ts'
import type { CacheFile } from '../src/resolver/plugins/cache/persistence.ts'
import type { DnssecHost } from '../src/resolver/plugins/dnssec/key-file.ts'
import type { Tap, TapTarget } from '../src/resolver/plugins/dnstap/setup.ts'
import { KeyTable } from '../src/resolver/plugins/etcd/key-table.ts'
import type { EtcdConnection, KeySource } from '../src/resolver/plugins/etcd/options.ts'
import type { TsigHost } from '../src/resolver/plugins/tsig/verify.ts'
import { hmac } from '../src/server/keys/hmac.ts'
import { openSigner } from '../src/server/keys/open-signer.ts'
import { type FakeClusterOptions, openFakeCluster } from './fake-cluster.ts'
import { formatQuestion, writeReplyText } from './message-text.ts'

/** The time at which all tests begin. */
export const START_MS: number = Date.UTC(2026, 0, 1)

/** What an upstream was asked. */
export type Asked = ExchangeOptions & {
  /** `192.0.2.53:53`, or a URL. */
  readonly upstream: string
  /** As `formatQuestion` writes it. */
  readonly question: string
  readonly message: Uint8Array
}

/** What an upstream does: replies with lines or bytes, fails, or says nothing until time is up. */
export type UpstreamAct = readonly string[] | Uint8Array | Error | 'silence'

/** An upstream that was opened. */
export type OpenedUpstream = {
  readonly upstream: Upstream
  readonly options: UpstreamOptions
  readonly isClosed: boolean
}

/** Decides what an upstream does. */
export type UpstreamScript = (asked: Asked) => UpstreamAct | Promise<UpstreamAct>

/** What a test's runtime has. */
export type FakeHostOptions = {
  readonly files?: Readonly<Record<string, string>>
  /** A script, or reply lines by question (`www.example.org. IN A rd`); else all are silent. */
  readonly upstream?: UpstreamScript | Readonly<Record<string, readonly string[]>>
  /** The messages of a transfer, each as lines of a reply; else there are none. */
  readonly transfers?: (asked: Asked) => readonly (readonly string[])[] | Error
  /** What every `kubernetes` directive opens. */
  readonly cluster?: FakeClusterOptions
  /** Values by key that every `etcd` directive opens; without, none have been read yet. */
  readonly keys?: Readonly<Record<string, unknown>>
  /** Whether `etcd` directives open published keys, as at a gateway. */
  readonly isGateway?: boolean
  readonly seed?: number
  /** The plugins that there are; all when left out. */
  readonly plugins?: PluginSet<AllPluginsHost>
  /** Whether promises of one request may never end for another. */
  readonly isolatesRequests?: boolean
}

type Timer = { readonly dueMs: number; readonly task: () => void }

/** Files in memory, and when each was written; those that a test begins with, a day before. */
class FakeFiles extends Map<string, string> {
  readonly writtenMs: Map<string, number> = new Map()
  private readonly now: () => number

  constructor(files: Readonly<Record<string, string>>, now: () => number) {
    super()
    this.now = now
    for (const [path, text] of Object.entries(files)) {
      super.set(path, text)
      this.writtenMs.set(path, START_MS - 86_400_000)
    }
  }

  override set(path: string, text: string): this {
    this.writtenMs.set(path, this.now())
    return super.set(path, text)
  }
}

/** A runtime. Its functions stay whole when they are taken off it. */
export class FakeHost implements PluginHost, AllPluginsHost {
  readonly plugins: PluginSet
  readonly metrics: Metrics = new Metrics()
  readonly isolatesRequests: boolean
  readonly hostname: string = 'ns1.example.org'
  readonly runtime: string = 'test-1.0'
  /** Events that were logged. */
  readonly events: LogEvent[] = []
  /** Lines of the query log. */
  readonly lines: string[] = []
  /** Why the process should have ended. */
  readonly aborts: string[] = []
  /** What upstreams were asked, in order. */
  readonly asked: Asked[] = []
  /** Paths of files that were read, in order. */
  readonly reads: string[] = []
  /** Upstreams that were opened. */
  readonly upstreams: OpenedUpstream[] = []
  /** Directives whose clusters were opened. */
  readonly opened: KubernetesOptions[] = []
  /** Which shards were loaded, `undefined` for the snapshot. */
  readonly loads: (number | undefined)[] = []
  /** Files, each as old as its last `set`. */
  readonly files: FakeFiles
  /** Directives whose keys were opened. */
  readonly connections: EtcdConnection[] = []
  readonly keys: KeyTable | undefined
  /** Absent at a gateway. */
  readonly openKeys?: NonNullable<AllPluginsHost['openKeys']>
  /** Seconds that leases have left. */
  readonly leases: Map<string, number> = new Map()
  /** Messages for collectors of dnstap, and where they are. */
  readonly taps: { readonly target: TapTarget; readonly messages: Uint8Array[] }[] = []
  /** What was sent to collectors. */
  readonly posted: { readonly url: string; readonly json: string }[] = []
  /** Why nothing is taken; a test sets it. */
  postFailure: Error | undefined
  private readonly script: UpstreamScript
  private readonly transfers: NonNullable<FakeHostOptions['transfers']>
  private readonly cluster: FakeClusterOptions | undefined
  private readonly timers = new Set<Timer>()
  private nowMs = START_MS
  private steppedMs = 0
  private state: number

  constructor(options: FakeHostOptions = {}) {
    const { files = {}, upstream, cluster, keys, seed = 1, isolatesRequests = false } = options
    const { openTap, openSigner, hmac, postJson, openTransfer } = this
    this.plugins = bindPlugins(options.plugins ?? ALL_PLUGINS, {
      cookieSecret: this.cookieSecret,
      openCacheFile: this.openCacheFile,
      openTap,
      openSigner,
      hmac,
      postJson,
      openTransfer,
    })
    this.isolatesRequests = isolatesRequests
    this.files = new FakeFiles(files, this.now)
    this.script = scriptOf(upstream)
    this.transfers = options.transfers ?? (() => [])
    this.cluster = cluster
    this.keys = keys && tableOf(keys)
    this.state = seed
    if (options.isGateway !== true) this.openKeys = this.openTable
  }

  // The clocks start at different times, so that nothing may mix them up.
  readonly now = (): number => this.nowMs + this.steppedMs
  readonly elapsed = (): number => this.nowMs - START_MS + 777
  readonly awake = (): number => this.nowMs - START_MS - 1_000_000

  /** A linear congruential generator (Numerical Recipes): the upper half is random enough. */
  readonly random16 = (): number => {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0
    return this.state >>> 16
  }

  /** Of a file that is no text, each character is a byte. */
  readonly readBytes = (path: string): Uint8Array | undefined => {
    const text = this.files.get(path)
    return text === undefined ? undefined : Buffer.from(text, 'latin1')
  }

  readonly after = (delayMs: number, task: () => void): (() => void) => {
    const timer = { dueMs: this.nowMs + delayMs, task }
    this.timers.add(timer)
    return () => {
      this.timers.delete(timer)
    }
  }

  readonly nextTurn = (): Promise<void> => settle()

  readonly isInterface = (name: string): boolean => name === 'lo' || name === 'eth0'

  readonly readText = (path: string): string | undefined => {
    this.reads.push(path)
    return this.files.get(path)
  }

  readonly listFiles = async (folder: string): Promise<readonly string[] | undefined> => {
    const found = [...this.files.keys()].filter((path) => path.startsWith(`${folder}/`))
    return found.length === 0 ? undefined : found.sort()
  }

  readonly readFile = async (path: string): Promise<Uint8Array> => {
    const text = this.readText(path)
    await Promise.resolve()
    if (text === undefined) throw new Error('no such file')
    return new TextEncoder().encode(text)
  }

  readonly fileState = (path: string): FileState | undefined => {
    const modifiedMs = this.files.writtenMs.get(path)
    const text = this.files.get(path)
    if (text === undefined || modifiedMs === undefined) return undefined
    return { modifiedMs, bytes: text.length }
  }

  readonly openUpstream = (upstream: Upstream, options: UpstreamOptions): UpstreamClient => {
    const opened = { upstream, options, isClosed: false }
    this.upstreams.push(opened)
    return {
      exchange: (message, how) => this.exchange(upstream, message, how),
      close: () => {
        opened.isClosed = true
      },
    }
  }

  readonly openTransfer = (
    { address, port }: { readonly address: string; readonly port: number },
    message: Uint8Array,
    timeoutMs: number,
  ): AsyncIterable<Uint8Array> => this.transferFrom(`${address}:${port}`, message, timeoutMs)

  readonly openCluster = (directive: KubernetesOptions, tree?: ClusterTree): SnapshotSource => {
    this.opened.push(directive)
    if (this.cluster === undefined) throw new TypeError('This test has no cluster')
    const cluster = tree === undefined ? this.cluster : { ...this.cluster, tree }
    return openFakeCluster(cluster, directive, this.loads)
  }

  /** Takes any text but `bad` for a key. */
  readonly checkIdentity = ({ key }: TlsIdentity): void => {
    if (key === 'bad') throw new Error('the key is bad')
  }

  /** Why no file can be written; a test sets it. */
  writeFailure: Error | undefined

  /** Keeps a file as its identity, a line break and its content, each byte a character. */
  readonly openCacheFile = (path: string, identity: string): CacheFile => ({
    read: () => {
      const text = this.files.get(path)
      if (text === undefined) return undefined
      if (!text.startsWith(`${identity}\n`)) throw new Error('it is damaged')
      return Buffer.from(text.slice(identity.length + 1), 'latin1')
    },
    replace: () => {
      if (this.writeFailure !== undefined) throw this.writeFailure
      let text = `${identity}\n`
      return {
        add: (bytes) => {
          text += Buffer.from(bytes).toString('latin1')
        },
        commit: () => {
          this.files.set(path, text)
        },
        abort: () => undefined,
      }
    },
  })

  readonly cookieSecret: Uint8Array = new Uint8Array(16).fill(7)

  readonly openSigner: DnssecHost['openSigner'] = openSigner

  readonly hmac: TsigHost['hmac'] = hmac

  private readonly openTable = (connection: EtcdConnection): KeySource => {
    this.connections.push(connection)
    return { current: () => this.keys, leaseSeconds: (lease) => this.leases.get(lease) }
  }

  readonly openTap = (target: TapTarget): Tap => {
    const messages: Uint8Array[] = []
    this.taps.push({ target, messages })
    return { send: (message) => messages.push(message), close: () => undefined }
  }

  readonly postJson = async (url: string, json: string): Promise<void> => {
    this.posted.push({ url, json })
    await Promise.resolve()
    if (this.postFailure !== undefined) throw this.postFailure
  }

  readonly log = (event: LogEvent): void => {
    this.events.push(event)
  }

  readonly print = (line: string): void => {
    this.lines.push(line)
  }

  readonly abort = (message: string): void => {
    this.aborts.push(message)
  }

  /** Timers that wait. */
  get timerCount(): number {
    return this.timers.size
  }

  /** Sets the wall clock forward, or back. */
  step(ms: number): void {
    this.steppedMs += ms
  }

  /** Moves the clock on and runs what falls due, in order, each with all that follows from it. */
  async advance(durationMs: number): Promise<void> {
    const endMs = this.nowMs + durationMs
    await settle()
    for (;;) {
      const due = [...this.timers].filter(({ dueMs }) => dueMs <= endMs)
      const next = due.sort((a, b) => a.dueMs - b.dueMs)[0]
      if (next === undefined) break
      this.timers.delete(next)
      this.nowMs = Math.max(this.nowMs, next.dueMs)
      next.task()
      await settle()
    }
    this.nowMs = endMs
  }

  private async exchange(
    { address, port, url }: Upstream,
    message: Uint8Array,
    how: ExchangeOptions,
  ): Promise<Uint8Array> {
    const upstream = url ?? `${address}:${port}`
    const question = formatQuestion(message)
    const asked = { upstream, ...how, question, message }
    this.asked.push(asked)
    // Nothing that goes over a network is done before its caller goes on.
    await Promise.resolve()
    const act = await this.script(asked)
    if (act instanceof Error) throw act
    if (act instanceof Uint8Array) return act
    return act === 'silence' ? this.rejectAfter(how.timeoutMs) : writeReplyText(act, message)
  }

  private async *transferFrom(
    upstream: string,
    message: Uint8Array,
    timeoutMs: number,
  ): AsyncGenerator<Uint8Array> {
    const question = formatQuestion(message)
    const asked: Asked = { upstream, protocol: 'tcp', timeoutMs, question, message }
    this.asked.push(asked)
    await Promise.resolve()
    const messages = this.transfers(asked)
    if (messages instanceof Error) throw messages
    for (const lines of messages) yield writeReplyText(lines, message)
  }

  private rejectAfter(delayMs: number): Promise<never> {
    return new Promise((_, reject) => {
      this.after(delayMs, () => {
        reject(new Error('no answer in time'))
      })
    })
  }
}

/** Lets everything that waits for nothing but promises run. */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** A value that is not a text stands for its JSON. */
function tableOf(keys: Readonly<Record<string, unknown>>): KeyTable {
  const table = new KeyTable()
  for (const [key, value] of Object.entries(keys)) {
    table.set({ key, value: typeof value === 'string' ? value : JSON.stringify(value), lease: '' })
  }
  return table
}

function scriptOf(upstream: FakeHostOptions['upstream']): UpstreamScript {
  if (upstream === undefined) return () => 'silence'
  if (typeof upstream === 'function') return upstream
  return ({ question }) => upstream[question] ?? new Error(`nobody expected ${question}`)
}
