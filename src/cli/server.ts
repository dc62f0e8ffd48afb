/**
 * A DNS server for a Corefile, which it reads again when it changes.
 * @module
 */
import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import { CLUSTER_TREE } from '../corefile/cluster-tree.ts'
import { formatProblem } from '../corefile/problem.ts'
import type { EtcdConnection } from '../plugins/etcd/options.ts'
import type { Feature } from '../plugins/plugin.ts'
import { createResolver } from '../resolver/create-resolver.ts'
import { STANDARD_PORTS } from '../resolver/listener.ts'
import type { Resolver } from '../resolver/resolver.ts'
import { DnsServer } from '../shim/dns-server.ts'
import type { HttpServer } from '../shim/http-server.ts'
import { outsideAddresses } from '../shim/local-addresses.ts'
import { createNodeHost } from '../shim/node-host.ts'
import { type MetricInfo, Metrics, type Series } from '../telemetry/metrics.ts'
import { ClusterSources, type ClusterWanted } from './cluster-sources.ts'
import { listenDoh } from './doh-listener.ts'
import { KeySources } from './key-sources.ts'
import { type LoadedCorefile, loadCorefile } from './load-corefile.ts'
import { createLog, describeError, type Output } from './output.ts'

/** What to serve; empty text counts as not given. */
export type ServeOptions = {
  readonly conf: string
  readonly dnsPort: number
  readonly objects: readonly string[]
  /** File of keys in place of an etcd. */
  readonly etcd: string
  readonly files: string
  readonly kubeconfig: string
  readonly dohListen: string
  readonly insecure: boolean
  /** Addresses that stand in for the machine's own, comma-separated. */
  readonly localAddresses: string
}

/** A server that runs. */
export type RunningServer = {
  /** Ports of the DNS listeners, in the order of the Corefile. */
  readonly ports: readonly number[]
  /** Says on `/ready` that it ends, waits as `health` wants it, and closes. */
  readonly stop: () => Promise<void>
}

/** How long etcds may take to be read before queries are taken all the same. */
const KEYS_MS = 5000

/** Reloads that failed, and the Corefile in use, as CoreDNS counts and tells them. */
export const FAILED_RELOADS: MetricInfo = {
  name: 'coredns_reload_failed_total',
  help: 'Counter of the number of failed reload attempts.',
  labels: [],
}
/** Which Corefile is in use. */
export const RELOAD_VERSION: MetricInfo = {
  name: 'coredns_reload_version_info',
  help:
    "A metric with a constant '1' value labeled by hash, and value which type of hash " +
    'generated.',
  labels: ['hash', 'value'],
}

/** A Corefile, ready to serve, and the clusters and etcds that it needs. */
type Compiled = {
  readonly corefile: LoadedCorefile
  readonly clusters: readonly ClusterWanted[]
  readonly connections: readonly EtcdConnection[]
  readonly resolver: Resolver
}

/** Clusters as a server needs them, whoever follows them. */
export type Clusters = Pick<ClusterSources, 'prepare' | 'open' | 'keep' | 'ready'>

/** What another thread does for a server that is one of several in a process. */
export type ServerParts = {
  readonly clusters: Clusters
  /** Ends the process. */
  readonly abort: (message: string) => void
}

/**
 * A server. One that is given `parts` shares its ports, is given Corefiles in place of reading
 * them, and leaves to others what these ask for beside DNS.
 */
export class Server implements RunningServer {
  private readonly options: ServeOptions
  private readonly folder: string
  private readonly log: ReturnType<typeof createLog>
  private readonly metrics = new Metrics()
  private readonly failedReloads: Series
  private readonly dns: DnsServer
  private readonly parts: ServerParts | undefined
  private readonly sources: Clusters
  private readonly keys: KeySources
  private doh: HttpServer | undefined
  private current: Compiled | undefined
  private reloadTimer: NodeJS.Timeout | undefined

  constructor(options: ServeOptions, output: Output, parts?: ServerParts) {
    this.parts = parts
    this.dns = new DnsServer(this.metrics, { isOneOfMany: parts !== undefined })
    this.failedReloads = this.metrics.counter(FAILED_RELOADS)
    const { conf, files, objects, kubeconfig, etcd } = options
    this.options = options
    this.folder = files === '' ? dirname(conf) : files
    this.log = createLog(output)
    this.sources =
      parts?.clusters ??
      new ClusterSources({
        objectPaths: objects,
        kubeconfig,
        folder: this.folder,
        localAddresses: outsideAddresses(options.localAddresses),
        loadApi: async () => (await import('../exporter/watch.ts')).openApi,
        log: this.log,
        metrics: this.metrics,
        now: Date.now,
      })
    this.keys = new KeySources({ file: etcd, log: this.log })
  }

  get ports(): readonly number[] {
    return this.dns.ports
  }

