/**
 * The watches of API servers that the clusters of a server share.
 * @module
 */
import { sleep } from '../../cluster/api/backoff.ts'
import { hostBoundsFor } from '../../cluster/api/host-budget.ts'
import { measuredApi, throttledApi } from '../../cluster/api/measured-api.ts'
import {
  type ApiConnection,
  ConnectionError,
  connectionOf,
  type ObjectApi,
} from '../../cluster/api/object-api.ts'
import { SharedWatch } from '../../cluster/api/shared-watch.ts'
import type { KubernetesOptions } from '../../corefile/kubernetes-options.ts'
import { configError } from '../../corefile/problem.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import type { Metrics } from '../../dns/telemetry/metrics.ts'
import { memoryBytes } from '../node/memory-bytes.ts'

type OpenApi = (connection: ApiConnection) => ObjectApi

/** How API servers are watched; the directives give the rest. */
export type ApiWatchOptions = {
  /** Path of a kubeconfig file, which overrides the directives; empty for none. */
  readonly kubeconfig: string
  /** The folder that paths in directives are relative to. */
  readonly folder: string
  /** Loads the API client: it is large, and object files do not need it. */
  readonly loadApi: () => Promise<OpenApi>
  readonly log: Log
  readonly metrics: Metrics
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number
}

/** One watch for each API connection and its limits. */
export class ApiWatches {
  private readonly options: ApiWatchOptions
  private readonly onLarge: () => void
  private readonly watches = new Map<string, SharedWatch>()
  private openApi: OpenApi | undefined

  /** @param onLarge called again and again while a watched collection is large */
  constructor(options: ApiWatchOptions, onLarge: () => void) {
    this.options = options
    this.onLarge = onLarge
  }

  /** Loads the API client. Call it before `open` and `connect`. */
  async prepare(): Promise<void> {
    this.openApi ??= await this.options.loadApi()
  }

  /**
   * Returns the watch for a directive, and its key for `keep`.
   * @throws {ConfigError} if the directive names an unusable API connection
   */
  open(directive: KubernetesOptions): { readonly key: string; readonly shared: SharedWatch } {
    const key = JSON.stringify([connectionOf(directive, this.options), directive.apiLimits])
    const shared = this.watches.get(key) ?? this.start(directive)
    this.watches.set(key, shared)
    return { key, shared }
  }

  /** Forgets the watches with other keys. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of this.watches.keys()) if (!keys.has(key)) this.watches.delete(key)
  }

  /**
   * Returns the API that a directive names.
   * @throws {ConfigError} if the connection is unusable
   */
  connect(directive: KubernetesOptions): ObjectApi {
    if (this.openApi === undefined) throw new TypeError('prepare must come before open')
    try {
      return this.openApi(connectionOf(directive, this.options))
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      throw configError(directive, error.message)
    }
  }

  /** Returns what the watches lack, one line each. */
  problems(): readonly string[] {
    return [...this.watches.values()].flatMap((shared) => shared.problems())
  }

  private start(directive: KubernetesOptions): SharedWatch {
    const { log, metrics, elapsed } = this.options
    const measured = measuredApi(this.connect(directive), metrics, elapsed)
    return new SharedWatch({
      api: throttledApi(measured, directive.apiLimits, { metrics, sleep, now: elapsed }),
      onWarning: (message) => log({ level: 'warning', message }),
      onError: (message) => log({ level: 'error', message }),
      sleep,
      random: Math.random,
      elapsed,
      onLarge: this.onLarge,
      hostBounds: hostBoundsFor(memoryBytes()),
      metrics,
    })
  }
}
