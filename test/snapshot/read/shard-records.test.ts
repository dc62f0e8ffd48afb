import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { nameOf } from '../../../src/dns/names/name.ts'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import { shardRecords } from '../../../src/snapshot/read/shard-records.ts'
import type { ZoneEntry } from '../../../src/snapshot/records/zone-entry.ts'
import { formatRecord } from '../../../src/snapshot/records/zone-text.ts'
import { buildShard } from '../../../src/snapshot/write/build-shards.ts'
import { parseRecord } from '../../parse-record.ts'
import { existingName, ORIGIN, pointer, rrset, zoneEntry } from '../entries.ts'
import { SecondReader } from '../second-reader.ts'

function linesOf(entries: readonly ZoneEntry[], origin = ORIGIN): string[] {
  return [...shardRecords(openShard(buildShard(entries).bytes), origin)].map(formatRecord)
}

describe('shardRecords', () => {
  const sets: { name: string; lines: string; more?: readonly ZoneEntry[] }[] = [
    { name: 'addresses', lines: 'x.cluster.local. 5 IN A 192.0.2.1' },
    { name: 'IPv6 addresses', lines: 'x.cluster.local. 5 IN AAAA 2001:db8::1' },
    {
      name: 'SRV records with targets of the shard',
      lines: `x.cluster.local. 5 IN SRV 0 50 80 a.cluster.local.
              x.cluster.local. 5 IN SRV 1 50 443 a.b.cluster.local.`,
      more: [existingName('a'), existingName('a.b')],
    },
    {
      name: 'SRV records with targets elsewhere',
      lines: `x.cluster.local. 5 IN SRV 0 50 80 a.cluster.local.
              x.cluster.local. 5 IN SRV 0 50 80 www.example.org.`,
    },
    { name: 'the origin as a name', lines: 'x.cluster.local. 5 IN MX 10 cluster.local.' },
    { name: 'the origin as an owner', lines: 'cluster.local. 5 IN NS ns.dns.cluster.local.' },
    {
      name: 'records of several parts',
      lines: `x.cluster.local. 5 IN TXT "one" "two"
              x.cluster.local. 5 IN TXT "three"`,
    },
  ]
  for (const { name, lines, more = [] } of sets) {
    test(`lists ${name}`, () => {
      assert.deepEqual(
        linesOf([rrset(lines), ...more]),
        lines.split('\n').map((line) => line.trim()),
      )
    })
  }

  test('lists the pointers of both families after the names', () => {
    const six = [0x20, 1, 0xd, 0xb8, ...Array<number>(11).fill(0), 1]
    const lines = linesOf([
      pointer(six, 'b'),
      pointer([192, 0, 2, 1], 'b', { ttlSeconds: 9 }),
      pointer([192, 0, 2, 1], 'a', { ttlSeconds: 9 }),
      rrset('a 5 IN A 192.0.2.1'),
    ])
    assert.deepEqual(lines, [
      'a.cluster.local. 5 IN A 192.0.2.1',
      '1.2.0.192.in-addr.arpa. 9 IN PTR a.cluster.local.',
      '1.2.0.192.in-addr.arpa. 9 IN PTR b.cluster.local.',
      `1.${'0.'.repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa. 5 IN PTR b.cluster.local.`,
    ])
  })

  test('joins names to the given origin', () => {
    const entries = [rrset('x 5 IN CNAME a'), rrset('y 5 IN SRV 0 1 2 x')]
    assert.deepEqual(linesOf(entries, nameOf('example.org')), [
      'x.example.org. 5 IN CNAME a.example.org.',
      'y.example.org. 5 IN SRV 0 1 2 x.example.org.',
    ])
  })

  test('lists nothing of names without records', () => {
    assert.deepEqual(linesOf([existingName('a.b'), existingName('c')]), [])
  })

  test('agrees with the second reader', () => {
    fc.assert(
      fc.property(fc.array(zoneEntry(), { maxLength: 15 }), (entries) => {
        const others = new SecondReader(buildShard(entries).bytes, 'cluster.local').records()
        const records = others.map((line) => parseRecord(line, ORIGIN) ?? assert.fail(line))
        assert.deepEqual(linesOf(entries), records.map(formatRecord))
      }),
    )
  })
})
