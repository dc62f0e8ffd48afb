import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import { constantRdata } from '../../../src/dns/wire/rdata-text.ts'
import { isSerialAfter, soaSerial, soaTimes } from '../../../src/dns/wire/soa.ts'

const RDATA = constantRdata(TYPE.SOA, 'a.b.c. d.e. 4294967295 2 3 4 5')

describe('an SOA record', () => {
  test('has a serial', () => {
    assert.equal(soaSerial(RDATA), 4_294_967_295)
  })

  test('has times', () => {
    assert.deepEqual(soaTimes(RDATA), {
      refreshSeconds: 2,
      retrySeconds: 3,
      expireSeconds: 4,
    })
  })
})

describe('serials', () => {
  const cases: { serial: number; other: number; is: boolean }[] = [
    { serial: 2, other: 1, is: true },
    { serial: 1, other: 2, is: false },
    { serial: 1, other: 1, is: false },
    { serial: 0, other: 4_294_967_295, is: true },
    { serial: 4_294_967_295, other: 0, is: false },
    { serial: 2_147_483_647, other: 0, is: true },
    { serial: 2_147_483_648, other: 0, is: false },
    { serial: 0, other: 2_147_483_648, is: false },
  ]
  for (const { serial, other, is } of cases) {
    test(`${serial} ${is ? 'comes' : 'does not come'} after ${other}`, () => {
      assert.equal(isSerialAfter(serial, other), is)
    })
  }

  test('never come after each other', () => {
    fc.assert(
      fc.property(fc.nat(0xffffffff), fc.nat(0xffffffff), (a, b) => {
        assert.ok(!(isSerialAfter(a, b) && isSerialAfter(b, a)))
      }),
    )
  })
})
