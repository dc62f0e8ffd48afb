import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { findZone, fixedZone, formatOffset, localZone } from '../../src/expression/time-zone.ts'
import { type Case, testOutcomes } from './evaluate.ts'

/** As expr-lang 1.17.8 has them, with Go 1.26. */
const CASES: readonly Case[] = [
  ["date('2026-11-21T10:11:12.5+02:00').UTC()", '2026-11-21 08:11:12.5 +0000 UTC'],
  ["date(timezone('Europe/Berlin'), '2026-07-21 01:00:00')", '2026-07-21 01:00:00 +0200 CEST'],
  ["date(timezone('Europe/Berlin'), '2026-07-21 01:00:00').UTC()", '2026-07-20 23:00:00 +0000 UTC'],
  ["timezone('Europe/Berlin')", 'Europe/Berlin'],
  ["timezone('UTC')", 'UTC'],
  ["timezone('UTC').String()", 'UTC'],
  ["date('2026-11-21').In(timezone('America/New_York'))", '2026-11-20 19:00:00 -0500 EST'],
  ["date('2026-11-21').Zone()", 'UTC'],
  ["date('2026-11-21').Local()", '2026-11-21 00:00:00 +0000 UTC'],
  ["date('2026-11-21').Location().String()", 'UTC'],
  ["date('2026-11-21T10:11:12.5+02:00').Location().String()", ''],
  ["date(timezone('America/New_York'), '2026-11-21T10:00:00Z')", '2026-11-21 10:00:00 +0000 UTC'],
  ["date('2026-07-01').In(timezone('Asia/Kolkata'))", '2026-07-01 05:30:00 +0530 IST'],
  ["date('2026-07-01').In(timezone('Europe/London'))", '2026-07-01 01:00:00 +0100 BST'],
  ["date('2026-07-01').In(timezone('Asia/Tokyo')).Hour()", '9'],
  ["date('2026-07-01').In(timezone('America/Sao_Paulo'))", '2026-06-30 21:00:00 -0300 -03'],
  ["timezone('')", 'UTC'],
  ["timezone('Local')", 'Local'],
  ["timezone('No/Where')", 'error: "No/Where" is not a time zone'],
  ["timezone('europe/berlin')", 'error: "europe/berlin" is not a time zone'],
]

describe('zones', () => {
  testOutcomes(CASES)

  test('are not made of offsets', () => {
    assert.equal(findZone('+01:00'), undefined)
  })

  test('have their offset for a name where they have none', () => {
    assert.equal(fixedZone('', -5400, '').shortNameAt(0), '-0130')
    assert.equal(findZone('America/Sao_Paulo')?.shortNameAt(0), '-03')
  })

  test('of the machine are told by that name', () => {
    assert.equal(localZone().name, 'Local')
    assert.equal(localZone().offsetAt(0) + 60 * new Date(0).getTimezoneOffset(), 0)
  })

  const offsets: [offset: number, form: string, text: string][] = [
    [0, 'Z07:00', 'Z'],
    [0, '-07:00', '+00:00'],
    [19_800, '-0700', '+0530'],
    [-3600, '-07', '-01'],
    [3661, '-07:00:00', '+01:01:01'],
    [3661, 'Z070000', '+010101'],
  ]
  for (const [offset, form, text] of offsets) {
    test(`write ${offset} as ${text} by ${form}`, () => {
      assert.equal(formatOffset(offset, form), text)
    })
  }
})
