/**
 * Keeps a zone in step with its file.
 * @module
 */

import { formatName } from '../../../dns/names/name.ts'
import { soaSerial } from '../../../dns/wire/soa.ts'
import type { Host } from '../../contract/host.ts'
import { WatchedFiles } from '../../plugin-kit/watched-files.ts'
import { type LoadedZone, loadZone, type ZoneSource } from './load-zone.ts'
import type { ZoneData } from './zone-data.ts'

/** When to read a file again. */
export type ReloadOptions = {
  /** Time between checks of the file; 0 for no checks. */
  readonly reloadMs: number
  /** Whether a newer modification time is enough; otherwise the serial must change. */
  readonly isByTime: boolean
}

/** A zone and its file. */
export class ZoneKeeper {
  private readonly host: Host
  private readonly options: ReloadOptions
  private from: ZoneSource
  private current: ZoneData | undefined
  /** The file and the files that it includes, as far as read. */
  private readonly files: WatchedFiles
  private isStopped = false
  private cancel: () => void = () => undefined

  constructor(host: Host, source: ZoneSource, options: ReloadOptions) {
    this.host = host
    this.from = source
    this.options = options
    this.files = new WatchedFiles(host)
  }

  get source(): ZoneSource {
    return this.from
  }

  /** The zone; `undefined` until a first read succeeds. */
  get zone(): ZoneData | undefined {
    return this.current
  }

  /** Whether it checks the file regularly. */
  get isReloading(): boolean {
    return this.options.reloadMs > 0
  }

  /** Switches to another file. */
  moveTo(file: string): void {
    if (file === this.from.file) return
    this.from = { ...this.from, file }
    this.files.clear()
  }

  /**
   * Reads the file, in slices, and replaces the zone unless the serial is unchanged. Calls must not
   * overlap.
   */
  async read(): Promise<LoadedZone> {
    const { current, host, from, options, files } = this
    const known = current === undefined || options.isByTime ? undefined : current.soa.rdata
    files.clear()
    const { elapsed, nextTurn } = host
    const read = (path: string): Promise<Uint8Array> => files.read(path)
    const knownSerial = known && soaSerial(known)
    const loaded = await loadZone(from, { elapsed, nextTurn, read, knownSerial })
    if (loaded.kind === 'zone') this.take(loaded.zone)
    return loaded
  }

  /** Starts to check the file regularly. @param changed called after each new zone */
  start(changed: () => void): void {
    const { host, options } = this
    if (options.reloadMs === 0 || this.isStopped) return
    this.cancel = host.after(options.reloadMs, () => {
      void this.look().then((isChanged) => {
        if (isChanged) changed()
        this.start(changed)
      })
    })
  }

  stop(): void {
    this.isStopped = true
    this.cancel()
  }

  /** Checks the file and logs the result. @returns whether there is a new zone */
  async look(): Promise<boolean> {
    const { host, from, files } = this
    if (files.isUnchanged) return false
    const loaded = await this.read()
    if (this.isStopped) return false
    const facts = { zone: formatName(from.origin), file: from.file }
    if (loaded.kind === 'missing') {
      const { reason } = loaded
      host.log({ level: 'error', message: 'cannot read a zone file', reason, ...facts })
    }
    if (loaded.kind === 'wrong') {
      const { reason } = loaded
      host.log({ level: 'error', message: 'ignored an invalid zone file', reason, ...facts })
    }
    if (loaded.kind !== 'zone') return false
    const serial = soaSerial(loaded.zone.soa.rdata)
    host.log({ level: 'info', message: 'loaded a changed zone', serial, ...facts })
    return true
  }

  private take(zone: ZoneData): void {
    this.current = zone
    if (zone.outsideCount === 0) return
    const { origin, file } = this.from
    const facts = { zone: formatName(origin), file, records: zone.outsideCount }
    const message = 'ignored records outside of their zone'
    this.host.log({ level: 'warning', message, ...facts })
  }
}
