import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { ZoneEntry } from '../../src/records/zone-entry.ts'
import { EntryDigest } from '../../src/snapshot/entry-digest.ts'
import { addressNames, existingName, pointer, recordSet } from './entries.ts'

function digestOf(...entries: readonly ZoneEntry[]): string {
  const digest = new EntryDigest()
  for (const entry of entries) digest.add(entry)
  return `${digest.low} ${digest.high}`
}

const A = recordSet('web 5 IN A 192.0.2.1', 'shop')
const SRV = recordSet('web 5 IN SRV 0 100 80 web', 'shop')
const POINTER = pointer([192, 0, 2, 1], 'web', { scope: 'shop' })

describe('EntryDigest tells apart', () => {
  const lots: { name: string; entries: readonly ZoneEntry[] }[] = [
    { name: 'nothing', entries: [] },
    { name: 'a record', entries: [A] },
    { name: 'the same twice', entries: [A, A] },
    { name: 'another address', entries: [recordSet('web 5 IN A 192.0.2.2', 'shop')] },
    { name: 'another name', entries: [recordSet('api 5 IN A 192.0.2.1', 'shop')] },
    { name: 'another TTL', entries: [recordSet('web 6 IN A 192.0.2.1', 'shop')] },
    { name: 'another namespace', entries: [recordSet('web 5 IN A 192.0.2.1', 'depot')] },
    { name: 'glue', entries: [{ ...A, isGlue: true }] },
    { name: 'a service', entries: [SRV] },
    { name: 'another target', entries: [recordSet('web 5 IN SRV 0 100 80 api', 'shop')] },
    { name: 'another port', entries: [recordSet('web 5 IN SRV 0 100 81 web', 'shop')] },
    { name: 'a name alone', entries: [existingName('web', 'shop')] },
    { name: 'an implied name', entries: [{ ...existingName('web', 'shop'), isImplied: true }] },
    { name: 'names of addresses', entries: [addressNames('web', 'shop')] },
    { name: 'a pointer', entries: [POINTER] },
    { name: 'a pointer that yields', entries: [{ ...POINTER, isYielding: true }] },
    { name: 'a pointer elsewhere', entries: [pointer([192, 0, 2, 1], 'api', { scope: 'shop' })] },
    {
      name: 'a pointer from elsewhere',
      entries: [pointer([192, 0, 2, 2], 'web', { scope: 'shop' })],
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

test('EntryDigest does not mind the order', () => {
  fc.assert(
    fc.property(
      fc.shuffledSubarray([A, SRV, POINTER, existingName('x')], { minLength: 4 }),
      (some) => {
        assert.equal(digestOf(...some), digestOf(A, SRV, POINTER, existingName('x')))
      },
    ),
  )
})
