/**
 * Keeps a zone as its file has it.
 * @module
 */

import type { Host } from '../../chain/host.ts'
import { formatName } from '../../dns/name.ts'
import { soaSerial } from '../../dns/soa.ts'
import { type LoadedZone, loadZone, type ZoneSource } from './load-zone.ts'
import type { ZoneData } from './zone-data.ts'

/** When a file is read again. */
export type ReloadOptions = {
  /** Time between looks at the file; 0 for none. */
  readonly reloadMs: number
  /** Whether a file that was written since is read; else one with another serial is. */
  readonly isByTime: boolean
}

/** Within this time of a look, a file may be written again and seem to be as old as before. */
const SETTLING_MS = 2000

/** A zone and its file. */
export class ZoneKeeper {
  private readonly host: Host
  private readonly options: ReloadOptions
  private from: ZoneSource
  private current: ZoneData | undefined
  /** When the file, and those that it includes, were written, as far as they are read. */
  private written = new Map<string, number | undefined>()
  private readMs = 0
  private cancel: () => void = () => undefined

  constructor(host: Host, source: ZoneSource, options: ReloadOptions) {
    this.host = host
    this.from = source
    this.options = options
  }

  /** Where the zone comes from. */
  get source(): ZoneSource {
    return this.from
  }

  /** The zone; `undefined` while it could not be read. */
  get zone(): ZoneData | undefined {
    return this.current
  }

  /** Whether the file is looked at again. */
  get isReloading(): boolean {
    return this.options.reloadMs > 0
  }

  /** Looks at another file from now on. */
  moveTo(file: string): void {
    if (file === this.from.file) return
    this.from = { ...this.from, file }
    this.written.clear()
  }

  /** Reads the file and takes the zone over, unless its serial is as before. */
  read(): LoadedZone {
    const { current, host, from, options } = this
    const known = current === undefined || options.isByTime ? undefined : current.soa.rdata
    this.readMs = host.now()
    this.written.clear()
    const readText = (path: string): string | undefined => {
      this.written.set(path, host.modifiedMs(path))
      return host.readText(path)
    }
    const loaded = loadZone(readText, from, known && soaSerial(known))
    if (loaded.kind === 'zone') this.take(loaded.zone)
    return loaded
  }

  /** Begins to look at the file from time to time. @param changed called after a new zone came */
  start(changed: () => void): void {
    const { host, options } = this
    if (options.reloadMs === 0) return
    this.cancel = host.after(options.reloadMs, () => {
      if (this.look()) changed()
      this.start(changed)
    })
  }

  /** Ends that. */
  stop(): void {
    this.cancel()
  }

  /** Looks at the file, and says in the log what became of it. @returns whether a new zone came */
  look(): boolean {
    const { host, from } = this
    if (this.isUnwritten()) return false
    const loaded = this.read()
    const facts = { zone: formatName(from.origin), file: from.file }
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

  /**
   * Whether no file was written since it was read: then reading it would take time, and in a large
   * zone much, to no end. What is not there, or was read too soon to tell, is read.
   */
  private isUnwritten(): boolean {
    if (this.written.size === 0) return false
    for (const [path, ms] of this.written) {
      const isSettled = ms !== undefined && ms < this.readMs - SETTLING_MS
      if (!isSettled || this.host.modifiedMs(path) !== ms) return false
    }
    return true
  }

  private take(zone: ZoneData): void {
    this.current = zone
    if (zone.outsideCount === 0) return
    const { origin, file } = this.from
    const facts = { zone: formatName(origin), file, records: zone.outsideCount }
    const message = 'records outside of their zone are left out'
    this.host.log({ level: 'warning', message, ...facts })
  }
}
