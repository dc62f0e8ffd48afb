import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  bytes,
  child,
  children,
  MessageReader,
  message,
  number,
  readFlag,
  text,
  textMap,
  texts,
} from '../../../src/cluster/api/protobuf-reader.ts'
import { protobufMessage } from '../follow/protobuf.ts'

const POINT = message({ 1: number('x') })
const EVERYTHING = message({
  1: text('text'),
  2: number('number'),
  3: readFlag('flag'),
  4: bytes('bytes'),
  5: child('child', POINT),
  6: children('children', POINT),
  7: texts('texts'),
  8: textMap('map'),
})

function read(body: Buffer, end = body.length): unknown {
  return EVERYTHING(new MessageReader(body), end)
}

describe('message', () => {
  const cases: { name: string; body: Buffer; value: unknown }[] = [
    { name: 'nothing', body: Buffer.alloc(0), value: {} },
    {
      name: 'a text',
      body: protobufMessage([1, 'größer als elf']),
      value: { text: 'größer als elf' },
    },
    { name: 'an empty text, left out', body: protobufMessage([1, '']), value: {} },
    { name: 'a number of two bytes', body: protobufMessage([2, 300]), value: { number: 300 } },
    { name: 'the number 0, left out', body: protobufMessage([2, 0]), value: {} },
    {
      name: 'a negative number',
      body: Buffer.from([0x10, ...new Uint8Array(9).fill(0xff), 1]),
      value: { number: -1 },
    },
    { name: 'a flag that is false', body: protobufMessage([3, 0]), value: { flag: false } },
    {
      name: 'where bytes are',
      body: protobufMessage([4, 'abc']),
      value: { bytes: { start: 2, end: 5 } },
    },
    {
      name: 'an inner message',
      body: protobufMessage([5, protobufMessage([1, 7])]),
      value: { child: { x: 7 } },
    },
    {
      name: 'lists',
      body: protobufMessage([6, protobufMessage([1, 7])], [6, ''], [7, 'a'], [7, '']),
      value: { children: [{ x: 7 }, {}], texts: ['a', ''] },
    },
    {
      name: 'a map, with an empty value and a name that objects have',
      body: protobufMessage(
        [8, protobufMessage([1, 'a'], [2, 'b'])],
        [8, protobufMessage([1, 'toString'])],
      ),
      value: { map: { a: 'b', toString: '' } },
    },
    {
      name: 'none of the fields that are not described',
      body: Buffer.concat([
        protobufMessage([20, 1], [21, 'skipped']),
        // Field 22 of 8 bytes, field 23 of 4 bytes.
        Buffer.from([0xb1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 0xbd, 1, 1, 2, 3, 4]),
        protobufMessage([1, 'read']),
      ]),
      value: { text: 'read' },
    },
  ]
  for (const { name, body, value } of cases) {
    test(`reads ${name}`, () => assert.deepEqual(read(body), value))
  }

  const whole = protobufMessage([1, 'abc'], [5, protobufMessage([1, 300])])
  const longer = { name: 'RangeError', message: 'a field is longer than its message' }
  const invalid: { name: string; body: Buffer; end?: number }[] = [
    { name: 'a text that is cut off', body: whole.subarray(0, 4) },
    { name: 'a text over the end of its message', body: whole, end: 4 },
    { name: 'an inner message that is cut off', body: whole.subarray(0, -1) },
    // The number takes two bytes where the inner message has one.
    { name: 'a number over the end of an inner message', body: Buffer.from([42, 2, 8, 0xff, 1]) },
    { name: 'an unknown field over the end', body: Buffer.from([0x7a, 9, 1]) },
  ]
  for (const { name, body, end } of invalid) {
    test(`refuses ${name}`, () => assert.throws(() => read(body, end), longer))
  }
})
