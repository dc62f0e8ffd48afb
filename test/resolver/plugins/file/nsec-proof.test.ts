import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../../src/dns/names/name.ts'
import {
  absenceProof,
  nameProof,
  typeProof,
} from '../../../../src/resolver/plugins/file/signatures.ts'
import { formatRecord } from '../../../../src/snapshot/records/zone-text.ts'
import { zoneOf } from './zones.ts'

const zone = zoneOf([
  '@ NSEC b NS SOA NSEC',
  '@ RRSIG NSEC 13 2 1 2 1 1 @ AQPS',
  'b NSEC x.y A NSEC',
  'x.y NSEC @ A NSEC',
])
/** Owners and types of records. */
const short = (records: ReturnType<typeof typeProof>): string[] =>
  records.map((record) =>
    formatRecord(record)
      .split(' ')
      .filter((_, i) => i === 0 || i === 3)
      .join(' '),
  )

describe('proofs', () => {
  const cases: { name: string; proof: ReturnType<typeof typeProof>; is: string[] }[] = [
    {
      name: 'that a name has no other types are its own NSEC record, signed',
      proof: nameProof(zone, nameOf('example.org')),
      is: ['example.org. NSEC', 'example.org. RRSIG'],
    },
    {
      name: 'that a name has no records cover it',
      proof: nameProof(zone, nameOf('y.example.org')),
      is: ['b.example.org. NSEC'],
    },
    {
      name: 'that a name does not exist cover it and the wildcard',
      proof: absenceProof(zone, nameOf('c.example.org'), nameOf('example.org')),
      is: ['b.example.org. NSEC', 'example.org. NSEC', 'example.org. RRSIG'],
    },
    {
      name: 'come once when one covers both',
      proof: absenceProof(zone, nameOf('a.example.org'), nameOf('example.org')),
      is: ['example.org. NSEC', 'example.org. RRSIG'],
    },
    {
      name: 'are about the wildcard below the closest encloser, with records or without',
      proof: absenceProof(zone, nameOf('z.y.example.org'), nameOf('y.example.org')),
      is: ['x.y.example.org. NSEC', 'b.example.org. NSEC'],
    },
    {
      name: 'are none in a zone that is not signed',
      proof: absenceProof(zoneOf([]), nameOf('a.example.org'), nameOf('example.org')),
      is: [],
    },
  ]
  for (const { name, proof, is } of cases) {
    test(name, () => {
      assert.deepEqual(short(proof), is)
    })
  }

  test('of a missing type are none without an NSEC record', () => {
    const [node] = zoneOf(['a A 192.0.2.1']).nodes.values()
    assert.deepEqual(node && typeProof(node), [])
  })
})
