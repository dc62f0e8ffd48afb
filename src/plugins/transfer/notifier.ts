/**
 * Tells secondaries that a zone has changed (RFC 1996).
 * @module
 */
import { byteAt } from '../../bytes/bytes.ts'
import { errorText } from '../../bytes/unknown.ts'
import type { Host, UpstreamClient } from '../../chain/host.ts'
import { formatName, nameKey } from '../../dns/name.ts'
import { FLAG } from '../../dns/query.ts'
import { formatRcode, OPCODE, RCODE } from '../../dns/rcode.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { writeQuery } from '../../dns/write-query.ts'
import type { Secondary, TransferRule } from './options.ts'

/** Attempts to notify a secondary, and the time-out of each. */
const ATTEMPTS_MAX = 3
const TIMEOUT_MS = 2000

/** Tells one after the other, so that many zones at once take no more than one socket. */
export class Notifier {
  private readonly host: Host
  private readonly clients: readonly { readonly to: string; readonly client: UpstreamClient }[]
  /** Zones with a pending NOTIFY, each once. */
  private readonly waiting = new Map<string, Uint8Array>()
  private isTelling = false
  private isStopped = false

  /** @throws {Error} when the runtime cannot reach secondaries */
  constructor(host: Host, { secondaries, sourceAddress }: TransferRule) {
    this.host = host
    this.clients = secondaries.map((secondary) => ({
      to: `${secondary.address}:${secondary.port}`,
      client: open(host, secondary, sourceAddress),
    }))
  }

  /** Tells all secondaries of a zone, soon. */
  add(zone: Uint8Array): void {
    if (this.clients.length === 0 || this.isStopped) return
    this.waiting.set(nameKey(zone), zone)
    if (this.isTelling) return
    this.isTelling = true
    void this.work()
  }

  /** Tells nobody any more. */
  stop(): void {
    this.isStopped = true
    this.waiting.clear()
    for (const { client } of this.clients) client.close()
  }

  private async work(): Promise<void> {
    for (const [key, zone] of this.waiting) {
      this.waiting.delete(key)
      await Promise.all(this.clients.map(({ to, client }) => this.tellOne(zone, to, client)))
    }
    this.isTelling = false
  }

  private async tellOne(zone: Uint8Array, to: string, client: UpstreamClient): Promise<void> {
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
    const message = 'a secondary does not take it that a zone changed'
    this.host.log({ level: 'warning', message, zone: formatName(zone), to, reason })
  }
}

function open(host: Host, to: Secondary, sourceAddress: string | undefined): UpstreamClient {
  return host.openUpstream(
    { transport: 'dns', ...to },
    {
      tls: {},
      expireMs: 0,
      ageMsMax: 0,
      idleMax: 1,
      ...(sourceAddress !== undefined && { sourceAddress }),
      dohMethod: 'POST',
      resolvers: [],
      onConnection: () => undefined,
    },
  )
}

function notifyMessage(zone: Uint8Array, id: number): Uint8Array {
  const flags = (OPCODE.NOTIFY << 11) | FLAG.AA
  return writeQuery({ name: zone, type: TYPE.SOA, id, flags })
}
