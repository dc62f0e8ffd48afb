import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatHex } from '../../../src/dns/bytes/bytes.ts'
import { formatName, nameOf, ROOT } from '../../../src/dns/names/name.ts'
import { formatType, parseType, TYPE } from '../../../src/dns/names/rr-type.ts'
import {
  constantRdata,
  formatRdata,
  formatSignatureTime,
  parseNameBelow,
  parseRdata,
  parseSignatureTime,
} from '../../../src/dns/wire/rdata-text.ts'
import { parseRecord } from '../../parse-record.ts'
import { KNOWN_TYPES, PRIVATE_TYPE, rdataOf } from './arbitraries.ts'
import { hex } from './messages.ts'
import { BAD_RDATA, RDATA } from './rdata-cases.ts'

function wireOf(type: string, text: string): Uint8Array | undefined {
  return parseRecord(`example.org. 300 IN ${type} ${text}`, ROOT)?.rdata
}

describe('constantRdata', () => {
  test('agrees with parseRdata, and throws for invalid rdata', () => {
    assert.deepEqual(
      constantRdata(TYPE.MX, '10 mx.test.'),
      parseRdata(15, ['10', 'mx.test.'], ROOT),
    )
    assert.throws(() => constantRdata(TYPE.A, 'x'), { message: 'Not rdata: "x"' })
  })
})

describe('rdata as text', () => {
  for (const { type, text, wire, written = text } of RDATA) {
    const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text
    test(`${type} ${shown} is read, and written as text again`, () => {
      const rdata = wireOf(type, text)
      assert.equal(rdata && formatHex(rdata), formatHex(hex(wire)))
      assert.equal(formatRdata(parseType(type) ?? 0, hex(wire)), written)
    })
  }

  for (const { name, type, text } of BAD_RDATA) {
    test(`${type} refuses ${name}`, () => {
      assert.equal(wireOf(type, text), undefined)
    })
  }

  for (const type of [...KNOWN_TYPES, PRIVATE_TYPE]) {
    test(`${formatType(type)} is read back from what is written, whatever it holds`, () => {
      fc.assert(
        fc.property(rdataOf(type), (rdata) => {
          const text = formatRdata(type, rdata)
          assert.match(text, /^[\x20-\x7e]*$/)
          assert.deepEqual(wireOf(formatType(type), text), rdata)
        }),
        { numRuns: 50 },
      )
    })
  }

  test('writes rdata that does not fit its type as bytes', () => {
    assert.equal(formatRdata(TYPE.A, hex('c00002')), '\\# 3 c00002')
    assert.equal(formatRdata(TYPE.MX, hex('000ac000')), '\\# 4 000ac000')
    assert.equal(formatRdata(TYPE.PX, hex('0001c000c001')), '\\# 6 0001c000c001')
    assert.equal(formatRdata(TYPE.TXT, hex('')), '\\# 0')
  })

  test('never throws, and writes only printable ASCII, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.constantFrom(...KNOWN_TYPES), fc.uint8Array(), (type, rdata) => {
        assert.match(formatRdata(type, rdata), /^[\x20-\x7e]*$/)
      }),
      { numRuns: 2000 },
    )
  })

  test('never throws on words', () => {
    const word = fc.string({ unit: fc.constantFrom('a', '1', '.', '\\', '"', '#', ' ', '-', ':') })
    const words = fc.array(fc.oneof(word, fc.constantFrom('\\#', '0', '1', 'a.')))
    fc.assert(
      fc.property(fc.constantFrom(...KNOWN_TYPES), words, (type, some) => {
        const rdata = parseRdata(type, some, ROOT)
        if (rdata !== undefined) formatRdata(type, rdata)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('parseNameBelow', () => {
  const cases: { name: string; text: string; is: string | undefined }[] = [
    { name: 'takes a name with a final dot as it is', text: 'a.b.', is: 'a.b.' },
    { name: 'takes the root', text: '.', is: '.' },
    { name: 'puts other names below the origin', text: 'a.b', is: 'a.b.example.org.' },
    { name: 'takes @ for the origin', text: '@', is: 'example.org.' },
    { name: 'takes \\@ for a label', text: '\\@', is: '\\@.example.org.' },
    { name: 'does not take \\. for a final dot', text: 'a\\.', is: 'a\\..example.org.' },
    { name: 'takes the dot after \\\\ for a final dot', text: 'a\\\\.', is: 'a\\\\.' },
    { name: 'refuses empty text', text: '', is: undefined },
    { name: 'refuses two final dots', text: 'a..', is: undefined },
    {
      name: 'refuses what is over 255 bytes with the origin',
      text: [63, 63, 63, 51].map((n) => 'a'.repeat(n)).join('.'),
      is: undefined,
    },
  ]
  for (const { name, text, is } of cases) {
    test(name, () => {
      const found = parseNameBelow(text, nameOf('example.org'))
      assert.equal(found && formatName(found), is)
    })
  }
})

describe('times of signatures', () => {
  const cases: { text: string; seconds: number | undefined }[] = [
    { text: '20030322173103', seconds: 1_048_354_263 },
    { text: '19700101000000', seconds: 0 },
    { text: '20240229235959', seconds: 1_709_251_199 },
    { text: '21060207062816', seconds: 0 },
    { text: '1048354263', seconds: 1_048_354_263 },
    { text: '0', seconds: 0 },
    { text: '4294967296', seconds: undefined },
    { text: '20230229000000', seconds: undefined },
    { text: '20241301000000', seconds: undefined },
    { text: '20240101240000', seconds: undefined },
    { text: '19691231235959', seconds: undefined },
    { text: '2024010100000', seconds: undefined },
    { text: '', seconds: undefined },
    { text: '2024-01-01', seconds: undefined },
  ]
  for (const { text, seconds } of cases) {
    test(`"${text}" is ${seconds ?? 'none'}`, () => {
      assert.equal(parseSignatureTime(text), seconds)
    })
  }

  test('are read back as they were written', () => {
    fc.assert(
      fc.property(fc.nat(0xffffffff), (seconds) => {
        const text = formatSignatureTime(seconds)
        assert.match(text, /^\d{14}$/)
        assert.equal(parseSignatureTime(text), seconds)
      }),
    )
  })
})
