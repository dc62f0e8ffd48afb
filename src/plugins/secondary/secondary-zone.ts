/**
 * A zone that is had from primaries, and kept as they have it (RFC 1034 §4.3.5, RFC 1996).
 * @module
 */

import { errorText } from '../../bytes/unknown.ts'
import type { UpstreamClient } from '../../chain/host.ts'
import { parseResponse } from '../../dns/message.ts'
import { equalNames, formatName } from '../../dns/name.ts'
import { isSameAddress } from '../../dns/network.ts'
import { formatRcode, RCODE } from '../../dns/rcode.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { isSerialAfter, soaSerial, soaTimes } from '../../dns/soa.ts'
import { writeQuery } from '../../dns/write-query.ts'
import type { ZoneData } from '../file/zone-data.ts'
import type { SecondaryHost } from './host.ts'
import { type Primary, receiveZone, TransferError } from './receive-zone.ts'
import type { Slots } from './slots.ts'

/** What a zone needs to be kept. */
export type SecondaryOptions = {
  readonly origin: Uint8Array
  /** Tried in this order. */
  readonly primaries: readonly Primary[]
  /** Shared with other zones: those that ask their primaries. */
  readonly slots: Slots
  /** Called with each new zone. */
  readonly changed: (zone: ZoneData) => void
}

/** Time to the second attempt at the first transfer; it doubles up to the greatest. */
const FIRST_DELAY_MS = 250
const FIRST_DELAY_MS_MAX = 10_000
/** Chance is added to what the SOA record says, lest all secondaries ask at once. */
const REFRESH_JITTER_MS = 5000
const RETRY_JITTER_MS = 2000
/** Bounds of what the SOA record may say; timers go no further. */
const DELAY_MS_MIN = 1000
const DELAY_MS_MAX = 0x7fffffff
/** Time-out of a query for a primary's serial. */
const SERIAL_TIMEOUT_MS = 2000

/** One zone. */
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

  /** @param data what there is of the zone already */
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

  /** The zone; `undefined` before the first transfer, and when none went well for too long. */
  get zone(): ZoneData | undefined {
    return this.host.elapsed() < this.expiresMs ? this.data : undefined
  }

  /** Whether a client is a primary of the zone. */
  hasPrimary(address: string): boolean {
    return this.primaries.some((primary) => isSameAddress(primary.address, address))
  }

  /** Looks whether the primaries have a newer zone, now and whenever it is time. */
  update(): void {
    if (this.isStopped) return
    this.isWantedAgain = true
    if (!this.isBusy) void this.work()
  }

  /** Ends that. */
  stop(): void {
    this.isStopped = true
    this.cancel()
    for (const client of this.clients) client.close()
  }

  private async work(): Promise<void> {
    this.isBusy = true
    this.cancel()
    let isGood = false
    while (this.isWantedAgain && !this.isStopped) {
      this.isWantedAgain = false
      isGood = await this.slots.run(() => this.attempt())
    }
    this.isBusy = false
    if (!this.isStopped) this.schedule(isGood)
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
      const message = 'no primary gives a zone'
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
      throw new TransferError(`the primary answers ${formatRcode(response.rcode)}`)
    }
    const soa = response?.answer.find(
      ({ type, owner }) => type === TYPE.SOA && equalNames(owner, this.origin),
    )
    if (soa === undefined) throw new TransferError('the primary tells no serial')
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
        this.report('info', 'a zone was received', { from: primary.address, serial })
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

  private schedule(isGood: boolean): void {
    this.cancel = this.host.after(this.nextDelayMs(isGood), () => {
      this.update()
    })
  }

  private nextDelayMs(isGood: boolean): number {
    const { data } = this
    if (data === undefined) {
      const { delayMs } = this
      this.delayMs = Math.min(2 * delayMs, FIRST_DELAY_MS_MAX)
      return delayMs
    }
    const { refreshSeconds, retrySeconds } = soaTimes(data.soa.rdata)
    const [seconds, jitterMs] = isGood
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
  return host.openUpstream(
    { transport: 'dns', ...primary },
    {
      tls: {},
      expireMs: SERIAL_TIMEOUT_MS,
      ageMsMax: 0,
      idleMax: 1,
      dohMethod: 'POST',
      resolvers: [],
      onConnection: () => undefined,
    },
  )
}
