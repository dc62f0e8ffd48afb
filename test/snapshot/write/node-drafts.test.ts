import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { concatBytes, writeUint32 } from '../../../src/dns/bytes/bytes.ts'
import { formatAddress } from '../../../src/dns/names/address.ts'
import { formatName } from '../../../src/dns/names/name.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import type { ExistingName, RRset, ZoneEntry } from '../../../src/snapshot/records/zone-entry.ts'
import type { NodeDraft } from '../../../src/snapshot/write/node-draft.ts'
import { draftNodes } from '../../../src/snapshot/write/node-drafts.ts'
import { addressNames, existingName, labels, pointer, rdataText, rrset } from '../entries.ts'

const A = rrset('a 5 IN A 192.0.2.1', 'shop')
const GLUE: RRset = { ...A, isGlue: true }
const IMPLIED: ExistingName = { ...existingName('a', 'shop'), isImplied: true }

/** The only node of entries with one name. */
function nodeOf(...entries: readonly ZoneEntry[]): NodeDraft {
  const { nodes } = draftNodes(entries)
  const [node] = nodes
  assert.ok(node)
  assert.equal(nodes.length, 1)
  return node
}

function rdataOf(type: number, ...entries: readonly ZoneEntry[]): string[] {
  return (
    nodeOf(...entries)
      .sets.find((set) => set.type === type)
      ?.rdata.map(rdataText) ?? []
  )
}

describe('draftNodes merges the entries of a name', () => {
  const cases: {
    name: string
    entries: readonly ZoneEntry[]
    namespace: string
    isImplied?: true
    isGlue?: true
    hasAddressNames?: true
  }[] = [
    { name: 'records alone', entries: [A], namespace: 'shop' },
    { name: 'glue alone', entries: [GLUE], namespace: 'shop', isGlue: true },
    { name: 'glue beside records', entries: [GLUE, A], namespace: 'shop' },
    {
      name: 'glue beside a name that other names imply',
      entries: [GLUE, IMPLIED],
      namespace: 'shop',
    },
    { name: 'an implied name', entries: [IMPLIED, IMPLIED], namespace: 'shop', isImplied: true },
    {
      name: 'an implied name that also exists by itself',
      entries: [IMPLIED, existingName('a', 'shop')],
      namespace: 'shop',
    },
    { name: 'an implied name with records', entries: [A, IMPLIED], namespace: 'shop' },
    {
      name: 'names of addresses',
      entries: [IMPLIED, addressNames('a', 'shop')],
      namespace: 'shop',
      hasAddressNames: true,
    },
    {
      name: 'two namespaces, so that it belongs to all',
      entries: [A, existingName('a', 'blog')],
      namespace: '',
    },
    {
      name: 'two namespaces and the first again',
      entries: [A, existingName('a', 'blog'), A],
      namespace: '',
    },
  ]
  for (const { name, entries, namespace, ...flags } of cases) {
    test(name, () => {
      const node = nodeOf(...entries)
      assert.equal(node.namespace, namespace)
      assert.equal(node.isImplied, flags.isImplied ?? false)
      assert.equal(node.isGlue, flags.isGlue ?? false)
      assert.equal(node.hasAddressNames, flags.hasAddressNames ?? false)
    })
  }
})

