/**
 * The message of a recorded question.
 * @module
 */
import { concatBytes, parseHex, writeUint16 } from '../../src/dns/bytes/bytes.ts'
import { HEADER_BYTES } from '../../src/dns/names/limits.ts'
import { nameOf } from '../../src/dns/names/name.ts'
import { OPCODE } from '../../src/dns/names/rcode.ts'
import { CLASS, parseClass } from '../../src/dns/names/rr-class.ts'
import { parseType, TYPE } from '../../src/dns/names/rr-type.ts'
import { FLAG } from '../../src/dns/wire/query.ts'
import { writeQuery } from '../../src/dns/wire/write-query.ts'
import type { Case } from './scenario.ts'

/**
 * Writes a case's message with an ID. @throws {TypeError} when the case names what we do not
 * know
 */
export function caseQuery(recorded: Case, id: number): Uint8Array {
  if (recorded.raw !== undefined) return rawQuery(recorded.raw, id)
  const type = parseType(recorded.qtype)
  if (type === undefined) throw new TypeError(`${recorded.id}: unknown type ${recorded.qtype}`)
  const { rd = true, ad = false, cd = false, edns } = recorded
  const flags = (rd ? FLAG.RD : 0) | (ad ? FLAG.AD : 0) | (cd ? FLAG.CD : 0)
  const message = writeQuery({
    id,
    name: nameOf(recorded.qname),
    type,
    class: parseClass(recorded.qclass ?? 'IN') ?? CLASS.IN,
    flags: flags | (opcodeOf(recorded) << 11),
    ...(edns && {
      udpBytes: edns.size,
      wantsDnssec: edns.do,
      options: (edns.options ?? []).map(({ code, data = '' }) => ({
        code,
        data: parseHex(data) ?? new Uint8Array(),
      })),
    }),
  })
  if (edns?.version !== undefined) message[message.length - optBytes(recorded) + 6] = edns.version
  return type === TYPE.IXFR ? withSoa(message, recorded) : message
}

/** Puts the SOA record of the zone that the client has behind the question (RFC 1995 §3). */
function withSoa(message: Uint8Array, { qname, serial = 1 }: Case): Uint8Array {
  const questionEnd = HEADER_BYTES + nameOf(qname).length + 4
  const soa = new Uint8Array(2 + 10 + 22)
  writeUint16(soa, 0, 0xc000 | HEADER_BYTES)
  writeUint16(soa, 2, TYPE.SOA)
  writeUint16(soa, 4, CLASS.IN)
  writeUint16(soa, 10, 22)
  new DataView(soa.buffer).setUint32(14, serial)
  writeUint16(message, 8, 1)
  return concatBytes(message.subarray(0, questionEnd), soa, message.subarray(questionEnd))
}

function opcodeOf({ opcode = 'QUERY' }: Case): number {
  const known: Readonly<Record<string, number>> = OPCODE
  return known[opcode] ?? Number(opcode)
}

/** Bytes of the OPT record at the end of the message. */
function optBytes({ edns }: Case): number {
  const options = edns?.options ?? []
  return 11 + options.reduce((sum, { data = '' }) => sum + 4 + data.length / 2, 0)
}

function rawQuery(hex: string, id: number): Uint8Array {
  const message = concatBytes(parseHex(hex) ?? new Uint8Array())
  if (message.length >= 2) writeUint16(message, 0, id)
  return message
}
