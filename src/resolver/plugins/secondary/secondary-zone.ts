/**
 * A zone that follows its primaries (RFC 1034 §4.3.5, RFC 1996).
 * @module
 */
import { errorText } from '../../../dns/bytes/unknown.ts'
import { equalNames, formatName } from '../../../dns/names/name.ts'
import { isSameAddress } from '../../../dns/names/network.ts'
import { formatRcode, RCODE } from '../../../dns/names/rcode.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { parseResponse } from '../../../dns/wire/message.ts'
import { isSerialAfter, soaSerial, soaTimes } from '../../../dns/wire/soa.ts'
import { writeQuery } from '../../../dns/wire/write-query.ts'
import { ONE_CONNECTION, type UpstreamClient } from '../../contract/host.ts'
import type { ZoneData } from '../file/zone-data.ts'
import { type Primary, receiveZone, type SecondaryHost, TransferError } from './receive-zone.ts'

/** How to keep a zone. */
export type SecondaryOptions = {
  readonly origin: Uint8Array
  /** Tried in this order. */
  readonly primaries: readonly Primary[]
  /** Limits concurrent refreshes of all zones. */
  readonly slots: Slots
  readonly changed: (zone: ZoneData) => void
}

/** Delay before the second attempt at the first transfer; it doubles up to the maximum. */
const FIRST_DELAY_MS = 250
const FIRST_DELAY_MS_MAX = 10_000
/** Random extra delay, so that secondaries do not refresh all at once. */
const REFRESH_JITTER_MS = 5000
const RETRY_JITTER_MS = 2000
/** Bounds of the SOA record's times; timers cannot wait longer. */
const DELAY_MS_MIN = 1000
const DELAY_MS_MAX = 0x7fffffff
/** Time-out of a query for a primary's serial. */
const SERIAL_TIMEOUT_MS = 2000

/** Keeps one zone up to date. */
export class SecondaryZone {
  readonly origin: Uint8Array
  readonly primaries: readonly Primary[]
  private readonly host: SecondaryHost
  private readonly changed: SecondaryOptions['changed']
  private readonly slots: Slots
  private readonly clients: readonly UpstreamClient[]
  private data: ZoneData | undefined
  private expiresMs = 0
  private delayMs = FIRST_DELAY_MS
  private isBusy = false
  private isWantedAgain = false
  private isStopped = false
  private cancel: () => void = () => undefined

  /** @param data previous data of the zone, if any */
  constructor(
    host: SecondaryHost,
    { origin, primaries, slots, changed }: SecondaryOptions,
    data?: ZoneData,
  ) {
    this.host = host
    this.origin = origin
    this.primaries = primaries
    this.slots = slots
    this.changed = changed
    this.clients = primaries.map((primary) => open(host, primary))
    if (data !== undefined) this.keep(data)
  }

  /** The zone; `undefined` before the first transfer and after expiry. */
  get zone(): ZoneData | undefined {
    return this.host.elapsed() < this.expiresMs ? this.data : undefined
  }

  hasPrimary(address: string): boolean {
    return this.primaries.some((primary) => isSameAddress(primary.address, address))
  }

  /** Refreshes the zone now and then on the SOA record's schedule. */
  update(): void {
    if (this.isStopped) return
    this.isWantedAgain = true
    if (!this.isBusy) void this.work()
  }

  stop(): void {
    this.isStopped = true
    this.cancel()
    for (const client of this.clients) client.close()
  }

  private async work(): Promise<void> {
    this.isBusy = true
    this.cancel()
    let hasSucceeded = false
    while (this.isWantedAgain && !this.isStopped) {
      this.isWantedAgain = false
      hasSucceeded = await this.slots.run(() => this.attempt())
    }
    this.isBusy = false
    if (!this.isStopped) this.schedule(hasSucceeded)
  }

