/**
 * Follows HostRoutes and Services, and keeps a router's configuration as they want it.
 * @module
 */
import { Backoff, type Timing } from '../../cluster/api/backoff.ts'
import type { ObjectSink } from '../../cluster/api/mirrored-objects.ts'
import { collectionsFor, type ObjectApi } from '../../cluster/api/object-api.ts'
import { RecordStatusWriter } from '../../cluster/api/record-status.ts'
import { ClusterWatch, SharedWatch } from '../../cluster/api/shared-watch.ts'
import { ChangeLoop } from '../../cluster/follow/change-loop.ts'
import { objectKey } from '../../cluster/objects/cluster.ts'
import {
  type ClusterObject,
  describeObject,
  type HostObject,
  type Service,
} from '../../cluster/objects/objects.ts'
import type { SelectedHosts } from '../../cluster/objects/options.ts'
import { type RouteTable, routeTable } from '../../cluster/rules/route-table.ts'

/** A router's program. */
export type RouteTarget = {
  /** Resolves when it may take other routes: one that has a bound gets the latest of them then. */
  readonly ready?: (signal: AbortSignal) => Promise<void>
  /** Makes the routes its own. */
  readonly apply: (table: RouteTable, signal: AbortSignal) => Promise<Applied>
}

/** What a router did. */
export type Applied = {
  readonly verdicts: RouteTable['verdicts']
  /** Why the routes before are still in service; it is tried again. */
  readonly problem?: string
  /** With a problem, whether there are routes in service. */
  readonly isServing?: boolean
}

/** Options of a router. */
type RouterOptions = Timing & {
  readonly api: ObjectApi
  readonly tree: Pick<SelectedHosts, 'recordZones'>
  readonly target: RouteTarget
  readonly onWarning: (message: string) => void
  readonly onError: (message: string) => void
  /** Called when the routes of the cluster are in service, and again after each change. */
  readonly onApplied: (table: RouteTable) => void
}

/** Time to gather changes: a rollout is many, and each reload leaves workers that finish. */
const GATHER_MS = 100
/** Shortest time between the starts of two reloads. */
const INTERVAL_MS = 500

/** Longest time until another attempt: a change waits for it, too. */
const RETRY_MS_MAX = 5000
/** Interval of attempts without a change: to write conditions, and what single objects lacked. */
const RESYNC_MS = 30_000

/** The HostRoutes and Services of a cluster. */
export class RoutedObjects implements ObjectSink {
  private readonly routes = new Map<string, HostObject>()
  private readonly services = new Map<string, Service>()

  /** Adds or replaces an object. Ignores other kinds. */
  readonly set = (object: ClusterObject): void => {
    if (object.kind === 'HostRoute') this.routes.set(objectKey(object), object)
    if (object.kind === 'Service') this.services.set(objectKey(object), object)
  }

  /** Removes an object. */
  readonly delete = (kind: string, namespace: string, name: string): void => {
    const objects = kind === 'HostRoute' ? this.routes : this.services
    objects.delete(objectKey({ namespace, name }))
  }

  /** Builds the table of the present objects. */
  table({ recordZones }: Pick<SelectedHosts, 'recordZones'>): RouteTable {
    const serviceOf = (key: string): Service | undefined => this.services.get(key)
    return routeTable(this.routes.values(), { recordZones, serviceOf })
  }
}

/** The router. */
export class Router {
  private readonly options: RouterOptions
  private readonly objects = new RoutedObjects()
  private readonly watch: ClusterWatch
  private readonly loop: ChangeLoop
  private readonly backoff: Backoff
  private warned: ReadonlySet<string> = new Set()
  private problem = ''
  /** Whether routes are in service; with a problem, older ones. */
  isReady = false
  private statuses: RecordStatusWriter | undefined

  constructor(options: RouterOptions) {
    const { sleep, elapsed, random } = options
    this.options = options
    this.backoff = new Backoff(random, RETRY_MS_MAX)
    this.loop = new ChangeLoop({
      work: (signal) => this.work(signal),
      gatherMs: GATHER_MS,
      intervalMs: INTERVAL_MS,
      sleep,
      elapsed,
    })
    const resources = ['HostRoute', 'Service'] as const
    const router = { kind: 'addresses', addresses: [] } as const
    const tree = { kind: 'hosts', resources, router, hasClusterIPs: false } as const
    const all = collectionsFor({ tree, pods: 'disabled', hasEndpoints: false })
    this.watch = new ClusterWatch({
      shared: new SharedWatch(options),
      collections: all.filter(({ kind }) => kind !== 'EndpointSlice'),
      sink: this.objects,
      onChange: (isWhole) => {
        if (isWhole) this.loop.mark()
      },
      now: elapsed,
    })
  }

  /** Why it is not ready. */
  get state(): string {
    return this.problem || 'the cluster is not read yet'
  }

  /** Applies the routes again, though none has changed. */
  mark(): void {
    if (this.watch.hasSynced) this.loop.mark()
  }

  /** Follows the cluster until `signal` ends it. Never throws because of the API server. */
  async run(signal: AbortSignal): Promise<void> {
    const { api, now, onError } = this.options
    this.statuses = new RecordStatusWriter({ api, now, onError, signal, conditions: [ROUTED] })
    await Promise.all([this.watch.run(signal), this.loop.run(signal), this.resync(signal)])
    await this.statuses.settled()
  }

  private async resync(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.options.sleep(RESYNC_MS, signal)
      this.mark()
    }
  }

  private async work(signal: AbortSignal): Promise<void> {
    const { target, tree, onError, onApplied, sleep } = this.options
    await target.ready?.(signal)
    // A cluster that is read only in part would lack routes.
    if (!this.watch.hasSynced || signal.aborted) return
    const table = this.objects.table(tree)
    const { verdicts, problem = '', isServing = problem === '' } = await target.apply(table, signal)
    if (signal.aborted) return
    this.warn(verdicts)
    this.statuses?.take(verdicts)
    if (problem !== '' && problem !== this.problem) onError(problem)
    this.problem = problem
    this.isReady = isServing
    if (problem === '') {
      this.backoff.reset()
      onApplied(table)
      return
    }
    this.loop.mark()
    await sleep(this.backoff.next(), signal)
  }

  private warn(verdicts: RouteTable['verdicts']): void {
    const warnings = routeWarnings(verdicts)
    for (const warning of warnings) if (!this.warned.has(warning)) this.options.onWarning(warning)
    this.warned = new Set(warnings)
  }
}

/** The condition that routers write. */
const ROUTED = {
  type: 'Routed',
  reasonOf: (refusal: RouteTable['verdicts'][number]['refusal']) => refusal?.reason ?? 'Routed',
}

/** Returns a line for each object with a problem. */
export function routeWarnings(verdicts: RouteTable['verdicts']): string[] {
  return verdicts.flatMap(({ object, refusal }) =>
    refusal === undefined ? [] : [`${describeObject(object)}: ${refusal.message}`],
  )
}
