/**
 * A DNS server for a Corefile, which it reloads.
 * @module
 */

import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { CLUSTER_TREE } from '../../corefile/cluster-tree.ts'
import { formatProblem } from '../../corefile/problem.ts'
import { inSlices } from '../../dns/bytes/steps.ts'
import { Metrics } from '../../dns/telemetry/metrics.ts'
import { resolverSteps } from '../../resolver/chain/create-resolver.ts'
import { type Explanation, explainMessage } from '../../resolver/chain/explain.ts'
import type { Resolver } from '../../resolver/chain/resolver.ts'
import type { Client } from '../../resolver/contract/client.ts'
import { STANDARD_PORTS } from '../../resolver/contract/server-address.ts'
import type { EtcdConnection } from '../../resolver/plugins/etcd/options.ts'
import { KeySources } from '../etcd/key-sources.ts'
import { listenDoh } from '../http/doh-listener.ts'
import type { HttpServer } from '../http/http-server.ts'
import { elapsed } from '../node/elapsed.ts'
import { type LoadedCorefile, loadCorefile } from '../node/load-corefile.ts'
import { outsideAddresses } from '../node/local-addresses.ts'
import { createLog, type Output } from '../node/output.ts'
import { timerMs } from '../node/timer-ms.ts'
import { ClusterSources, type Clusters } from './cluster-sources.ts'
import { ClusterThread } from './cluster-thread.ts'
import type { ClusterWanted } from './cluster-wanted.ts'
import { CorefileReloads } from './corefile-reloads.ts'
import { DnsServer } from './dns-server.ts'
import { createNodeHost } from './node-host.ts'
import { formatThreadMetrics } from './process-metrics.ts'
import type { RunningServer, ServeOptions } from './serve-options.ts'

/** Time to wait for the keys of etcds before answering queries. */
const KEYS_MS = 5000

/** Plugins that read the objects of clusters: for transfers, and for the Pods of clients. */
const OBJECT_READERS: ReadonlySet<string> = new Set(['transfer', 'metadata'])

function readsObjects({ blocks }: LoadedCorefile): boolean {
  return blocks.some(({ directives }) => directives.some(({ name }) => OBJECT_READERS.has(name)))
}

/** A compiled Corefile, and the clusters and etcds that it needs. */
type Compiled = {
  readonly corefile: LoadedCorefile
  readonly clusters: readonly ClusterWanted[]
  readonly connections: readonly EtcdConnection[]
  readonly resolver: Resolver
}

/** What the main thread does for the server of a worker. */
export type ServerParts = {
  readonly clusters: Clusters
  /** Ends the process. */
  readonly abort: (message: string) => void
}

/**
 * A server. With `parts` it is the server of a worker: it shares its ports, gets Corefiles from the
 * main thread, and serves DNS only.
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
    const { conf, files, objects, kubeconfig, etcd, isReplaceable = false, lingerMs = 0 } = options
    this.dns = new DnsServer(this.metrics, {
      isOneOfMany: parts !== undefined,
      isReplaceable,
      lingerMs,
      threadMetrics: () => this.sources.threadMetrics?.(),
    })
    this.options = options
    this.folder = files === '' ? dirname(conf) : files
    this.log = createLog(output)
    const local = outsideAddresses(options.localAddresses)
    this.sources =
      parts?.clusters ??
      new ClusterSources({
        objectPaths: objects,
        kubeconfig,
        folder: this.folder,
        localAddresses: local,
        loadApi: async () => (await import('../../cluster/follow/watch.ts')).openApi,
        log: this.log,
        metrics: this.metrics,
        now: Date.now,
        elapsed,
        // On one processor a thread answers no sooner, and changes wait for queries.
        ...(availableParallelism() > 1 && {
          openThread: (onSnapshot) => {
            const watch = { kubeconfig, folder: this.folder, localAddresses: local }
            return new ClusterThread({ watch, output, log: this.log, onSnapshot })
          },
        }),
      })
    this.keys = new KeySources({ file: etcd, log: this.log })
    if (parts === undefined) this.reloads = this.reloadsOf(conf)
  }

  get ports(): readonly number[] {
    return this.dns.ports
  }

  /** Starts to serve a Corefile (default: the file of the options). */
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
        explainToken: this.options.explainToken ?? '',
      })
    }
    this.reloads?.schedule()
  }

  /** Compiles a Corefile and reads its clusters without listening, for {@link explain}. */
  async open(corefile: LoadedCorefile): Promise<void> {
    this.current = await this.compile(corefile)
    await this.waitForSources()
  }

  /** Answers a message of a client and explains the response; `undefined` without a listener. */
  explain(message: Uint8Array, client: Client): Promise<Explanation | undefined> {
    return explainMessage(this.current?.resolver, message, client)
  }

  /** Formats the metrics of this thread. */
  formatMetrics(): Promise<string> {
    return formatThreadMetrics(this.metrics)
  }

  /** Returns the names of plugins that are not ready. */
  notReady(): readonly string[] {
    return this.dns.notReady()
  }

  async reload(): Promise<void> {
    await this.reloads?.reloadNow()
  }

  async stop(): Promise<void> {
    this.dns.announceStop()
    await new Promise((resolve) => setTimeout(resolve, timerMs(this.dns.lameduckMs)))
    await this.drain()
    await this.close()
  }

  /** Accepts no more connections, and waits up to 5 s for queries in flight. */
  async drain(): Promise<void> {
    await this.dns.drain()
  }

  /** Closes everything without waiting. */
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
          corefile: this.current.corefile,
          features: this.current.resolver.features,
        },
      apply: (corefile) => this.apply(corefile),
      metrics: this.metrics,
      log: this.log,
    })
  }

  private async waitForSources(): Promise<void> {
    const [hasClusters] = await Promise.all([this.sources.ready(), this.waitForKeys()])
    if (hasClusters) return
    const message = 'a cluster is not fully read yet; until then, unknown names in it get SERVFAIL'
    this.log({ level: 'warning', message })
  }

  private async waitForKeys(): Promise<void> {
    const timeout = Promise.withResolvers<'late'>()
    const timer = setTimeout(() => timeout.resolve('late'), KEYS_MS)
    const outcome = await Promise.race([this.keys.synced(), timeout.promise])
    clearTimeout(timer)
    if (outcome !== 'late') return
    const message = 'the keys of an etcd are not read yet; until then, its names get SERVFAIL'
    this.log({ level: 'warning', message })
  }

  /** Compiles a Corefile, and opens the clusters and etcds that it needs. */
  private async compile(corefile: LoadedCorefile): Promise<Compiled> {
    await this.sources.prepare(corefile.blocks)
    const clusters: ClusterWanted[] = []
    const needsObjects = readsObjects(corefile) || undefined
    const connections: EtcdConnection[] = []
    const host = createNodeHost({
      folder: this.folder,
      metrics: this.metrics,
      log: this.log,
      threads: this.options.threads ?? 1,
      openCluster: (directive, tree = CLUSTER_TREE) => {
        clusters.push({ directive, tree, ...(needsObjects && { needsObjects }) })
        return this.sources.open(directive, tree, needsObjects)
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
    const resolver = await inSlices(resolverSteps(corefile.blocks, host, ports), host)
    await resolver.prepare()
    const warnings = this.parts === undefined ? [...corefile.warnings, ...resolver.notices] : []
    for (const warning of warnings) {
      this.log({ level: 'warning', message: formatProblem(warning) })
    }
    return { corefile, clusters, connections, resolver }
  }

  /** Applies another Corefile. @throws {Error} on failure; the previous one then stays in use */
  async apply(corefile: LoadedCorefile): Promise<void> {
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
