/**
 * DNS messages of the suites, encoded with dns-packet: they share no code with the product.
 * @module
 */
import packet from 'dns-packet'

/** A query; type A and class IN by default. */
export type Asked = {
  readonly id?: number
  readonly name: string
  readonly type?: 'A' | 'AAAA' | 'TXT' | 'SRV'
  /** UDP size in an OPT record (default: no OPT record). */
  readonly udpBytes?: number
}

/** Returns the bytes of a query over UDP. */
export function query({ id = 1, name, type = 'A', udpBytes }: Asked): Buffer {
  const additionals: packet.OptAnswer[] = []
  if (udpBytes !== undefined) {
    const flags = { extendedRcode: 0, ednsVersion: 0, flags: 0, flag_do: false, options: [] }
    additionals.push({ type: 'OPT', name: '.', udpPayloadSize: udpBytes, ...flags })
  }
  const flags = packet.RECURSION_DESIRED
  return packet.encode({ type: 'query', id, flags, questions: [{ type, name }], additionals })
}

/** Puts the two-byte length of TCP in front of a message (RFC 1035 §4.2.2). */
export function frame(message: Buffer): Buffer {
  const size = Buffer.alloc(2)
  size.writeUInt16BE(message.length)
  return Buffer.concat([size, message])
}

/** Returns `count` framed copies of a message, each with its own ID. */
export function pipeline(message: Buffer, count: number): Buffer {
  const framed = frame(message)
  const all = Buffer.alloc(framed.length * count)
  for (let i = 0; i < count; i++) {
    framed.copy(all, i * framed.length)
    all.writeUInt16BE(i & 0xffff, i * framed.length + 2)
  }
  return all
}

/** Returns why a response is not NOERROR with answers to a query; `undefined` when it is. */
export function faultOf(response: Buffer, asked: Buffer): string | undefined {
  if (response.length < 12) return `${response.length} bytes`
  if (response.readUInt16BE(0) !== asked.readUInt16BE(0)) return 'wrong ID'
  const rcode = response.readUInt8(3) & 0xf
  if (rcode !== 0) return `rcode ${rcode}`
  return response.readUInt16BE(6) === 0 ? 'no records' : undefined
}
