/**
 * A DNS server for a Corefile, which it reloads.
 * @module
 */

import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { CLUSTER_TREE } from '../../corefile/cluster-tree.ts'
import { formatProblem } from '../../corefile/problem.ts'
import { inSlices } from '../../dns/bytes/steps.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import { Metrics } from '../../dns/telemetry/metrics.ts'
import { resolverSteps } from '../../resolver/chain/create-resolver.ts'
import { type Explanation, explainMessage } from '../../resolver/chain/explain.ts'
import type { Resolver } from '../../resolver/chain/resolver.ts'
import type { Client } from '../../resolver/contract/client.ts'
import type { MaybePromise } from '../../resolver/contract/maybe-promise.ts'
import { STANDARD_PORTS } from '../../resolver/contract/server-address.ts'
import type { EtcdConnection } from '../../resolver/plugins/etcd/options.ts'
import { KeySources } from '../etcd/key-sources.ts'
import { listenDoh } from '../http/doh-listener.ts'
import type { HttpServer } from '../http/http-server.ts'
import { elapsed } from '../node/elapsed.ts'
import { type LoadedCorefile, loadCorefile } from '../node/load-corefile.ts'
import { outsideAddresses } from '../node/local-addresses.ts'
import { createLog, createPrint, type Output, type Print } from '../node/output.ts'
import { timerMs } from '../node/timer-ms.ts'
import { ClusterSources, type Clusters } from './cluster-sources.ts'
import { ClusterThread } from './cluster-thread.ts'
import { CorefileReloads } from './corefile-reloads.ts'
import { DnsServer, lameduckMsOf } from './dns-server.ts'
import { createNodeHost } from './node-host.ts'
import { formatThreadMetrics } from './process-metrics.ts'
import type { RunningServer, ServeOptions } from './serve-options.ts'
import type { WatchedCluster } from './shared-snapshots.ts'
import { loadApiClient } from './traced-client.ts'

/** Time to wait for the keys of etcds before answering queries. */
const KEYS_MS = 5000

/** Plugins that read the objects of clusters, and what they lack with workers, which have none. */
const OBJECT_READERS: ReadonlyMap<string, string> = new Map([
  ['transfer', '"transfer" does not serve cluster zones with several workers; run one'],
  ['metadata', '"metadata" has no values for Pods with several workers; run one'],
])

/** A compiled Corefile, and the clusters and etcds that it needs. */
export type Compiled = {
  readonly corefile: LoadedCorefile
  readonly clusters: readonly WatchedCluster[]
  readonly connections: readonly EtcdConnection[]
  readonly resolver: Resolver
}

/** Answers queries by one resolver at a time: with sockets of this thread, or by workers. */
export type Answering = Pick<DnsServer, 'ports' | 'announceStop' | 'drain' | 'close'> & {
  /**
   * Replaces the previous resolver.
   * @throws {Error} when it cannot; the previous resolver then stays in use
   */
  readonly serve: (resolver: Resolver, compiled: Compiled) => Promise<void>
  readonly notReady: () => MaybePromise<readonly string[]>
  /** Called when a cluster has a new snapshot, if others than this thread answer from it. */
  readonly onSnapshot?: () => void
}

/** What workers need of the server in the main thread. */
export type MainThread = {
  readonly metrics: Metrics
  readonly log: Log
  /** Returns what clusters lack (`ClusterSources.problems`). */
  readonly problems: () => readonly string[]
  /** Ends the process. */
  readonly abort: (message: string) => void
}

/** What a server with other threads does not do itself; a server of one thread has no parts. */
export type ServerParts =
  | { readonly clusters: Clusters; readonly abort: MainThread['abort'] }
  | { readonly createWorkers: (main: MainThread) => Answering }

/** Connections to etcds and collectors of dnstap, which the main thread leaves to its workers. */
const NO_CONNECTIONS = {
  openKeys: () => ({ current: () => undefined, leaseSeconds: () => undefined }),
  openTap: () => ({ send: () => undefined, close: () => undefined }),
}

/**
 * A server. That of a worker shares its ports, gets Corefiles from the main thread, and serves DNS
 * only; that of their main thread reads the Corefile and watches the clusters for all.
 */
export class Server implements RunningServer {
  private readonly options: ServeOptions
  private readonly folder: string
  private readonly log: Log
  private readonly print: Print
  private readonly metrics = new Metrics()
  private readonly role: 'alone' | 'main' | 'worker'
  private readonly abort: MainThread['abort']
  private readonly answering: Answering
  private readonly sources: Clusters
  private readonly keys: KeySources
  private doh: HttpServer | undefined
  private current: Compiled | undefined
  private readonly reloads: CorefileReloads | undefined

  constructor(options: ServeOptions, output: Output, parts?: ServerParts) {
    const { conf, files, etcd, isReplaceable = false, lingerMs = 0 } = options
    const { metrics } = this
    const log = createLog(output)
    const isWorker = parts !== undefined && 'clusters' in parts
    this.options = options
    this.folder = files === '' ? dirname(conf) : files
    this.log = log
    this.print = createPrint(output)
    this.role = isWorker ? 'worker' : parts === undefined ? 'alone' : 'main'
    const problems = (): readonly string[] => this.sources.problems?.() ?? []
    this.abort = isWorker ? parts.abort : (message) => exitWith(message, log)
    this.answering =
      parts !== undefined && 'createWorkers' in parts
        ? parts.createWorkers({ metrics, log, problems, abort: this.abort })
        : new DnsServer(metrics, {
            isOneOfMany: isWorker,
            isReplaceable,
            lingerMs,
            threadMetrics: () => this.sources.threadMetrics?.(),
            problems,
          })
    this.sources = isWorker ? parts.clusters : this.openSources(output)
    this.keys = new KeySources({ file: etcd, log: this.log })
    if (!isWorker) this.reloads = this.reloadsOf(conf)
  }

