import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  GRPC_BYTES_MAX,
  GRPC_STATUS,
  readGrpcMessage,
  writeGrpcMessage,
} from '../../../src/dns/wire/grpc-message.ts'

const { INTERNAL, RESOURCE_EXHAUSTED, UNIMPLEMENTED } = GRPC_STATUS

/** Bytes of a packet after the prefix for as many. */
function framed(...packet: readonly number[]): Uint8Array {
  return Uint8Array.of(0, 0, 0, 0, packet.length, ...packet)
}

describe('a message of gRPC', () => {
  for (const size of [0, 1, 12, 127, 128, 16_383, 16_384, 65_535]) {
    test(`has a DNS message of ${size} bytes`, () => {
      const message = new Uint8Array(size).fill(7)
      const written = writeGrpcMessage(message)
      assert.deepEqual(readGrpcMessage(written), message)
      assert.ok(written.length <= GRPC_BYTES_MAX)
    })
  }

  test('is written as CoreDNS writes it', () => {
    assert.deepEqual([...writeGrpcMessage(Uint8Array.of(8, 9))], [0, 0, 0, 0, 4, 0x0a, 2, 8, 9])
  })

  for (const { name, bytes, message } of [
    { name: 'no field', bytes: framed(), message: [] },
    { name: 'the field twice', bytes: framed(0x0a, 1, 1, 0x0a, 1, 2), message: [2] },
    { name: 'a number beside it', bytes: framed(0x10, 0x96, 0x01, 0x0a, 1, 5), message: [5] },
    { name: 'words beside it', bytes: framed(0x0a, 1, 5, 0x15, 1, 2, 3, 4), message: [5] },
    {
      name: 'long words beside it',
      bytes: framed(0x11, 1, 2, 3, 4, 5, 6, 7, 8, 0x0a, 1, 5),
      message: [5],
    },
    { name: 'other bytes beside it', bytes: framed(0x12, 2, 1, 1, 0x0a, 1, 5), message: [5] },
  ]) {
    test(`may have ${name}`, () => {
      assert.deepEqual(readGrpcMessage(bytes), Uint8Array.from(message))
    })
  }

  const tooLong = Uint8Array.of(0, 0, 1, 0, 4, 0x0a)
  for (const { name, bytes, status } of [
    { name: 'nothing', bytes: new Uint8Array(0), status: INTERNAL },
    { name: 'a cut prefix', bytes: new Uint8Array(4), status: INTERNAL },
    { name: 'a size over the largest', bytes: tooLong, status: RESOURCE_EXHAUSTED },
    {
      name: 'a size of four billion',
      bytes: Uint8Array.of(0, 255, 255, 255, 255),
      status: RESOURCE_EXHAUSTED,
    },
    { name: 'a compressed one', bytes: Uint8Array.of(1, 0, 0, 0, 0), status: UNIMPLEMENTED },
    { name: 'a cut one', bytes: Uint8Array.of(0, 0, 0, 0, 3, 0x0a, 1), status: INTERNAL },
    { name: 'two', bytes: Uint8Array.of(...framed(), ...framed()), status: INTERNAL },
    { name: 'a field longer than it', bytes: framed(0x0a, 9, 1), status: INTERNAL },
    { name: 'a field without its size', bytes: framed(0x0a), status: INTERNAL },
    { name: 'a number without an end', bytes: framed(0x10, 0x80), status: INTERNAL },
    {
      name: 'a size of eleven bytes',
      bytes: framed(0x0a, ...Array.from({ length: 11 }, () => 0x80), 0),
      status: INTERNAL,
    },
    { name: 'a cut word', bytes: framed(0x15, 1), status: INTERNAL },
    { name: 'field 0', bytes: framed(0x02, 0), status: INTERNAL },
    { name: 'a group', bytes: framed(0x0b, 0x0c), status: INTERNAL },
  ]) {
    test(`is refused: ${name}`, () => {
      const read = readGrpcMessage(bytes)
      assert.ok(!(read instanceof Uint8Array))
      assert.equal(read.status, status)
    })
  }
})
