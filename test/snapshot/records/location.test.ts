import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatHex } from '../../../src/dns/bytes/bytes.ts'
import { findLocationMistake, parseLocation } from '../../../src/snapshot/records/location.ts'

// Checked with the bytes that CoreDNS sends.
describe('the text of a location', () => {
  const cases: readonly [text: string, hex: string][] = [
    ['0 N 0 E 0', '00121613 80000000 80000000 00989680'],
    ['52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m', '00001613 8b3cf018 810cbce0 009895b8'],
    ['33 51 0 s 151 12 30.5 w 19.25', '00121613 78bc9060 5f8ddedc 00989e05'],
    ['90 s 180 w .5m .01m 12.34m 90000000', '00101399 6cb02700 59604e00 009896b2'],
  ]
  for (const [text, hex] of cases) {
    test(`${text} has its bytes`, () => {
      const bytes = parseLocation(text.split(' ')) ?? new Uint8Array(0)
      assert.equal(formatHex(bytes), hex.replaceAll(' ', ''))
    })
  }

  const wrong: readonly [name: string, text: string, field: RegExp][] = [
    ['a latitude over 90°', '90 0 1 N 4 E 0', /^0 the latitude .* "90"/],
    ['a longitude over 180°', '9 N 181 E 0', /^2 the longitude .* "181"/],
    ['sixty minutes', '9 60 N 4 E 0', /^0 the latitude /],
    ['an altitude below all', '9 N 4 E -100000.01', /^4 the altitude .*, expected meters$/],
    ['an altitude above all', '9 N 4 E 42849672.96', /^4 the altitude /],
    ['too imprecise a location', '9 N 4 E 0 90000001', /^5 the size .* "90000001"/],
    ['a side of the other angle', '9 E 4 N 0', /^1 the latitude .* "E"/],
    ['no altitude', '9 N 4 E', /^4 a LOC record lacks its altitude, meters$/],
    ['five lengths', '9 N 4 E 0 1 1 1 1', /^8 a LOC record has "1" after its last field$/],
    // In time that grows with the square of the digits, these would take an hour.
    [
      'a megabyte of digits for an altitude',
      `9 N 4 E ${'1'.repeat(1_000_000)}x`,
      /^4 the altitude .* "1{60}", expected meters$/,
    ],
    [
      'a megabyte of digits for a size',
      `9 N 4 E 0 ${'1'.repeat(1_000_000)}x`,
      /^5 the size .* "1{60}", expected meters$/,
    ],
  ]
  for (const [name, text, field] of wrong) {
    test(`is not ${name}`, () => {
      assert.equal(parseLocation(text.split(' ')), undefined)
      const { index, message } = findLocationMistake(text.split(' '))
      assert.match(`${index} ${message}`, field)
    })
  }
})
