import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../../src/dns/names/name.ts'
import {
  authorityOf,
  negativeAuthority,
  referral,
} from '../../../../src/resolver/plugins/file/sections.ts'
import { formatRecord } from '../../../../src/snapshot/records/zone-text.ts'
import { zoneOf } from './zones.ts'

const SIG = '13 2 3600 2 1 1 @ AQPS'
const zone = zoneOf([
  `@ RRSIG SOA ${SIG}`,
  `@ RRSIG NS ${SIG}`,
  'safe NS ns.safe',
  'safe DS 1 13 2 00',
  `safe RRSIG DS ${SIG}`,
  'safe NSEC unsafe NS DS',
  'ns.safe A 192.0.2.1',
  'unsafe NS ns.example.net.',
  'unsafe NSEC @ NS',
  `unsafe RRSIG NSEC ${SIG}`,
])
const short = (records: ReturnType<typeof negativeAuthority>): string[] =>
  records.map((record) => formatRecord(record).split(' ').slice(3, 5).join(' '))

function cut(name: string, wantsDnssec: boolean): ReturnType<typeof referral> {
  const node = zone.nodes.get(nameOf(name))
  assert.ok(node)
  return referral(zone, node, wantsDnssec)
}

describe('the authority section', () => {
  test('has the name servers of the zone beside the answer', () => {
    assert.deepEqual(short(authorityOf(zone, false)), ['NS ns.example.org.'])
    assert.deepEqual(short(authorityOf(zone, true)), ['NS ns.example.org.', 'RRSIG NS'])
  })

  test('has the SOA record when there is no answer', () => {
    assert.deepEqual(short(negativeAuthority(zone, false)), ['SOA ns.example.org.'])
    assert.deepEqual(short(negativeAuthority(zone, true)), ['SOA ns.example.org.', 'RRSIG SOA'])
  })
})

describe('a referral', () => {
  test('has the name servers below the cut, and their addresses', () => {
    const { kind, answer, authority, additional } = cut('safe.example.org', false)
    assert.equal(kind, 'referral')
    assert.deepEqual(answer, [])
    assert.deepEqual(short(authority), ['NS ns.safe.example.org.'])
    assert.deepEqual(short(additional), ['A 192.0.2.1'])
  })

  test('has the DS records and their signatures for a client that wants them', () => {
    const { authority } = cut('safe.example.org', true)
    assert.deepEqual(short(authority), ['NS ns.safe.example.org.', 'DS 1', 'RRSIG DS'])
  })

  test('proves that there are none (RFC 4035 §3.1.4)', () => {
    const { authority } = cut('unsafe.example.org', true)
    assert.deepEqual(short(authority), ['NS ns.example.net.', 'NSEC example.org.', 'RRSIG NSEC'])
  })
})
