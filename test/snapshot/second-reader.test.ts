import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { concatBytes, toLatin1 } from '../../src/dns/bytes/bytes.ts'
import { reverseName } from '../../src/dns/names/address.ts'
import { formatName } from '../../src/dns/names/name.ts'
import { shardOfAddress, shardOfName } from '../../src/snapshot/format/shard-key.ts'
import { isByAddress, type ZoneEntry } from '../../src/snapshot/records/zone-entry.ts'
import { formatRecord } from '../../src/snapshot/records/zone-text.ts'
import { buildShards } from '../../src/snapshot/write/build-shards.ts'
import { parseRecord } from '../parse-record.ts'
import {
  addressNames,
  joinedRecord,
  labels,
  ORIGIN,
  podAddress,
  pointer,
  rrset,
  zoneEntry,
} from './entries.ts'
import { SecondReader, shardOf, wireLabels } from './second-reader.ts'

const README = readFileSync(join(import.meta.dirname, '../../src/snapshot/README.md'), 'utf8')

function readersOf(entries: readonly ZoneEntry[], count = 1): SecondReader[] {
  return buildShards(entries, count).map((shard) => new SecondReader(shard, 'cluster.local'))
}

/** Brings a zone-file line of either side to one spelling. */
function spell(line: string): string {
  const record = parseRecord(line, ORIGIN)
  assert.ok(record, line)
  return `${formatRecord(record)}${line.slice(line.lastIndexOf(' ;'))}`
}

function linesOf(entry: ZoneEntry): string[] {
  if (entry.kind === 'records') {
    const { namespace, rdata } = entry
    return rdata.map((one) => `${formatRecord(joinedRecord(entry, one))} ; ${namespace}`)
  }
  if (entry.kind !== 'pointer') return []
  const target = formatName(concatBytes(entry.target, ORIGIN))
  const owner = formatName(reverseName(entry.address))
  return [`${owner} ${entry.ttlSeconds} IN PTR ${target} ; ${entry.namespace}`]
}

/** One of each name and address, and one namespace of names: what is shared would be merged. */
function withoutMerging(entries: readonly ZoneEntry[]): ZoneEntry[] {
  const unique = new Map<string, ZoneEntry>()
  for (const entry of entries) {
    if (isByAddress(entry)) unique.set(String(entry.address), entry)
    else unique.set(toLatin1(entry.owner), { ...entry, namespace: 'shop' })
  }
  return [...unique.values()]
}

