import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { shardAddressKey } from '../../../src/snapshot/format/shard-key.ts'
import type { ZoneEntry } from '../../../src/snapshot/records/zone-entry.ts'
import { EntryDigester, GroupUnits, unitOf } from '../../../src/snapshot/write/group-units.ts'
import { addressNames, existingName, labels, pointer, rrset } from '../entries.ts'

const WEB = rrset('web.shop.svc 5 IN A 192.0.2.1')
const BELOW = rrset('a.web.shop.svc 5 IN A 192.0.2.2')
const BACK = pointer([192, 0, 2, 2], 'a.web.shop.svc')

describe('GroupUnits', () => {
  test('has one unit for all below three labels, and one for each address', () => {
    const units = new GroupUnits([BACK, WEB, BELOW, pointer([192, 0, 2, 1], 'web.shop.svc')])
    assert.equal(units.count, 3)
    assert.equal(units.unit(0), unitOf(WEB))
    assert.equal(units.key(0), unitOf(WEB))
    assert.equal(units.unit(1), unitOf(BACK))
    assert.equal(units.key(1), shardAddressKey(Uint8Array.of(192, 0, 2, 99)))
  })

  test('finds units with the same entries, wherever the search starts', () => {
    const before = new GroupUnits([WEB, BACK])
    const after = new GroupUnits([WEB, BELOW, BACK])
    for (const hint of [0, 1, 2]) {
      assert.equal(before.indexOfSame(after, 0, hint), -1)
      assert.equal(before.indexOfSame(after, 1, hint), 1)
    }
  })

  test('takes time in proportion to the units if all differ', () => {
    const unitsOf = (count: number, first: number): GroupUnits => {
      const address = (i: number): number[] => [first, i >> 16, (i >> 8) & 255, i & 255]
      return new GroupUnits(Array.from({ length: count }, (_, i) => pointer(address(i), 'web')))
    }
    const timeOf = (count: number): number => {
      const [before, after] = [unitsOf(count, 10), unitsOf(count, 11)]
      const start = process.threadCpuUsage()
      for (let i = 0; i < count; i++) assert.equal(before.indexOfSame(after, i, 0), -1)
      const { user, system } = process.threadCpuUsage(start)
      return Math.max(4, (user + system) / 1000)
    }
    const isLinear = (): boolean => timeOf(32_000) < 30 * timeOf(4000)
    assert.ok(isLinear() || isLinear())
  })

  test('returns whether it has names in some units', () => {
    const units = new GroupUnits([WEB, BACK])
    assert.equal(units.hasNamesIn(new Set([unitOf(BACK)])), false)
    assert.equal(units.hasNamesIn(new Set([unitOf(BACK), unitOf(BELOW)])), true)
  })
})

function digestOf(...entries: readonly ZoneEntry[]): string {
  const digester = new EntryDigester()
  const digest = { low: 0, high: 0 }
  for (const entry of entries) digester.addTo(digest, entry)
  return `${digest.low} ${digest.high}`
}

const A = rrset('web 5 IN A 192.0.2.1', 'shop')
const SRV = rrset('web 5 IN SRV 0 100 80 web', 'shop')
const POINTER = pointer([192, 0, 2, 1], 'web', { namespace: 'shop' })

const OWNER = labels('web')

describe('EntryDigester distinguishes', () => {
  const lots: { name: string; entries: readonly ZoneEntry[] }[] = [
    { name: 'nothing', entries: [] },
    { name: 'a record', entries: [A] },
    { name: 'the same twice', entries: [A, A] },
    { name: 'another address', entries: [rrset('web 5 IN A 192.0.2.2', 'shop')] },
    { name: 'another name', entries: [rrset('api 5 IN A 192.0.2.1', 'shop')] },
    { name: 'another TTL', entries: [rrset('web 6 IN A 192.0.2.1', 'shop')] },
    { name: 'another namespace', entries: [rrset('web 5 IN A 192.0.2.1', 'depot')] },
    { name: 'glue', entries: [{ ...A, isGlue: true }] },
    { name: 'a service', entries: [SRV] },
    { name: 'another target', entries: [rrset('web 5 IN SRV 0 100 80 api', 'shop')] },
    { name: 'another port', entries: [rrset('web 5 IN SRV 0 100 81 web', 'shop')] },
    {
      name: 'two records of which the second is as the target of the first',
      entries: [{ ...A, rdata: [{ bytes: OWNER }, { bytes: OWNER }] }],
    },
    {
      name: 'a record with a target',
      entries: [{ ...A, rdata: [{ bytes: OWNER, target: OWNER }] }],
    },
    {
      name: 'a Pod at an address',
      entries: [{ kind: 'pod-address', address: POINTER.address, namespace: 'shop' }],
    },
    { name: 'a name alone', entries: [existingName('web', 'shop')] },
    { name: 'an implied name', entries: [{ ...existingName('web', 'shop'), isImplied: true }] },
    { name: 'names of addresses', entries: [addressNames('web', 'shop')] },
    { name: 'a pointer', entries: [POINTER] },
    { name: 'a pointer that yields', entries: [{ ...POINTER, isYielding: true }] },
    {
      name: 'a pointer elsewhere',
      entries: [pointer([192, 0, 2, 1], 'api', { namespace: 'shop' })],
    },
    {
      name: 'a pointer from elsewhere',
      entries: [pointer([192, 0, 2, 2], 'web', { namespace: 'shop' })],
    },
  ]
  test('all of these', () => {
    const digests = new Map(lots.map(({ name, entries }) => [digestOf(...entries), name]))
    assert.deepEqual(
      [...digests.values()],
      lots.map(({ name }) => name),
    )
  })
})

test('EntryDigester does not mind the order', () => {
  fc.assert(
    fc.property(
      fc.shuffledSubarray([A, SRV, POINTER, existingName('x')], { minLength: 4 }),
      (some) => {
        assert.equal(digestOf(...some), digestOf(A, SRV, POINTER, existingName('x')))
      },
    ),
  )
})