  /** Begins to serve a Corefile, by default the one that the options name. */
  async start(corefile: LoadedCorefile = loadCorefile(this.options.conf)): Promise<void> {
    const compiled = await this.compile(corefile)
    await this.waitForSources()
    await this.dns.serve(compiled.resolver)
    this.current = compiled
    const { dohListen, insecure } = this.options
    if (dohListen !== '') {
      this.doh = await listenDoh(dohListen, {
        resolver: () => this.current?.resolver,
        isInsecure: insecure,
        reusePort: this.parts !== undefined,
      })
    }
    if (this.parts === undefined) this.scheduleReload()
  }

  /** All metrics as text, those of the process aside. */
  formatMetrics(): string {
    return this.metrics.format()
  }

  /** Names of the plugins that cannot answer yet. */
  notReady(): readonly string[] {
    return this.dns.notReady()
  }

  async stop(): Promise<void> {
    this.dns.announceStop()
    await new Promise((resolve) => setTimeout(resolve, this.dns.lameduckMs))
    await this.close()
  }

  /** Ends all at once. */
  async close(): Promise<void> {
    clearTimeout(this.reloadTimer)
    await this.doh?.close()
    await this.dns.close()
    this.sources.keep([])
    this.keys.keep([])
  }

  private async waitForSources(): Promise<void> {
    const [hasClusters] = await Promise.all([this.sources.ready(), this.waitForKeys()])
    if (hasClusters) return
    const message = 'a cluster is not read yet; until it is, names that it lacks are SERVFAIL'
    this.log({ level: 'warning', message })
  }

  private async waitForKeys(): Promise<void> {
    const timeout = Promise.withResolvers<'late'>()
    const timer = setTimeout(() => timeout.resolve('late'), KEYS_MS)
    const outcome = await Promise.race([this.keys.synced(), timeout.promise])
    clearTimeout(timer)
    if (outcome !== 'late') return
    const message = 'an etcd is not read yet; until it is, its names are SERVFAIL'
    this.log({ level: 'warning', message })
  }

  /** Compiles a Corefile, and opens the clusters and etcds that it needs. */
  private async compile(corefile: LoadedCorefile): Promise<Compiled> {
    await this.sources.prepare(corefile.blocks)
    const clusters: ClusterWanted[] = []
    const connections: EtcdConnection[] = []
    const host = createNodeHost({
      folder: this.folder,
      metrics: this.metrics,
      log: this.log,
      openCluster: (directive, tree) => {
        clusters.push({ directive, tree: tree ?? CLUSTER_TREE })
        return this.sources.open(directive, tree)
      },
      openKeys: (connection) => {
        connections.push(connection)
        return this.keys.open(connection)
      },
      abort:
        this.parts?.abort ??
        ((message) => {
          this.log({ level: 'error', message })
          process.exit(1)
        }),
    })
    const ports = { ...STANDARD_PORTS, dns: this.options.dnsPort }
    const resolver = createResolver(corefile.blocks, host, ports)
    const notices = this.parts === undefined ? [...corefile.warnings, ...resolver.notices] : []
    for (const notice of notices) {
      this.log({ level: 'warning', message: formatProblem(notice) })
    }
    return { corefile, clusters, connections, resolver }
  }

  private scheduleReload(): void {
    const reload = this.current?.resolver.features.find(isReload)
    if (reload === undefined) return
    const delayMs = reload.intervalMs + Math.random() * reload.jitterMs
    this.reloadTimer = setTimeout(() => {
      void this.reload().finally(() => this.scheduleReload())
    }, delayMs)
    this.reloadTimer.unref()
  }

  /** Takes up a changed Corefile; one that is wrong is told of, and what was serving serves on. */
  private async reload(): Promise<void> {
    try {
      const loaded = loadCorefile(this.options.conf)
      if (loaded.text === this.current?.corefile.text) return
      await this.take(loaded)
      this.metrics.clear(RELOAD_VERSION.name)
      this.metrics.gauge(RELOAD_VERSION, versionOf(loaded.text)).value = 1
      this.log({ level: 'info', message: 'the changed Corefile is in use' })
    } catch (error) {
      this.failedReloads.value++
      const reason = describeError(error)
      this.log({ level: 'error', message: 'the changed Corefile is not used', reason })
    }
  }

  /** Serves another Corefile. @throws {Error} when it cannot be; then the one before serves on */
  async take(corefile: LoadedCorefile): Promise<void> {
    try {
      const compiled = await this.compile(corefile)
      await this.waitForSources()
      await this.dns.serve(compiled.resolver)
      this.current = compiled
    } finally {
      this.sources.keep(this.current?.clusters ?? [])
      this.keys.keep(this.current?.connections ?? [])
    }
  }
}

/** Which Corefile is in use, once it has been changed: CoreDNS tells the first one in its log. */
export function versionOf(text: string): readonly string[] {
  return ['sha512', createHash('sha512').update(text).digest('hex')]
}

/** Tells whether a feature is that of `reload`. */
export function isReload(feature: Feature): feature is Extract<Feature, { kind: 'reload' }> {
  return feature.kind === 'reload'
}