  get ports(): readonly number[] {
    return this.answering.ports
  }

  /** Starts to serve a Corefile (default: the file of the options). */
  async start(corefile: LoadedCorefile = loadCorefile(this.options.conf)): Promise<void> {
    await this.apply(corefile)
    const { dohListen, insecure, explainToken = '' } = this.options
    if (dohListen !== '' && this.role !== 'main') {
      this.doh = await listenDoh(dohListen, {
        resolver: () => this.current?.resolver,
        isInsecure: insecure,
        reusePort: this.role === 'worker',
        explainToken,
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
  notReady(): MaybePromise<readonly string[]> {
    return this.answering.notReady()
  }

  async reload(): Promise<void> {
    await this.reloads?.reloadNow()
  }

  async stop(): Promise<void> {
    this.answering.announceStop()
    const lameduckMs = lameduckMsOf(this.current?.resolver.features ?? [])
    await new Promise((resolve) => setTimeout(resolve, timerMs(lameduckMs)))
    await this.drain()
    await this.close()
  }

  /** Accepts no more connections, and waits up to 5 s for queries in flight. */
  async drain(): Promise<void> {
    await this.answering.drain()
  }

  /** Closes everything without waiting. */
  async close(): Promise<void> {
    this.reloads?.stop()
    await this.doh?.close()
    await this.answering.close()
    this.sources.keep([])
    this.keys.keep([])
  }

  /** Opens the clusters that this process watches. */
  private openSources(output: Output): ClusterSources {
    const { folder, log, metrics } = this
    const { onSnapshot } = this.answering
    const { objects, kubeconfig } = this.options
    const localAddresses = outsideAddresses(this.options.localAddresses)
    const { collector } = this.options
    const watch = { kubeconfig, folder, localAddresses, ...(collector && { collector }) }
    return new ClusterSources({
      ...watch,
      objectPaths: objects,
      loadApi: () => loadApiClient(collector, log),
      log,
      metrics,
      now: Date.now,
      elapsed,
      ...(onSnapshot && { onSnapshot }),
      // On one processor a thread answers no sooner, and changes wait for queries.
      ...(this.role === 'alone' &&
        availableParallelism() > 1 && {
          openThread: (onChange) => new ClusterThread({ watch, output, log, onSnapshot: onChange }),
        }),
    })
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
      print: this.print,
    })
  }

  private async waitForSources(): Promise<void> {
    const [hasClusters] = await Promise.all([this.sources.ready(), this.waitForKeys()])
    if (hasClusters) return
    this.warn('a cluster is not fully read yet; until then, unknown names in it get SERVFAIL')
  }

  private async waitForKeys(): Promise<void> {
    const timeout = Promise.withResolvers<'late'>()
    const timer = setTimeout(() => timeout.resolve('late'), KEYS_MS)
    const outcome = await Promise.race([this.keys.synced(), timeout.promise])
    clearTimeout(timer)
    if (outcome !== 'late') return
    this.warn('the keys of an etcd are not read yet; until then, its names get SERVFAIL')
  }

  private warn(message: string): void {
    this.log({ level: 'warning', message })
  }

  /** Compiles a Corefile, and opens the clusters and etcds that it needs. */
  private async compile(corefile: LoadedCorefile): Promise<Compiled> {
    const { role, keys, sources } = this
    await sources.prepare(corefile.blocks)
    const clusters: WatchedCluster[] = []
    const names = new Set(
      corefile.blocks.flatMap((block) => block.directives.map(({ name }) => name)),
    )
    const readers = [...OBJECT_READERS].filter(([name]) => names.has(name))
    const needsObjects = (role === 'alone' && readers.length > 0) || undefined
    const connections: EtcdConnection[] = []
    const host = createNodeHost({
      folder: this.folder,
      metrics: this.metrics,
      log: this.log,
      print: this.print,
      threads: this.options.threads ?? 1,
      openCluster: (directive, tree = CLUSTER_TREE) => {
        const source = sources.open(directive, tree, needsObjects)
        clusters.push({ directive, tree, source, ...(needsObjects && { needsObjects }) })
        return source
      },
      openKeys: (connection) => {
        connections.push(connection)
        return keys.open(connection)
      },
      abort: this.abort,
      ...(role === 'main' && NO_CONNECTIONS),
    })
    const ports = { ...STANDARD_PORTS, dns: this.options.dnsPort }
    const resolver = await inSlices(resolverSteps(corefile.blocks, host, ports), host)
    // Workers start plugins and log nothing; the main thread does the opposite.
    if (role !== 'main') await resolver.prepare()
    const problems = role === 'worker' ? [] : [...corefile.warnings, ...resolver.notices]
    for (const problem of problems) this.warn(formatProblem(problem))
    const lacks = role === 'main' && clusters.length > 0 ? readers : []
    for (const [, message] of lacks) this.warn(message)
    return { corefile, clusters, connections, resolver }
  }

  /** Applies another Corefile. @throws {Error} on failure; the previous one then stays in use */
  async apply(corefile: LoadedCorefile): Promise<void> {
    try {
      const compiled = await this.compile(corefile)
      await this.waitForSources()
      await this.answering.serve(compiled.resolver, compiled)
      this.current = compiled
    } finally {
      this.sources.keep(this.current?.clusters ?? [])
      this.keys.keep(this.current?.connections ?? [])
    }
  }
}

function exitWith(message: string, log: Log): never {
  log({ level: 'error', message })
  process.exit(1)
}
