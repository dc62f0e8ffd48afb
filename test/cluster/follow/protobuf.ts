/**
 * Writes objects as the API server encodes them by Protocol Buffers.
 * @module
 */

/** A field of a message: its number, and a number, a text or the bytes of a message. */
export type ProtobufField = readonly [number: number, value: number | string | Buffer]

/** Writes a message. */
export function protobufMessage(...fields: readonly ProtobufField[]): Buffer {
  const parts = fields.flatMap(([number, value]) => {
    if (typeof value === 'number') return [varint(8 * number), varint(value)]
    const bytes = Buffer.from(value)
    return [varint(8 * number + 2), varint(bytes.length), bytes]
  })
  return Buffer.concat(parts)
}

/** Writes an object with its envelope; `type` is its version and kind, such as `v1 Service`. */
export function protobufObject(type: string, ...fields: readonly ProtobufField[]): Buffer {
  const [apiVersion = '', kind = ''] = type.split(' ')
  const meta = protobufMessage([1, apiVersion], [2, kind])
  const envelope = protobufMessage([1, meta], [2, protobufMessage(...fields)], [3, ''], [4, ''])
  return Buffer.concat([Buffer.from('k8s\0'), envelope])
}

/** Writes an event of a watch. */
export function protobufEvent(type: string, object: Buffer): Buffer {
  return protobufMessage([1, type], [2, protobufMessage([1, object])])
}

/** Writes a frame of a stream. */
export function protobufFrame(message: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(message.length)
  return Buffer.concat([length, message])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return Buffer.from([...bytes, rest])
}
