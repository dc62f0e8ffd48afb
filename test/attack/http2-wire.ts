/**
 * HTTP/2 frames as bytes (RFC 9113 §4.1, §6), so that attacks can send anything. Header blocks use
 * neither Huffman codes nor the dynamic table (RFC 7541 §6.2.2).
 * @module
 */

/** Frame types and flags (RFC 9113 §6). */
export const FRAME = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const
export const FLAG = { END_STREAM: 1, END_HEADERS: 4 } as const

/** A header field. */
export type Field = readonly [name: string, value: string]

/** Returns a frame. */
export function frame(type: number, flags: number, id: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(id, 5)
  return Buffer.concat([head, payload])
}

/** Returns the connection preface and SETTINGS of a client. */
export function preface(...settings: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(6 * settings.length)
  settings.forEach(([id, value], i) => {
    payload.writeUInt16BE(id, 6 * i)
    payload.writeUInt32BE(value, 6 * i + 2)
  })
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(FRAME.SETTINGS, 0, 0, payload),
  ])
}

/** Returns a header block of literals. */
export function block(fields: readonly Field[]): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]))
}

/** Returns a number as 32 bits. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}

/** Returns a string of a header block (RFC 7541 §5.2). */
export function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1')
  if (bytes.length < 127) return Buffer.concat([Buffer.of(bytes.length), bytes])
  const size = [127]
  let left = bytes.length - 127
  for (; left >= 128; left >>>= 7) size.push((left & 127) | 128)
  return Buffer.concat([Buffer.from([...size, left]), bytes])
}
