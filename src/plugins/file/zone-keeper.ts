/**
 * Keeps a zone in step with its file.
 * @module
 */
import type { Host } from '../../chain/host.ts'
import type { ResourceRecord } from '../../dns/message.ts'
import { formatName } from '../../dns/name.ts'
import { formatType, TYPE } from '../../dns/rr-type.ts'
import { soaSerial } from '../../dns/soa.ts'
import { readZoneFile } from '../../records/zone-file.ts'
import { ZoneFileError } from '../../records/zone-scanner.ts'
import { ZoneBuilder, type ZoneData } from './zone-data.ts'

/** When to read a file again. */
export type ReloadOptions = {
  /** Time between checks of the file; 0 for no checks. */
  readonly reloadMs: number
  /** Whether a newer modification time is enough; otherwise the serial must change. */
  readonly isByTime: boolean
}

/** Resolution of modification times: a second write within it may leave the time unchanged. */
const SETTLING_MS = 2000

/** A zone and its file. */
export class ZoneKeeper {
  private readonly host: Host
  private readonly options: ReloadOptions
  private from: ZoneSource
  private current: ZoneData | undefined
  /** Modification times of the file and the files that it includes, as far as read. */
  private written = new Map<string, number | undefined>()
  private readMs = 0
  private cancel: () => void = () => undefined

  constructor(host: Host, source: ZoneSource, options: ReloadOptions) {
    this.host = host
    this.from = source
    this.options = options
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
    this.written.clear()
  }

  /** Reads the file and replaces the zone, unless the serial is unchanged. */
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

  /** Starts to check the file regularly. @param changed called after each new zone */
  start(changed: () => void): void {
    const { host, options } = this
    if (options.reloadMs === 0) return
    this.cancel = host.after(options.reloadMs, () => {
      if (this.look()) changed()
      this.start(changed)
    })
  }

  stop(): void {
    this.cancel()
  }

  /** Checks the file and logs the result. @returns whether there is a new zone */
  look(): boolean {
    const { host, from } = this
    if (this.isUnwritten()) return false
    const loaded = this.read()
    const facts = { zone: formatName(from.origin), file: from.file }
    if (loaded.kind === 'missing') {
      host.log({ level: 'error', message: 'a zone file is missing', ...facts })
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

  /**
   * Whether no file has changed since it was read: reading a large zone again takes long. False for
   * a missing file, and for one read too soon after its last write.
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
    const message = 'ignored records outside of their zone'
    this.host.log({ level: 'warning', message, ...facts })
  }
}

/** Which file to read for which zone. */
type ZoneSource = {
  readonly file: string
  /** Absolute, in lower case. */
  readonly origin: Uint8Array
}

/** The result of loading a zone. */
type LoadedZone =
  | { readonly kind: 'zone'; readonly zone: ZoneData }
  /** The serial is the known one. */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'missing' }
  /** The file is invalid; `error` has the position, if there is one. */
  | { readonly kind: 'wrong'; readonly reason: string; readonly error?: ZoneFileError }

/**
 * Reads a zone from its file; stops early if its serial is `knownSerial`. As in CoreDNS, NSEC3
 * records are invalid: the plugin cannot prove negative responses with them.
 */
export function loadZone(
  readText: Host['readText'],
  source: ZoneSource,
  knownSerial?: number,
): LoadedZone {
  const { file, origin } = source
  const text = readText(file)
  if (text === undefined) return { kind: 'missing' }
  const builder = new ZoneBuilder(origin)
  try {
    let hasSoa = false
    for (const record of readZoneFile({ ...source, text, readText })) {
      if (record.type === TYPE.SOA && !hasSoa) {
        hasSoa = true
        if (soaSerial(record.rdata) === knownSerial) return { kind: 'unchanged' }
      }
      const reason = refusal(record)
      if (reason !== undefined) return { kind: 'wrong', reason }
      builder.add(record)
    }
  } catch (error) {
    if (!(error instanceof ZoneFileError)) throw error
    return { kind: 'wrong', reason: error.message, error }
  }
  const zone = builder.finish()
  if (zone !== undefined) return { kind: 'zone', zone }
  return { kind: 'wrong', reason: `zone "${formatName(origin)}" has no SOA record` }
}

function refusal({ type, owner }: ResourceRecord): string | undefined {
  if (type !== TYPE.NSEC3 && type !== TYPE.NSEC3PARAM) return undefined
  const name = formatName(owner)
  return `a ${formatType(type)} record at "${name}": zones are signed with NSEC records only`
}