describe('draftNodes makes sets', () => {
  test('with the lowest TTL of their entries', () => {
    const node = nodeOf(rrset('a 30 IN A 192.0.2.1'), A, rrset('a 9 IN A 192.0.2.1'))
    assert.equal(node.sets[0]?.ttlSeconds, 5)
  })

  test('with a TTL that fits', () => {
    const node = nodeOf(rrset('a 2147483647 IN A 192.0.2.1'))
    assert.equal(node.sets[0]?.ttlSeconds, 0xffffff)
  })

  const orders: { name: string; type: number; entries: RRset[]; rdata: string[] }[] = [
    {
      name: 'with each address once, in their order',
      type: TYPE.A,
      entries: [
        rrset('a 5 IN A 192.0.2.9\na 5 IN A 192.0.2.1'),
        rrset('a 5 IN A 192.0.2.1\na 5 IN A 192.0.2.5'),
      ],
      rdata: ['c0000201', 'c0000205', 'c0000209'],
    },
    {
      name: 'with the addresses of one entry in their order',
      type: TYPE.A,
      entries: [rrset('a 5 IN A 192.0.2.9\na 5 IN A 192.0.2.1')],
      rdata: ['c0000201', 'c0000209'],
    },
    {
      name: 'with the IPv6 addresses of one entry in their order',
      type: TYPE.AAAA,
      entries: [rrset('a 5 IN AAAA ::2\na 5 IN AAAA ::1')],
      rdata: [`${'0'.repeat(31)}1`, `${'0'.repeat(31)}2`],
    },
    {
      name: 'with the records of one entry in its order, each once',
      type: TYPE.MX,
      entries: [rrset('a 5 IN MX 20 a\na 5 IN MX 10 b\na 5 IN MX 20 a')],
      rdata: ['0014+0161', '000a+0162'],
    },
    {
      name: 'with the records of several entries in order',
      type: TYPE.MX,
      entries: [rrset('a 5 IN MX 20 b\na 5 IN MX 30 a'), rrset('a 5 IN MX 10 b')],
      rdata: ['001e+0161', '000a+0162', '0014+0162'],
    },
    {
      name: 'with PTR records in order',
      type: TYPE.PTR,
      entries: [rrset('a 5 IN PTR b\na 5 IN PTR a')],
      rdata: ['+0161', '+0162'],
    },
    {
      name: 'with a name and the same bytes of rdata apart',
      type: TYPE.CNAME,
      entries: [
        {
          ...A,
          type: TYPE.CNAME,
          rdata: [{ bytes: labels('b') }, { bytes: new Uint8Array(0), target: labels('b') }],
        },
      ],
      rdata: ['0162', '+0162'],
    },
  ]
  for (const { name, type, entries, rdata } of orders) {
    test(name, () => {
      assert.deepEqual(rdataOf(type, ...entries), rdata)
    })
  }

  test('none of no rdata, but a name', () => {
    assert.equal(nodeOf({ ...A, rdata: [] }).sets.length, 0)
  })

  test('of 65,535 records at most', () => {
    const rdata = Array.from({ length: 70_000 }, (_, i) => {
      const bytes = new Uint8Array(4)
      writeUint32(bytes, 0, 0xc0000000 + i)
      return { bytes }
    })
    const kept = rdataOf(TYPE.A, { ...A, rdata })
    assert.equal(kept.length, 65_535)
    assert.equal(kept.at(-1), 'c000fffe')
  })

  test('and changes no entry by it', () => {
    const entry = rrset('a 5 IN A 192.0.2.9\na 5 IN A 192.0.2.1')
    const before = structuredClone(entry)
    nodeOf(entry, entry)
    assert.deepEqual(entry, before)
  })
})

describe('draftNodes sorts', () => {
  test('names so that those with a common end stand together', () => {
    const names = [
      'web.shop.svc',
      'svc',
      'b.shop.svc',
      'shop.svc',
      'pod',
      'a.web.shop.svc',
      'a.pod',
    ]
    const { nodes } = draftNodes(names.map((name) => existingName(name)))
    const sorted = nodes.map(({ owner }) => formatName(concatBytes(owner, Uint8Array.of(0))))
    const last = sorted.map((name) => name.split('.').at(-2))
    assert.deepEqual(new Set(sorted), new Set(names.map((name) => `${name}.`)))
    assert.deepEqual(last, [...last].sort())
    assert.ok(sorted.indexOf('a.web.shop.svc.') === sorted.indexOf('web.shop.svc.') + 1)
  })

  test('pointers by address, then by namespace, each family by itself', () => {
    const six = [0x20, 1, 0xd, 0xb8, ...Array<number>(11).fill(0), 1]
    const { pointers4, pointers6 } = draftNodes([
      pointer([192, 0, 2, 9], 'a', { namespace: 'shop' }),
      pointer(six, 'a'),
      pointer([192, 0, 2, 1], 'a', { namespace: 'shop' }),
      pointer([192, 0, 2, 1], 'a', { namespace: 'blog' }),
    ])
    assert.deepEqual(
      pointers4.map(({ address, namespace }) => `${formatAddress(address)} ${namespace}`),
      ['192.0.2.1 blog', '192.0.2.1 shop', '192.0.2.9 shop'],
    )
    assert.deepEqual(
      pointers6.map(({ address }) => [...address]),
      [six],
    )
  })
})

describe('draftNodes merges the pointers of an address in one namespace', () => {
  const { pointers4 } = draftNodes([
    pointer([192, 0, 2, 1], 'b', { namespace: 'shop', ttlSeconds: 30 }),
    pointer([192, 0, 2, 1], 'a', { namespace: 'shop', ttlSeconds: 5 }),
    pointer([192, 0, 2, 1], 'b', { namespace: 'shop', ttlSeconds: 9 }),
  ])

  test('into one set with the lowest TTL, in order, each once', () => {
    assert.equal(pointers4.length, 1)
    assert.equal(pointers4[0]?.set?.ttlSeconds, 5)
    assert.deepEqual(pointers4[0]?.set?.rdata.map(rdataText), ['+0161', '+0162'])
  })
})
