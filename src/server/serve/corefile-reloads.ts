/**
 * Rereads a Corefile at the interval of its `reload` directive, and applies it when it has changed;
 * applies it again when the files of its `tls` directives have changed.
 * @module
 */
import { createHash } from 'node:crypto'
import type { Log } from '../../dns/telemetry/log.ts'
import { type Metrics, metricInfo, type Series } from '../../dns/telemetry/metrics.ts'
import type { Feature, TlsService } from '../../resolver/contract/feature.ts'
import { CertificateFiles } from '../keys/certificate-files.ts'
import { isCurrent, type LoadedCorefile, loadInSlices } from '../node/load-corefile.ts'
import { NODE_TURNS } from '../node/node-turns.ts'
import { describeError, type Print } from '../node/output.ts'
import { timerMs } from '../node/timer-ms.ts'
import { printRefused, printRunning, printUnreadable } from './reload-lines.ts'

/** CoreDNS's metrics of reloads. */
const FAILED = metricInfo(
  'coredns_reload_failed_total',
  'Counter of the number of failed reload attempts.',
)
const VERSION = metricInfo(
  'coredns_reload_version_info',
  "A metric with a constant '1' value labeled by hash, and value which type of hash " +
    'generated.',
  'hash value',
)

/** The Corefile to watch, and how to apply it. */
export type ReloadOptions = {
  readonly path: string
  /** The Corefile in use and its features; `undefined` before there is one. */
  readonly current: () =>
    | { readonly corefile: LoadedCorefile; readonly features: readonly Feature[] }
    | undefined
  /** Applies a Corefile. Throws when it cannot; the previous one then stays in use. */
  readonly apply: (corefile: LoadedCorefile) => Promise<void>
  readonly metrics: Metrics
  readonly log: Log
  /** Receives CoreDNS's lines, if the Corefile in use has `reload`. */
  readonly print: Print
}

/** Reloads of one Corefile. */
export class CorefileReloads {
  private readonly options: ReloadOptions
  private readonly failed: Series
  private readonly certificates: CertificateFiles<readonly TlsService[]>
  private timer: NodeJS.Timeout | undefined
  private busy: Promise<void> = Promise.resolve()
  private requested: Promise<void> | undefined
  private isStopped = false
  private isAnnounced = false

  constructor(options: ReloadOptions) {
    this.options = options
    this.failed = options.metrics.counter(FAILED)
    const services = (): Extract<Feature, { kind: 'tls' }>[] =>
      (options.current()?.features ?? []).filter((feature) => feature.kind === 'tls')
    this.certificates = new CertificateFiles<readonly TlsService[]>({
      used: () => services().map(({ service }) => service),
      read: () => services().map(({ reread }) => reread()),
      renew: () => this.applyAgain(),
      log: options.log,
    })
  }

  /** Starts to check at the interval of the Corefile in use; without `reload`, never checks. */
  schedule(): void {
    clearTimeout(this.timer)
    const reload = this.options.current()?.features.find(isReload)
    if (reload === undefined || this.isStopped) return
    // After the line `ready`, which scripts may expect first.
    if (!this.isAnnounced) setImmediate(() => this.announce())
    this.isAnnounced = true
    const delayMs = reload.intervalMs + Math.random() * reload.jitterMs
    this.timer = setTimeout(() => {
      this.busy = this.busy.then(() => this.reload('changed')).then(() => this.schedule())
    }, timerMs(delayMs))
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
    this.certificates.stop()
  }

  /** Applies the Corefile in use, not its file: without `reload`, edits wait for a signal. */
  private applyAgain(): Promise<void> {
    const applied = this.busy.then(async () => {
      const used = this.options.current()
      if (used !== undefined && !this.isStopped) await this.options.apply(used.corefile)
    })
    this.busy = applied.catch(() => undefined)
    return applied
  }

  private async reload(which: 'changed' | 'any'): Promise<void> {
    if (this.isStopped) return
    const { path, current, log } = this.options
    const print = this.hasReload() ? this.options.print : () => {}
    let loaded: LoadedCorefile
    try {
      if (which === 'changed' && isCurrent(current()?.corefile)) return
      loaded = await loadInSlices(path, NODE_TURNS)
    } catch (error) {
      printUnreadable(print, error)
      this.fail(error)
      return
    }
    const isChanged = loaded.text !== current()?.corefile.text
    if (!isChanged && which === 'changed') return
    print('[INFO] Reloading')
    try {
      await this.applyLoaded(loaded)
    } catch (error) {
      printRefused(print, error)
      this.fail(error)
      return
    }
    this.announce()
    print('[INFO] Reloading complete')
    log({ level: 'info', message: `reloaded the ${isChanged ? 'changed' : 'unchanged'} Corefile` })
  }

  private async applyLoaded(loaded: LoadedCorefile): Promise<void> {
    const { apply, metrics } = this.options
    await apply(loaded)
    metrics.clear(VERSION.name)
    metrics.gauge(VERSION, ['sha512', hashOf(loaded)]).value = 1
  }

  private fail(error: unknown): void {
    this.failed.value++
    this.options.log({
      level: 'error',
      message: 'cannot reload the Corefile; the previous one stays in use',
      reason: describeError(error),
    })
  }

  private hasReload(): boolean {
    return this.options.current()?.features.some(isReload) ?? false
  }

  /** Prints the hash of the Corefile in use, if it has `reload`. */
  private announce(): void {
    const used = this.options.current()
    if (used === undefined || !this.hasReload()) return
    printRunning(this.options.print, hashOf(used.corefile))
  }
}

function hashOf({ text }: LoadedCorefile): string {
  return createHash('sha512').update(text).digest('hex')
}

function isReload(feature: Feature): feature is Extract<Feature, { kind: 'reload' }> {
  return feature.kind === 'reload'
}
