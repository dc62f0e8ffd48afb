/**
 * Notifies secondaries of changed zones (RFC 1996).
 * @module
 */
import { byteAt } from '../../../dns/bytes/bytes.ts'
import { errorText } from '../../../dns/bytes/unknown.ts'
import { formatName, nameKey } from '../../../dns/names/name.ts'
import { formatRcode, OPCODE, RCODE } from '../../../dns/names/rcode.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { FLAG } from '../../../dns/wire/query.ts'
import { writeQuery } from '../../../dns/wire/write-query.ts'
import { type Host, ONE_CONNECTION, type UpstreamClient } from '../../contract/host.ts'
import type { Secondary, TransferRule } from './options.ts'

/** Attempts per secondary, and the time-out of each. */
const ATTEMPTS_MAX = 3
const TIMEOUT_MS = 2000

/** Sends NOTIFY messages for one zone at a time, so that many zones share one socket. */
export class Notifier {
  private readonly host: Host
  private readonly clients: readonly { readonly to: string; readonly client: UpstreamClient }[]
  /** Zones with a pending NOTIFY. */
  private readonly waiting = new Map<string, Uint8Array>()
  private isNotifying = false
  private isStopped = false

  /** @throws {Error} if the runtime cannot reach secondaries */
  constructor(host: Host, { secondaries, sourceAddress }: TransferRule) {
    this.host = host
    this.clients = secondaries.map((secondary) => ({
      to: `${secondary.address}:${secondary.port}`,
      client: open(host, secondary, sourceAddress),
    }))
  }

  /** Queues a NOTIFY to all secondaries of a zone. */
  add(zone: Uint8Array): void {
    if (this.clients.length === 0 || this.isStopped) return
    this.waiting.set(nameKey(zone), zone)
    if (this.isNotifying) return
    this.isNotifying = true
    void this.work()
  }

  /** Drops the queue and sends nothing more. */
  stop(): void {
    this.isStopped = true
    this.waiting.clear()
    for (const { client } of this.clients) client.close()
  }

  private async work(): Promise<void> {
    for (const [key, zone] of this.waiting) {
      this.waiting.delete(key)
      await Promise.all(this.clients.map(({ to, client }) => this.notifyOne(zone, to, client)))
    }
    this.isNotifying = false
  }

  private async notifyOne(zone: Uint8Array, to: string, client: UpstreamClient): Promise<void> {
    let reason = ''
    for (let attempt = 0; attempt < ATTEMPTS_MAX && !this.isStopped; attempt++) {
      try {
        const options = { protocol: 'udp', timeoutMs: TIMEOUT_MS } as const
        const reply = await client.exchange(notifyMessage(zone, this.host.random16()), options)
        const rcode = byteAt(reply, 3) & 15
        if (rcode === RCODE.NOERROR) return
        reason = formatRcode(rcode)
      } catch (error) {
        reason = errorText(error)
      }
    }
    if (this.isStopped) return
    const message = 'a secondary did not accept NOTIFY'
    this.host.log({ level: 'warning', message, zone: formatName(zone), to, reason })
  }
}

function open(host: Host, to: Secondary, sourceAddress: string | undefined): UpstreamClient {
  const source = sourceAddress === undefined ? {} : { sourceAddress }
  return host.openUpstream({ transport: 'dns', ...to }, { ...ONE_CONNECTION, ...source })
}

function notifyMessage(zone: Uint8Array, id: number): Uint8Array {
  const flags = (OPCODE.NOTIFY << 11) | FLAG.AA
  return writeQuery({ name: zone, type: TYPE.SOA, id, flags })
}
