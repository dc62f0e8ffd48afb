/**
 * The exporter's loop: publishes changes of a cluster soon, and confirms unchanged names from time
 * to time.
 * @module
 */

import { Backoff, type Timing } from '../cluster/api/backoff.ts'
import { ChangeLoop } from '../cluster/follow/change-loop.ts'
import type { ExportSource } from '../cluster/follow/export-source.ts'
import type { BuiltSnapshot } from '../cluster/follow/snapshot-builder.ts'
import type { Metrics } from '../dns/telemetry/metrics.ts'
import { SnapshotError } from '../snapshot/format/layout.ts'
import type { TokenIssuer } from '../snapshot/format/token-issuer.ts'
import { recordAcknowledged, recordPublished, recordSource } from './export-metrics.ts'
import { GatewayError } from './gateway-client.ts'
import type { PublicationTrace } from './publication-trace.ts'
import type { Publisher, PublishReport, SnapshotFacts } from './publisher.ts'

/** Options of an exporter. */
export type ExporterOptions = Timing & {
  readonly source: ExportSource
  readonly publisher: Pick<Publisher, 'publish'>
  readonly metrics: Metrics
  /** Puts publications into spans; there are none when left out. */
  readonly trace?: PublicationTrace | undefined
  /** Returns whether to publish; a follower only keeps its snapshot up to date. Default: always. */
  readonly isLeader?: () => boolean
  /** Returns the issuer of the cluster's ServiceAccount tokens, once it is known. */
  readonly tokenIssuer?: () => TokenIssuer | undefined
  /** Returns the table of the rights of users and groups, once it is known. */
  readonly rights?: () => Uint8Array | undefined
  /** Called with each report of a publication. */
  readonly onPublished: (report: PublishReport) => void
  /** Called when the gateway has all names of a build. */
  readonly onAcknowledged?: (built: BuiltSnapshot) => void
  /** Called when publishing failed, before the next attempt. */
  readonly onError: (message: string) => void
  /** Shortest time between two publications. */
  readonly intervalMs: number
  /** Time after which unchanged names are confirmed. */
  readonly confirmMs: number
}

/** The slices of a Service change almost at the same time. */
const GATHER_MS = 50

/** Publishes one cluster while it runs. */
export class Exporter {
  private readonly options: ExporterOptions
  private readonly loop: ChangeLoop
  private readonly backoff: Backoff
  private built: BuiltSnapshot | undefined
  private isOutdated = true
  private isPublished = false
  /** When the oldest change that no build has was noted. */
  private changedMs: number | undefined
  /** When the oldest change that a build has and the gateway lacks was noted. */
  private builtMs: number | undefined
  /** When a confirmation was last due, and how current the source was then. */
  private dueMs: number | undefined
  private scheduledMs = 0

  constructor(options: ExporterOptions) {
    this.options = options
    this.backoff = new Backoff(options.random)
    const { intervalMs, sleep, elapsed } = options
    this.loop = new ChangeLoop({
      work: (signal) => this.publishOrRetry(signal),
      gatherMs: GATHER_MS,
      intervalMs,
      sleep,
      elapsed,
    })
  }

  /**
   * Returns whether the gateway has accepted a snapshot at least once; for a follower, whether it
   * could publish at once.
   */
  get isReady(): boolean {
    return this.isPublished || (!this.isLeader && this.built !== undefined)
  }

  private get isLeader(): boolean {
    return this.options.isLeader?.() ?? true
  }

  /** Notes that the source changed. */
  mark(): void {
    this.isOutdated = true
    this.changedMs ??= this.options.elapsed()
    this.loop.mark()
  }

  /** Runs until `signal` ends it, and publishes the changes until then. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.loop.run(signal), this.confirm(signal)])
  }

  /**
   * Publishes the present names, unless another exporter leads.
   * @throws {GatewayError} if the gateway refuses it
   */
  async publish(): Promise<PublishReport | undefined> {
    const { source, trace } = this.options
    const confirmedMs = source.confirmedMs()
    if (confirmedMs === undefined) return undefined
    const publish = (): Promise<PublishReport | undefined> => this.publishAt(confirmedMs)
    return trace !== undefined && this.isLeader ? trace.run(publish) : publish()
  }

  private async publishAt(confirmedMs: number): Promise<PublishReport | undefined> {
    const { source, metrics, onPublished } = this.options
    // Those of the objects that are built: others may come meanwhile.
    const sources = source.sources()
    if (this.isOutdated || this.built === undefined) await this.build()
    recordSource(metrics, source)
    if (!this.isLeader) return undefined
    if (this.dueMs !== undefined || !this.isPublished) {
      this.scheduledMs = Math.min(confirmedMs, this.dueMs ?? confirmedMs)
    }
    const { dueMs, scheduledMs } = this
    const tokenIssuer = this.options.tokenIssuer?.()
    const rights = this.options.rights?.()
    const facts = { sources, confirmedMs, scheduledMs, tokenIssuer, rights }
    if (this.built === undefined) return undefined
    const report = await this.hand(this.built, facts)
    if (this.dueMs === dueMs) this.dueMs = undefined
    this.isPublished = true
    source.acknowledged()
    this.options.onAcknowledged?.(this.built)
    recordPublished(metrics, { built: this.built, report, confirmedMs })
    if (report !== undefined) onPublished(report)
    return report
  }

  private async build(): Promise<void> {
    this.isOutdated = false
    this.builtMs ??= this.changedMs
    this.changedMs = undefined
    try {
      const { source, trace } = this.options
      const build = async (): Promise<BuiltSnapshot | undefined> => source.build()
      this.built = await (trace === undefined ? build() : trace.build(build))
    } catch (error) {
      this.isOutdated = true
      throw error
    }
  }

  /** Hands a snapshot to the gateway, and records how old its oldest change is then. */
  private async hand(
    built: BuiltSnapshot,
    facts: SnapshotFacts,
  ): Promise<PublishReport | undefined> {
    const { publisher, metrics, elapsed } = this.options
    const { builtMs } = this
    const report = await publisher.publish(built, facts)
    this.builtMs = undefined
    const isNews = report !== undefined && !report.isConfirmation
    if (isNews && builtMs !== undefined) {
      recordAcknowledged(metrics, (elapsed() - builtMs) / 1000)
    }
    return report
  }

  private async publishOrRetry(signal: AbortSignal): Promise<void> {
    try {
      await this.publish()
      this.backoff.reset()
    } catch (error) {
      if (!(error instanceof GatewayError || error instanceof SnapshotError)) throw error
      recordPublished(this.options.metrics, undefined)
      if (signal.aborted) return
      const delayMs = this.backoff.next()
      this.options.onError(`${error.message}; again in ${(delayMs / 1000).toFixed(1)} s`)
      await this.options.sleep(delayMs, signal)
      this.loop.mark()
    }
  }

  private async confirm(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.options.sleep(this.options.confirmMs, signal)
      if (signal.aborted) return
      this.dueMs = this.options.now()
      this.loop.mark()
    }
  }
}
