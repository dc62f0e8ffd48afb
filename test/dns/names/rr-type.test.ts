import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatType, parseType, TYPE } from '../../../src/dns/names/rr-type.ts'
import { typeNumber } from '../wire/oracle.ts'

/** Numbers that the oracle does not know, from IANA's list of types. */
const ASSIGNED: Readonly<Record<string, number>> = {
  MD: 3,
  MF: 4,
  MB: 7,
  MG: 8,
  MR: 9,
  WKS: 11,
  MINFO: 14,
  X25: 19,
  ISDN: 20,
  RT: 21,
  'NSAP-PTR': 23,
  PX: 26,
  GPOS: 27,
  NXT: 30,
  EID: 31,
  NIMLOC: 32,
  ATMA: 34,
  SMIMEA: 53,
  NINFO: 56,
  RKEY: 57,
  TALINK: 58,
  OPENPGPKEY: 61,
  CSYNC: 62,
  ZONEMD: 63,
  SVCB: 64,
  HTTPS: 65,
  UINFO: 100,
  UID: 101,
  GID: 102,
  UNSPEC: 103,
  NID: 104,
  L32: 105,
  L64: 106,
  LP: 107,
  EUI48: 108,
  EUI64: 109,
  NXNAME: 128,
  MAILB: 253,
  MAILA: 254,
  URI: 256,
  AVC: 258,
  AMTRELAY: 260,
  RESINFO: 261,
}

describe('TYPE', () => {
  for (const [mnemonic, value] of Object.entries(TYPE)) {
    test(`${mnemonic} has its number`, () => {
      assert.equal(value, ASSIGNED[mnemonic] ?? typeNumber(mnemonic))
    })
  }
})

describe('parseType', () => {
  const cases: { name: string; text: string; type: number | undefined }[] = [
    { name: 'takes a mnemonic', text: 'AAAA', type: 28 },
    { name: 'takes a mnemonic of any letter case', text: 'hTTps', type: 65 },
    { name: 'takes TYPEnnn for a known type', text: 'TYPE1', type: 1 },
    { name: 'takes TYPEnnn for an unknown type', text: 'type65280', type: 65280 },
    { name: 'takes the greatest', text: 'TYPE65535', type: 65535 },
    { name: 'refuses a greater one', text: 'TYPE65536', type: undefined },
    { name: 'refuses six digits', text: 'TYPE000001', type: undefined },
    { name: 'refuses empty text', text: '', type: undefined },
    { name: 'refuses TYPE alone', text: 'TYPE', type: undefined },
    { name: 'refuses a sign', text: 'TYPE-1', type: undefined },
    { name: 'refuses an exponent', text: 'TYPE1e1', type: undefined },
    { name: 'refuses a number alone', text: '1', type: undefined },
    { name: 'refuses a blank after it', text: 'A ', type: undefined },
    { name: 'refuses a mnemonic that is unassigned', text: 'AAAAA', type: undefined },
  ]
  for (const { name, text, type } of cases) {
    test(name, () => {
      assert.equal(parseType(text), type)
    })
  }

  for (const text of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    test(`refuses ${text}, which every object has`, () => {
      assert.equal(parseType(text), undefined)
    })
  }

  test('parses what formatType writes', () => {
    fc.assert(
      fc.property(fc.nat(65535), (type) => {
        assert.equal(parseType(formatType(type)), type)
      }),
    )
  })
})

describe('formatType', () => {
  test('writes the mnemonic, or TYPE and the number (RFC 3597 §5)', () => {
    assert.deepEqual([1, 255, 65, 0, 65535].map(formatType), [
      'A',
      'ANY',
      'HTTPS',
      'TYPE0',
      'TYPE65535',
    ])
  })
})
