import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatHex } from '../../../src/dns/bytes/bytes.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import {
  bitmapTypes,
  isTypeBitmap,
  parseTypeBitmap,
  typeBitmap,
} from '../../../src/dns/rdata/type-bitmap.ts'
import { hex } from '../wire/messages.ts'

describe('typeBitmap', () => {
  test('writes the example of RFC 4034 §4.3', () => {
    const { A, MX, RRSIG, NSEC } = TYPE
    const wire = `0006 400100000003 041b ${'00'.repeat(26)}20`
    assert.equal(formatHex(typeBitmap([1234, NSEC, A, MX, RRSIG, A])), formatHex(hex(wire)))
  })

  test('writes no bytes for no types', () => {
    assert.equal(typeBitmap([]).length, 0)
  })

  test('is read back, each type once and in order', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(65535)), (types) => {
        const bitmap = typeBitmap(types)
        assert.ok(isTypeBitmap(bitmap))
        assert.deepEqual(
          bitmapTypes(bitmap),
          [...new Set(types)].sort((a, b) => a - b),
        )
      }),
    )
  })
})

describe('isTypeBitmap', () => {
  const cases: { name: string; wire: string; is: boolean }[] = [
    { name: 'takes no bytes', wire: '', is: true },
    { name: 'takes one window', wire: '0001 40', is: true },
    { name: 'takes windows that rise', wire: '0001 40 0102 0001', is: true },
    { name: 'refuses a window twice', wire: '0001 40 0001 40', is: false },
    { name: 'refuses windows that fall', wire: '0101 40 0001 40', is: false },
    { name: 'refuses a window without bytes', wire: '0000', is: false },
    { name: 'refuses a window of 33 bytes', wire: `0021 ${'01'.repeat(33)}`, is: false },
    { name: 'refuses a window that overruns', wire: '0002 40', is: false },
    { name: 'refuses half a window', wire: '00', is: false },
  ]
  for (const { name, wire, is } of cases) {
    test(name, () => {
      assert.equal(isTypeBitmap(hex(wire)), is)
    })
  }
})

describe('parseTypeBitmap', () => {
  test('takes mnemonics and numbers', () => {
    assert.deepEqual(parseTypeBitmap(['mx', 'TYPE1']), typeBitmap([TYPE.A, TYPE.MX]))
  })

  test('rejects unknown types', () => {
    assert.equal(parseTypeBitmap(['A', 'nothing']), undefined)
  })
})
