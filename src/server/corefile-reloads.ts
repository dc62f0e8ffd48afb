/**
 * Looks at a Corefile again and again, as its `reload` says, and has it taken up when it changed.
 * @module
 */
import { createHash } from 'node:crypto'
import type { Feature } from '../chain/feature.ts'
import { type LoadedCorefile, loadCorefile } from '../node/load-corefile.ts'
import { describeError } from '../node/output.ts'
import type { Log } from '../telemetry/log.ts'
import type { MetricInfo, Metrics, Series } from '../telemetry/metrics.ts'

/** Reloads that failed, and the Corefile in use, as CoreDNS counts and tells them. */
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

/** What is needed to look. */
export type ReloadOptions = {
  /** The Corefile's path. */
  readonly path: string
  /** Text and features of the Corefile in use; `undefined` before there is one. */
  readonly current: () =>
    | { readonly text: string; readonly features: readonly Feature[] }
    | undefined
  /** Takes up a Corefile; when it cannot be, it throws, and what was serving serves on. */
  readonly take: (corefile: LoadedCorefile) => Promise<void>
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

  /** Looks again after the interval of the Corefile in use, and so on; without one, never. */
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
   * Reloads now, also when the Corefile has not changed, as CoreDNS does at SIGUSR1. One reload
   * runs at a time; requests meanwhile share the next. Never rejects.
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

  /** Looks no more. */
  stop(): void {
    this.isStopped = true
    clearTimeout(this.timer)
  }

  /** One that is wrong is told of. */
  private async reload(which: 'changed' | 'any'): Promise<void> {
    if (this.isStopped) return
    const { path, current, take, metrics, log } = this.options
    try {
      const loaded = loadCorefile(path)
      const isChanged = loaded.text !== current()?.text
      if (!isChanged && which === 'changed') return
      await take(loaded)
      metrics.clear(VERSION.name)
      metrics.gauge(VERSION, versionOf(loaded.text)).value = 1
      log({ level: 'info', message: `the ${isChanged ? 'changed' : 'same'} Corefile is in use` })
    } catch (error) {
      this.failed.value++
      log({
        level: 'error',
        message: 'the changed Corefile is not used',
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
