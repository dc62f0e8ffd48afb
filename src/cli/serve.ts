/**
 * `kubedoh serve`: a DNS server for a Corefile.
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
import { Metrics, type Series } from '../telemetry/metrics.ts'
import { ClusterSources, type ClusterWanted } from './cluster-sources.ts'
import { listenDoh } from './doh-listener.ts'
import type { Input } from './flags.ts'
import { KeySources } from './key-sources.ts'
import { type LoadedCorefile, loadCorefile } from './load-corefile.ts'
import { CommandError, createLog, describeError, type Output } from './output.ts'
import { untilSignal } from './signals.ts'

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

/** Runs the command until it is told to end. */
export async function runServe(input: Input, output: Output): Promise<void> {
  if (Number(input.text('workers')) !== 1) {
    throw new CommandError('--workers takes 1 only: more processes are not supported yet')
  }
  const running = await serve(
    {
      conf: input.text('conf'),
      dnsPort: parsePort(input.text('dns.port')),
      objects: input.texts('objects'),
      etcd: input.text('etcd'),
      files: input.text('files'),
      kubeconfig: input.text('kubeconfig'),
      dohListen: input.text('doh.listen'),
      insecure: input.isSet('insecure'),
      localAddresses: input.env('LOCAL_IPS'),
    },
    output,
  )
  const doh = input.text('doh.listen')
  const beside = doh === '' ? '' : `, DNS over HTTP on http://${doh}/dns-query`
  output.stdout.write(`ready: DNS on port ${[...new Set(running.ports)].join(', ')}${beside}\n`)
  await untilSignal()
  await running.stop()
}

/** Starts the server; it answers when the promise resolves. */
export async function serve(options: ServeOptions, output: Output): Promise<RunningServer> {
  const server = new Server(options, output)
  try {
    await server.start()
    return server
  } catch (error) {
    await server.close()
    throw error
  }
}

function parsePort(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port < 65536) return port
  throw new CommandError(`--dns.port is "${text}", expected 0 to 65535`)
}

/** A Corefile, ready to serve, and the clusters and etcds that it needs. */
const FAILED_RELOADS = {
  name: 'coredns_reload_failed_total',
  help: 'Counter of the number of failed reload attempts.',
  labels: [],
}
const RELOAD_VERSION = {
  name: 'coredns_reload_version_info',
  help:
    "A metric with a constant '1' value labeled by hash, and value which type of hash " +
    'generated.',
  labels: ['hash', 'value'],
}

type Compiled = {
  readonly corefile: LoadedCorefile
  readonly clusters: readonly ClusterWanted[]
  readonly connections: readonly EtcdConnection[]
  readonly resolver: Resolver
}

class Server implements RunningServer {
  private readonly options: ServeOptions
  private readonly folder: string
  private readonly log: ReturnType<typeof createLog>
  private readonly metrics = new Metrics()
  private readonly failedReloads: Series
  private readonly dns = new DnsServer(this.metrics)
  private readonly sources: ClusterSources
  private readonly keys: KeySources
  private doh: HttpServer | undefined
  private current: Compiled | undefined
  private reloadTimer: NodeJS.Timeout | undefined

  constructor(options: ServeOptions, output: Output) {
    this.failedReloads = this.metrics.counter(FAILED_RELOADS)
    const { conf, files, objects, kubeconfig, etcd } = options
    this.options = options
    this.folder = files === '' ? dirname(conf) : files
    this.log = createLog(output)
    this.sources = new ClusterSources({
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

  async start(): Promise<void> {
    const compiled = await this.compile(loadCorefile(this.options.conf))
    await this.waitForSources()
    await this.dns.serve(compiled.resolver)
    this.current = compiled
    const { dohListen, insecure } = this.options
    if (dohListen !== '') {
      this.doh = await listenDoh(dohListen, {
        resolver: () => this.current?.resolver,
        isInsecure: insecure,
      })
    }
    this.scheduleReload()
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
      abort: (message) => {
        this.log({ level: 'error', message })
        process.exit(1)
      },
    })
    const ports = { ...STANDARD_PORTS, dns: this.options.dnsPort }
    const resolver = createResolver(corefile.blocks, host, ports)
    for (const notice of [...corefile.warnings, ...resolver.notices]) {
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
      const compiled = await this.compile(loaded)
      await this.waitForSources()
      await this.dns.serve(compiled.resolver)
      this.current = compiled
      this.metrics.clear(RELOAD_VERSION.name)
      this.metrics.gauge(RELOAD_VERSION, versionOf(loaded.text)).value = 1
      this.log({ level: 'info', message: 'the changed Corefile is in use' })
    } catch (error) {
      this.failedReloads.value++
      const reason = describeError(error)
      this.log({ level: 'error', message: 'the changed Corefile is not used', reason })
    } finally {
      this.sources.keep(this.current?.clusters ?? [])
      this.keys.keep(this.current?.connections ?? [])
    }
  }
}

/** Which Corefile is in use, once it has been changed: CoreDNS tells the first one in its log. */
function versionOf(text: string): readonly string[] {
  return ['sha512', createHash('sha512').update(text).digest('hex')]
}

function isReload(feature: Feature): feature is Extract<Feature, { kind: 'reload' }> {
  return feature.kind === 'reload'
}