  private async attempt(): Promise<boolean> {
    try {
      const { data } = this
      const serial = data && (await this.askSerial())
      const isNewer =
        data === undefined ||
        (serial !== undefined && isSerialAfter(serial, soaSerial(data.soa.rdata)))
      if (isNewer) await this.transfer()
      else this.keep(data)
      return true
    } catch (error) {
      const reason = errorText(error)
      const message = 'cannot get the zone from any primary'
      if (!this.isStopped) this.report('warning', message, { reason })
      return false
    }
  }

  /** Returns the serial of the first primary that responds. */
  private async askSerial(): Promise<number> {
    const query = writeQuery({ name: this.origin, type: TYPE.SOA, id: this.host.random16() })
    let last: unknown
    for (const client of this.clients) {
      try {
        const options = { protocol: 'tcp', timeoutMs: SERIAL_TIMEOUT_MS } as const
        return this.readSerial(await client.exchange(query, options))
      } catch (error) {
        last = error
      }
    }
    throw last
  }

  private readSerial(message: Uint8Array): number {
    const response = parseResponse(message)
    if (response !== undefined && response.rcode !== RCODE.NOERROR) {
      throw new TransferError(`the primary responded with ${formatRcode(response.rcode)}`)
    }
    const soa = response?.answer.find(
      ({ type, owner }) => type === TYPE.SOA && equalNames(owner, this.origin),
    )
    if (soa === undefined) throw new TransferError('the primary returned no SOA record')
    return soaSerial(soa.rdata)
  }

  private async transfer(): Promise<void> {
    let last: unknown = new TransferError('there is no primary')
    for (const primary of this.primaries) {
      try {
        const zone = await receiveZone(this.host, this.origin, primary)
        if (this.isStopped) return
        this.keep(zone)
        const serial = soaSerial(zone.soa.rdata)
        this.report('info', 'received a zone', { from: primary.address, serial })
        this.changed(zone)
        return
      } catch (error) {
        last = error
      }
    }
    throw last
  }

  private keep(zone: ZoneData | undefined): void {
    if (zone === undefined) return
    this.data = zone
    this.expiresMs =
      this.host.elapsed() + 1000 * Math.max(1, soaTimes(zone.soa.rdata).expireSeconds)
  }

  private schedule(hasSucceeded: boolean): void {
    this.cancel = this.host.after(this.nextDelayMs(hasSucceeded), () => {
      this.update()
    })
  }

  private nextDelayMs(hasSucceeded: boolean): number {
    const { data } = this
    if (data === undefined) {
      const { delayMs } = this
      this.delayMs = Math.min(2 * delayMs, FIRST_DELAY_MS_MAX)
      return delayMs
    }
    const { refreshSeconds, retrySeconds } = soaTimes(data.soa.rdata)
    const [seconds, jitterMs] = hasSucceeded
      ? [refreshSeconds, REFRESH_JITTER_MS]
      : [retrySeconds, RETRY_JITTER_MS]
    const jitter = (jitterMs * this.host.random16()) / 65_536
    return Math.min(Math.max(1000 * seconds, DELAY_MS_MIN) + jitter, DELAY_MS_MAX)
  }

  private report(
    level: 'info' | 'warning',
    message: string,
    facts: Readonly<Record<string, string | number>>,
  ): void {
    this.host.log({ level, message, zone: formatName(this.origin), ...facts })
  }
}

function open(host: SecondaryHost, primary: Primary): UpstreamClient {
  const options = { ...ONE_CONNECTION, expireMs: SERIAL_TIMEOUT_MS }
  return host.openUpstream({ transport: 'dns', ...primary }, options)
}

/** A limited number of slots for tasks. */
export class Slots {
  private free: number
  private readonly waiting: (() => void)[] = []

  constructor(count: number) {
    this.free = count
  }

  /** Runs a task once a slot is free. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--
    else await new Promise<void>((resolve) => this.waiting.push(resolve))
    try {
      return await task()
    } finally {
      const next = this.waiting.shift()
      if (next === undefined) this.free++
      else next()
    }
  }
}
