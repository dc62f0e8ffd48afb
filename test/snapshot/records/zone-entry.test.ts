import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { EMPTY } from '../../../src/dns/bytes/bytes.ts'
import { nameOf, parseRelativeName } from '../../../src/dns/names/name.ts'
import { formatType, TYPE } from '../../../src/dns/names/rr-type.ts'
import { SET_TTL_MAX } from '../../../src/snapshot/format/layout.ts'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import type { Shard } from '../../../src/snapshot/read/shard.ts'
import type { Rdata, RRset, ZoneEntry } from '../../../src/snapshot/records/zone-entry.ts'
import { buildShards } from '../../../src/snapshot/write/build-shards.ts'
import { parseRecord } from '../../parse-record.ts'

const relative = (text: string): Uint8Array => parseRelativeName(text) ?? EMPTY

/** A set of records at `www`, from `<type> <rdata>` each, names within absolute. */
function setOf(...texts: readonly string[]): RRset {
  const records = texts.map((text) => parseRecord(`www 5 ${text}`, nameOf('example.org')))
  const rdata = records.flatMap((record): Rdata[] => (record ? [{ bytes: record.rdata }] : []))
  const type = records[0]?.type ?? 0
  assert.equal(rdata.length, texts.length)
  return { kind: 'records', owner: relative('www'), namespace: 'shop', type, ttlSeconds: 5, rdata }
}

function shardOf(...entries: readonly ZoneEntry[]): Shard {
  const [bytes = EMPTY] = buildShards(entries)
  return openShard(bytes)
}

/** What a shard says of a name: its namespace, its types, and the flags that it has. */
function describeName(shard: Shard, text: string): string {
  const owner = relative(text)
  const node = shard.findNode(owner, owner.length)
  if (node === 0) return 'absent'
  const types = Object.values(TYPE).filter((type) => shard.findSet(node, type) !== 0)
  const flags = [
    shard.isImplied(node) ? 'implied' : '',
    shard.isGlue(node) ? 'glue' : '',
    shard.hasAddressNames(node) ? 'addresses below' : '',
  ]
  const words = [
    `in "${shard.namespaces[shard.nodeNamespaceId(node)]}"`,
    ...types.map(formatType),
    ...flags,
  ]
  return words.filter((word) => word !== '').join(', ')
}

describe('what a snapshot keeps of an entry', () => {
  const a = setOf('A 192.0.2.1')
  const www = { owner: relative('www'), namespace: 'shop' }
  const pointer = {
    kind: 'pointer',
    ttlSeconds: 5,
    target: relative('www'),
    namespace: 'shop',
  } as const
  const cases: { name: string; entries: ZoneEntry[]; kept: string }[] = [
    { name: 'the type of a set and its namespace', entries: [a], kept: 'in "shop", A' },
    {
      name: 'every type at a name',
      entries: [a, setOf('AAAA 2001:db8::1'), setOf('TXT "x"')],
      kept: 'in "shop", A, TXT, AAAA',
    },
    { name: 'that all may see it', entries: [{ ...a, namespace: '' }], kept: 'in "", A' },
    {
      name: 'that a name only is in the additional section with others',
      entries: [{ ...a, isGlue: true }],
      kept: 'in "shop", A, glue',
    },
    {
      name: 'that a name exists without records',
      entries: [{ kind: 'name', ...www }],
      kept: 'in "shop"',
    },
    {
      name: 'that a name exists for the names below it only',
      entries: [{ kind: 'name', ...www, isImplied: true }],
      kept: 'in "shop", implied',
    },
    {
      name: 'that addresses are names below it',
      entries: [{ kind: 'address-names', ...www }],
      kept: 'in "shop", addresses below',
    },
    {
      name: 'nothing of the name that a pointer points to',
      entries: [{ ...pointer, address: Uint8Array.of(192, 0, 2, 1) }],
      kept: 'absent',
    },
  ]
  for (const { name, entries, kept } of cases) {
    test(name, () => {
      assert.equal(describeName(shardOf(...entries), 'www'), kept)
    })
  }

  test('the address and the namespace of a pointer, of both families', () => {
    const v4 = Uint8Array.of(192, 0, 2, 1)
    const v6 = Uint8Array.of(0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)
    const shard = shardOf({ ...pointer, address: v4 }, { ...pointer, address: v6 })
    for (const [table, address] of [
      [shard.addresses4, v4] as const,
      [shard.addresses6, v6] as const,
    ]) {
      assert.equal(table.count, 1)
      assert.deepEqual(table.address(0), address)
      assert.equal(shard.namespaces[table.namespaceId(0)], 'shop')
    }
  })

  test('the greatest TTL that a set may have', () => {
    assert.equal(SET_TTL_MAX, 16_777_215)
    const shard = shardOf({ ...setOf('A 192.0.2.1'), ttlSeconds: SET_TTL_MAX })
    const node = shard.findNode(relative('www'), 4)
    assert.equal(shard.setTtl(shard.refSet(shard.findSet(node, TYPE.A))), SET_TTL_MAX)
  })
})

describe('the order of rdata', () => {
  const cases: { name: string; rdata: [string, string]; counts: boolean }[] = [
    { name: 'of A records', rdata: ['A 192.0.2.1', 'A 192.0.2.2'], counts: false },
    { name: 'of AAAA records', rdata: ['AAAA 2001:db8::1', 'AAAA 2001:db8::2'], counts: false },
    { name: 'of TXT records', rdata: ['TXT "a"', 'TXT "b"'], counts: true },
    { name: 'of SRV records', rdata: ['SRV 0 1 1 a', 'SRV 0 1 2 a'], counts: true },
  ]
  for (const { name, rdata, counts } of cases) {
    test(`${name} is ${counts ? 'kept' : 'of no account'}`, () => {
      const [forth, back] = [rdata, rdata.toReversed()].map((texts) =>
        buildShards([setOf(...texts)]).map((bytes) => Buffer.from(bytes).toString('hex')),
      )
      assert.equal(String(forth) !== String(back), counts)
    })
  }
})
