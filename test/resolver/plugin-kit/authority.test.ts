import assert from 'node:assert/strict'
import { test } from 'vitest'
import { nameOf, parseRelativeName } from '../../../src/dns/names/name.ts'
import { nsRecord, soaRecord } from '../../../src/resolver/plugin-kit/authority.ts'
import { formatRecord } from '../../../src/snapshot/records/zone-text.ts'

const labels = (text: string): Uint8Array => parseRelativeName(text) ?? new Uint8Array()
const AUTHORITY = {
  zone: nameOf('example.org'),
  primary: labels('ns1.dns'),
  mailbox: labels('hostmaster.dns'),
  ttlSeconds: 60,
}

test('an SOA record has the name server and mailbox of a zone', () => {
  assert.equal(
    formatRecord(soaRecord(AUTHORITY, 7)),
    'example.org. 60 IN SOA ns1.dns.example.org. hostmaster.dns.example.org. 7 7200 1800 86400 60',
  )
})

test('an NS record names a server below the zone', () => {
  const line = formatRecord(nsRecord(AUTHORITY, labels('ns2')))
  assert.equal(line, 'example.org. 60 IN NS ns2.example.org.')
})

test('names too long below a zone are the zone itself', () => {
  const zone = nameOf(`${'z'.repeat(63)}.${'z'.repeat(63)}.${'z'.repeat(63)}.${'z'.repeat(55)}`)
  const line = formatRecord(nsRecord({ ...AUTHORITY, zone }, labels('ns1.dns')))
  assert.ok(line.endsWith(` NS ${line.split(' ')[0]}`), line)
})
