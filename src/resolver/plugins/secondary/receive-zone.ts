/**
 * Receives zones by transfer from a primary (AXFR, RFC 5936).
 * @module
 */
import { inSlices, type Turns } from '../../../dns/bytes/steps.ts'
import { equalNames, formatName } from '../../../dns/names/name.ts'
import { formatRcode, RCODE } from '../../../dns/names/rcode.ts'
import { formatType, TYPE } from '../../../dns/names/rr-type.ts'
import { parseResponse, type ResourceRecord, type Response } from '../../../dns/wire/message.ts'
import { soaSerial } from '../../../dns/wire/soa.ts'
import { writeQuery } from '../../../dns/wire/write-query.ts'
import type { Host } from '../../contract/host.ts'
import { ZoneBuilder, type ZoneData } from '../file/zone-data.ts'

/** The address and port of a primary. */
export type Primary = { readonly address: string; readonly port: number }

/** A transfer failed. */
export class TransferError extends Error {
  override readonly name = 'TransferError'
}

/** Bounds of one transfer. */
const RECORDS_MAX = 4_000_000
const BYTES_MAX = 512 * 1024 * 1024
/** Time limit for each message. */
const TIMEOUT_MS = 10_000

/** Receives a zone. @throws {Error} with the reason if the transfer fails */
export async function receiveZone(
  host: SecondaryHost,
  origin: Uint8Array,
  primary: Primary,
): Promise<ZoneData> {
  const id = host.random16()
  const query = writeQuery({ name: origin, type: TYPE.AXFR, id, flags: 0 })
  const zone = new ReceivedZone(origin)
  let bytes = 0
  for await (const message of host.openTransfer(primary, query, TIMEOUT_MS)) {
    bytes += message.length
    if (bytes > BYTES_MAX) throw new TransferError(`the zone is over ${BYTES_MAX} bytes`)
    if (zone.take(readMessage(message, id))) return zone.finish(host)
  }
  throw new TransferError('the transfer is incomplete')
}

class ReceivedZone {
  private readonly origin: Uint8Array
  private readonly builder: ZoneBuilder
  private serial: number | undefined
  private count = 0

  constructor(origin: Uint8Array) {
    this.origin = origin
    this.builder = new ZoneBuilder(origin)
  }

  /** Adds the records of a message. @returns whether they end the transfer */
  take(records: readonly ResourceRecord[]): boolean {
    for (const record of records) {
      if (++this.count > RECORDS_MAX) throw new TransferError(`over ${RECORDS_MAX} records`)
      const isSoa = record.type === TYPE.SOA && equalNames(record.owner, this.origin)
      if (this.serial === undefined && !isSoa) {
        throw new TransferError('the transfer does not begin with the SOA record')
      }
      if (isSoa && this.serial !== undefined) {
        if (soaSerial(record.rdata) === this.serial) return true
        throw new TransferError('the zone changed during the transfer')
      }
      if (isSoa) this.serial = soaSerial(record.rdata)
      if (record.type === TYPE.NSEC3 || record.type === TYPE.NSEC3PARAM) throw unsupported(record)
      this.builder.add(record)
    }
    return false
  }

  /** Returns the zone. */
  async finish(turns: Turns): Promise<ZoneData> {
    const zone = await inSlices(this.builder.finish(), turns)
    if (zone === undefined) throw new TypeError('a transfer begins with an SOA record')
    return zone
  }
}

function readMessage(message: Uint8Array, id: number): readonly ResourceRecord[] {
  const response: Response | undefined = parseResponse(message)
  if (response === undefined) throw new TransferError('a message of the transfer is malformed')
  if (response.id !== id) throw new TransferError('a message of the transfer has a wrong ID')
  if (response.rcode === RCODE.NOERROR) return response.answer
  throw new TransferError(`the primary responded with ${formatRcode(response.rcode)}`)
}

function unsupported({ type, owner }: ResourceRecord): TransferError {
  const text = `a ${formatType(type)} record at "${formatName(owner)}"`
  return new TransferError(`${text}: zones are signed with NSEC records only`)
}

/** A host that receives zone transfers. */
export type SecondaryHost = Host & {
  /**
   * Sends a query over TCP on a new connection and yields all messages of the response, until the
   * server closes the connection or the caller stops.
   * @throws {Error} when no message arrives for `timeoutMs`
   */
  readonly openTransfer: (
    server: { readonly address: string; readonly port: number },
    query: Uint8Array,
    timeoutMs: number,
  ) => AsyncIterable<Uint8Array>
}
