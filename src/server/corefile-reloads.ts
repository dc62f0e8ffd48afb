/**
 * Rereads a Corefile at the interval of its `reload` directive, and applies it when it has changed.
 * @module
 */
import { createHash } from 'node:crypto'
import type { Feature } from '../chain/feature.ts'
import { type LoadedCorefile, loadCorefile } from '../node/load-corefile.ts'
import { describeError } from '../node/output.ts'
import type { Log } from '../telemetry/log.ts'
import type { MetricInfo, Metrics, Series } from '../telemetry/metrics.ts'

/** CoreDNS's metrics of reloads. */
const FAILED: MetricInfo = {
  name: 'coredns_reload_failed_total',
  help: 'Counter of the number of failed reload attempts.',
  labels: [],
}
const VERSION: MetricInfo = {
  name: 'coredns_reload_version_info',
  help:
    "A metric with a constant '1' value labeled by hash, and value which type of hash " +
    'generated.',
  labels: ['hash', 'value'],
}

/** The Corefile to watch, and how to apply it. */
export type ReloadOptions = {
  readonly path: string
  /** Text and features of the Corefile in use; `undefined` before there is one. */
  readonly current: () =>
    | { readonly text: string; readonly features: readonly Feature[] }
    | undefined
  /** Applies a Corefile. Throws when it cannot; the previous one then stays in use. */
  readonly apply: (corefile: LoadedCorefile) => Promise<void>
  readonly metrics: Metrics
  readonly log: Log
}

/** Reloads of one Corefile. */
export class CorefileReloads {
  private readonly options: ReloadOptions
  private readonly failed: Series
  private timer: NodeJS.Timeout | undefined
  private busy: Promise<void> = Promise.resolve()
  private requested: Promise<void> | undefined
  private isStopped = false

  constructor(options: ReloadOptions) {
    this.options = options
    this.failed = options.metrics.counter(FAILED)
  }

  /** Starts to check at the interval of the Corefile in use; without `reload`, never checks. */
  schedule(): void {
    clearTimeout(this.timer)
    const reload = this.options.current()?.features.find(isReload)
    if (reload === undefined || this.isStopped) return
    const delayMs = reload.intervalMs + Math.random() * reload.jitterMs
    this.timer = setTimeout(() => {
      this.busy = this.busy.then(() => this.reload('changed')).then(() => this.schedule())
    }, delayMs)
    this.timer.unref()
  }

  /**
   * Reloads now, even if the Corefile has not changed, as CoreDNS does at SIGUSR1. One reload runs
   * at a time; calls during a reload share the next one. Never rejects.
   */
  reloadNow(): Promise<void> {
    this.requested ??= this.busy.then(async () => {
      this.requested = undefined
      await this.reload('any')
      this.schedule()
    })
    this.busy = this.requested
    return this.requested
  }

  /** Ends the checks. */
  stop(): void {
    this.isStopped = true
    clearTimeout(this.timer)
  }

  private async reload(which: 'changed' | 'any'): Promise<void> {
    if (this.isStopped) return
    const { path, current, apply, metrics, log } = this.options
    try {
      const loaded = loadCorefile(path)
      const isChanged = loaded.text !== current()?.text
      if (!isChanged && which === 'changed') return
      await apply(loaded)
      metrics.clear(VERSION.name)
      metrics.gauge(VERSION, versionOf(loaded.text)).value = 1
      log({
        level: 'info',
        message: `reloaded the ${isChanged ? 'changed' : 'unchanged'} Corefile`,
      })
    } catch (error) {
      this.failed.value++
      log({
        level: 'error',
        message: 'cannot reload the Corefile; the previous one stays in use',
        reason: describeError(error),
      })
    }
  }
}

function versionOf(text: string): readonly string[] {
  return ['sha512', createHash('sha512').update(text).digest('hex')]
}

function isReload(feature: Feature): feature is Extract<Feature, { kind: 'reload' }> {
  return feature.kind === 'reload'
}
