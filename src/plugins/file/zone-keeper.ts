/**
 * Keeps a zone as its file has it.
 * @module
 */
import { formatName } from '../../dns/name.ts'
import { soaSerial } from '../../dns/soa.ts'
import type { Host } from '../host.ts'
import { type LoadedZone, loadZone, type ZoneSource } from './load-zone.ts'
import type { ZoneData } from './zone-data.ts'

/** When a file is read again. */
export type ReloadOptions = {
  /** Time between looks at the file; 0 for none. */
  readonly reloadMs: number
  /** Whether a file that was written since is read; else one with another serial is. */
  readonly isByTime: boolean
}

/** A zone and its file. */
export class ZoneKeeper {
  readonly source: ZoneSource
  private readonly host: Host
  private readonly options: ReloadOptions
  private current: ZoneData | undefined
  private readTimeMs = 0
  private cancel: () => void = () => undefined

  constructor(host: Host, source: ZoneSource, options: ReloadOptions) {
    this.host = host
    this.source = source
    this.options = options
  }

  /** The zone; `undefined` while it could not be read. */
  get zone(): ZoneData | undefined {
    return this.current
  }

  /** Whether the file is looked at again. */
  get isReloading(): boolean {
    return this.options.reloadMs > 0
  }

  /** Reads the file and takes the zone over, unless its serial is as before. */
  read(): LoadedZone {
    const { current, host, source, options } = this
    const serial =
      current === undefined || options.isByTime ? undefined : soaSerial(current.soa.rdata)
    this.readTimeMs = host.modifiedMs(source.file) ?? 0
    const loaded = loadZone(host, source, serial)
    if (loaded.kind === 'zone') this.take(loaded.zone)
    return loaded
  }

  /** Begins to look at the file from time to time. @param changed called after a new zone came */
  start(changed: () => void): void {
    const { host, options } = this
    if (options.reloadMs === 0) return
    this.cancel = host.after(options.reloadMs, () => {
      if (this.reload()) changed()
      this.start(changed)
    })
  }

  /** Ends that. */
  stop(): void {
    this.cancel()
  }

  private reload(): boolean {
    const { host, source, options } = this
    if (options.isByTime && (host.modifiedMs(source.file) ?? 0) <= this.readTimeMs) return false
    const loaded = this.read()
    const facts = { zone: formatName(source.origin), file: source.file }
    if (loaded.kind === 'missing') {
      host.log({ level: 'error', message: 'a zone file is not there', ...facts })
    }
    if (loaded.kind === 'wrong') {
      const { reason } = loaded
      host.log({ level: 'error', message: 'a zone file is wrong and not used', reason, ...facts })
    }
    if (loaded.kind !== 'zone') return false
    const serial = soaSerial(loaded.zone.soa.rdata)
    host.log({ level: 'info', message: 'a changed zone is in use', serial, ...facts })
    return true
  }

  private take(zone: ZoneData): void {
    this.current = zone
    if (zone.outsideCount === 0) return
    const { origin, file } = this.source
    const facts = { zone: formatName(origin), file, records: zone.outsideCount }
    const message = 'records outside of their zone are left out'
    this.host.log({ level: 'warning', message, ...facts })
  }
}
