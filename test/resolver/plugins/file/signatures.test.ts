import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { formatType, TYPE } from '../../../../src/dns/names/rr-type.ts'
import { signedRecords } from '../../../../src/resolver/plugins/file/signatures.ts'
import { coveredType } from '../../../../src/resolver/plugins/file/zone-nodes.ts'
import { zoneOf } from './zones.ts'

const zone = zoneOf([
  'a A 192.0.2.1',
  'a TXT "a"',
  'a RRSIG A 13 2 1 2 1 1 @ AQPS',
  'a RRSIG TXT 13 2 1 2 1 1 @ AQPS',
])
const sets = zone.nodes.get(nameOf('a.example.org'))?.sets ?? new Map()

describe('recordsOf', () => {
  const cases: { name: string; type: number; wantsDnssec: boolean; is: string[] }[] = [
    {
      name: 'gives no signatures unless they are wanted',
      type: TYPE.A,
      wantsDnssec: false,
      is: ['A'],
    },
    {
      name: 'gives the signatures of a type',
      type: TYPE.A,
      wantsDnssec: true,
      is: ['A', 'RRSIG A'],
    },
    { name: 'gives none without records', type: TYPE.MX, wantsDnssec: true, is: [] },
    {
      name: 'gives all signatures to a client that requests them',
      type: TYPE.RRSIG,
      wantsDnssec: true,
      is: ['RRSIG A', 'RRSIG TXT'],
    },
  ]
  for (const { name, type, wantsDnssec, is } of cases) {
    test(name, () => {
      const found = signedRecords(sets, type, wantsDnssec).map((record) =>
        record.type === TYPE.RRSIG
          ? `RRSIG ${formatType(coveredType(record))}`
          : formatType(record.type),
      )
      assert.deepEqual(found, is)
    })
  }
})
