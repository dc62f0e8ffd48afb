/**
 * A DNS server for a Corefile, which it reads again when it changes.
 * @module
 */
import { dirname } from 'node:path'
import { createResolver } from '../chain/create-resolver.ts'
import type { Resolver } from '../chain/resolver.ts'
import { STANDARD_PORTS } from '../chain/server-address.ts'
import { CLUSTER_TREE } from '../corefile/cluster-tree.ts'
import { formatProblem } from '../corefile/problem.ts'
import { KeySources } from '../etcd/key-sources.ts'
import { elapsed } from '../node/elapsed.ts'
import { type LoadedCorefile, loadCorefile } from '../node/load-corefile.ts'
import { outsideAddresses } from '../node/local-addresses.ts'
import { createLog, type Output } from '../node/output.ts'
import type { EtcdConnection } from '../plugins/etcd/options.ts'
import { Metrics } from '../telemetry/metrics.ts'
import { ClusterSources, type ClusterWanted } from './cluster-sources.ts'
import { CorefileReloads } from './corefile-reloads.ts'
import { DnsServer } from './dns-server.ts'
import { listenDoh } from './doh-listener.ts'
import type { HttpServer } from './http-server.ts'
import { createNodeHost } from './node-host.ts'

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
  /** Names of the plugins that cannot answer yet, as `/ready` lists them. */
  readonly notReady: () => Promise<readonly string[]> | readonly string[]
  /** Reads the Corefile again and serves it; logs why not, and goes on with the previous one. */
  readonly reload: () => Promise<void>
  /** Ports of the DNS listeners, in the order of the Corefile. */
  readonly ports: readonly number[]
  /** Says on `/ready` that it ends, waits as `health` wants it, and closes. */
  readonly stop: () => Promise<void>
}

/** How long etcds may take to be read before queries are taken all the same. */
const KEYS_MS = 5000

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
  private readonly dns: DnsServer
  private readonly parts: ServerParts | undefined
  private readonly sources: Clusters
  private readonly keys: KeySources
  private doh: HttpServer | undefined
  private current: Compiled | undefined
  private readonly reloads: CorefileReloads | undefined

  constructor(options: ServeOptions, output: Output, parts?: ServerParts) {
    this.parts = parts
    this.dns = new DnsServer(this.metrics, { isOneOfMany: parts !== undefined })
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
        elapsed,
      })
    this.keys = new KeySources({ file: etcd, log: this.log })
    if (parts === undefined) this.reloads = this.reloadsOf(conf)
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
    this.reloads?.schedule()
  }

  /** All metrics as text, those of the process aside. */
  formatMetrics(): string {
    return this.metrics.format()
  }

  /** Names of the plugins that cannot answer yet. */
  notReady(): readonly string[] {
    return this.dns.notReady()
  }

  async reload(): Promise<void> {
    await this.reloads?.reloadNow()
  }

  async stop(): Promise<void> {
    this.dns.announceStop()
    await new Promise((resolve) => setTimeout(resolve, this.dns.lameduckMs))
    await this.close()
  }

  /** Ends all at once. */
  async close(): Promise<void> {
    this.reloads?.stop()
    await this.doh?.close()
    await this.dns.close()
    this.sources.keep([])
    this.keys.keep([])
  }

  private reloadsOf(path: string): CorefileReloads {
    return new CorefileReloads({
      path,
      current: () =>
        this.current && {
          text: this.current.corefile.text,
          features: this.current.resolver.features,
        },
      take: (corefile) => this.take(corefile),
      metrics: this.metrics,
      log: this.log,
    })
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
