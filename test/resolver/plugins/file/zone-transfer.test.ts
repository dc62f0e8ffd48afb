import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { zoneTransfer } from '../../../../src/resolver/plugins/file/serve-zone.ts'
import { formatRecord } from '../../../../src/snapshot/records/zone-text.ts'
import { zoneOf } from './zones.ts'

const SOA = 'example.org. 3600 IN SOA ns.example.org. host.example.org. 7 3600 600 86400 300'
const NS = 'example.org. 3600 IN NS ns.example.org.'

describe('the records of a zone for a transfer', () => {
  const zone = zoneOf(['a A 192.0.2.1', 'a TXT "x"', 'sub NS ns.sub', 'ns.sub A 192.0.2.2'])
  const all = [
    SOA,
    NS,
    'a.example.org. 3600 IN A 192.0.2.1',
    'a.example.org. 3600 IN TXT "x"',
    'sub.example.org. 3600 IN NS ns.sub.example.org.',
    'ns.sub.example.org. 3600 IN A 192.0.2.2',
    SOA,
  ]
  const cases: { name: string; serial?: number; is: string[] }[] = [
    { name: 'begin and end with the SOA record, and have glue', is: all },
    { name: 'are all of them for an older serial', serial: 6, is: all },
    { name: 'are the SOA record alone for the serial itself', serial: 7, is: [SOA] },
    { name: 'are the SOA record alone for a newer serial (RFC 1995 §2)', serial: 8, is: [SOA] },
  ]
  for (const { name, serial, is } of cases) {
    test(name, () => {
      assert.deepEqual(Array.from(zoneTransfer(zone, serial), formatRecord), is)
    })
  }

  test('have the signatures of a signed zone', () => {
    const sig = (type: string): string => `@ RRSIG ${type} 13 2 1 2 1 1 @ AQPS`
    const signed = zoneOf([sig('SOA'), sig('NS'), 'a A 192.0.2.1', 'a RRSIG A 13 3 1 2 1 1 @ AQPS'])
    const types = Array.from(zoneTransfer(signed, undefined), (record) =>
      formatRecord(record).split(' ').slice(3, 5).join(' '),
    )
    assert.deepEqual(types, [
      'SOA ns.example.org.',
      'RRSIG SOA',
      'NS ns.example.org.',
      'RRSIG NS',
      'A 192.0.2.1',
      'RRSIG A',
      'SOA ns.example.org.',
    ])
  })
})