describe('a reader written from the README', () => {
  test('takes fewer than 150 lines', () => {
    const text = readFileSync(join(import.meta.dirname, 'second-reader.ts'), 'utf8')
    assert.ok(text.trimEnd().split('\n').length < 150)
  })

  test('reads the example of the README', () => {
    const dump = Array.from(README.matchAll(/^ {4}[0-9a-f]{4} {2}([0-9a-f ]+)$/gm), (m) => m[1])
    const shard = Uint8Array.from(Buffer.from(dump.join('').replaceAll(' ', ''), 'hex'))
    assert.deepEqual(new SecondReader(shard, 'cluster.local').records().map(spell), [
      'web.cluster.local. 5 IN A 192.0.2.1 ; shop',
      '1.2.0.192.in-addr.arpa. 5 IN PTR web.cluster.local. ; shop',
    ])
    const entries = [
      rrset('web 5 IN A 192.0.2.1', 'shop'),
      pointer([192, 0, 2, 1], 'web', { namespace: 'shop' }),
    ]
    assert.deepEqual(buildShards(entries), [shard])
  })

  test('lists every record that was put in', () => {
    const lines = [
      'cluster.local. 30 IN NS ns.dns.cluster.local. ; ',
      'dns-version.cluster.local. 28800 IN TXT "1.1.0" ; ',
      'web.shop.svc.cluster.local. 5 IN A 192.0.2.1 ; shop',
      'web.shop.svc.cluster.local. 5 IN AAAA 2001:db8::1 ; shop',
      '_http._tcp.web.shop.svc.cluster.local. 5 IN SRV 0 100 80 web.shop.svc.cluster.local. ; shop',
      '_far._tcp.web.shop.svc.cluster.local. 5 IN SRV 0 100 80 other.cluster.local. ; shop',
      'out.shop.svc.cluster.local. 5 IN CNAME www.example.org. ; shop',
      'mail.shop.svc.cluster.local. 5 IN MX 10 web.shop.svc.cluster.local. ; shop',
    ]
    const entries: ZoneEntry[] = lines.map((line) =>
      rrset(line, line.slice(line.lastIndexOf(';') + 2)),
    )
    const pointers = [
      pointer([192, 0, 2, 1], 'web.shop.svc', { namespace: 'shop' }),
      pointer([0x20, 1, 0xd, 0xb8, ...Array<number>(11).fill(0), 1], 'web.shop.svc'),
    ]
    const [reader] = readersOf([...entries, ...pointers])
    assert.deepEqual(
      reader?.records().map(spell).sort(),
      [
        ...lines,
        '1.2.0.192.in-addr.arpa. 5 IN PTR web.shop.svc.cluster.local. ; shop',
        `1.${'0.'.repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa. 5 IN PTR web.shop.svc.cluster.local. ; `,
      ].sort(),
    )
  })

  test('lists the addresses of Pods, whether or not they lead back', () => {
    const [reader] = readersOf([
      pointer([192, 0, 2, 1], 'a.web.shop.svc', { namespace: 'shop' }),
      podAddress([192, 0, 2, 1], 'shop'),
      podAddress([192, 0, 2, 2], 'blog'),
      pointer([192, 0, 2, 3], 'b.web.shop.svc', { namespace: 'shop' }),
    ])
    assert.deepEqual(reader?.pods(), [
      '1.2.0.192.in-addr.arpa. ; shop',
      '2.2.0.192.in-addr.arpa. ; blog',
    ])
    assert.equal(reader?.records().length, 2)
  })

  test('lists every name with its flags', () => {
    const [reader] = readersOf([
      { ...rrset('ns.dns 5 IN A 192.0.2.1'), isGlue: true },
      addressNames('shop.pod', 'shop'),
    ])
    assert.deepEqual(reader?.names().sort(), [
      'dns.cluster.local. implied',
      'ns.dns.cluster.local. glue',
      'pod.cluster.local. implied',
      'shop.pod.cluster.local. address-names',
    ])
  })

  test('finds names by the index', () => {
    const names = Array.from({ length: 500 }, (_, i) => `s${i}.shop.svc`)
    const [reader] = readersOf(names.map((name) => rrset(`${name} 5 IN A 192.0.2.1`)))
    for (const name of [...names, 'shop.svc', 'svc']) assert.ok(reader?.hasName(name), name)
    for (let i = 500; i < 1000; i++) assert.equal(reader?.hasName(`s${i}.shop.svc`), false)
  })

  test('knows the shards of names and addresses', () => {
    for (let i = 0; i < 100; i++) {
      const name = labels(`a.b.s${i}.shop.svc`)
      assert.equal(shardOf(wireLabels(`s${i}.shop.svc`), 8), shardOfName(name, name.length, 8))
      assert.equal(shardOf([192, 0, i], 8), shardOfAddress(Uint8Array.of(192, 0, i, 9), 8))
    }
  })

  test('lists whatever was put in', () => {
    const entryList = fc.array(zoneEntry(), { maxLength: 20 }).map(withoutMerging)
    fc.assert(
      fc.property(entryList, fc.constantFrom(1, 8), (entries, count) => {
        const found = readersOf(entries, count).flatMap((reader) => reader.records().map(spell))
        assert.deepEqual(found.sort(), [...new Set(entries.flatMap(linesOf))].sort())
      }),
      { numRuns: 200 },
    )
  })
})
