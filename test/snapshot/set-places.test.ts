import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TYPE } from '../../src/dns/rr-type.ts'
import type { Rdata } from '../../src/records/zone-entry.ts'
import type { SetDraft } from '../../src/snapshot/set-drafts.ts'
import { SetPlaces } from '../../src/snapshot/set-places.ts'
import { labels } from './entries.ts'

function draft(type: number, ttlSeconds: number, rdata: Rdata[]): SetDraft {
  return { type, ttlSeconds, rdata, isMerged: false }
}

const at = (...octets: number[]): Rdata => ({ bytes: Uint8Array.from(octets) })
const to = (text: string): Rdata => ({ bytes: new Uint8Array(0), target: labels(text) })

describe('offsetOf', () => {
  const cases: readonly { name: string; one: SetDraft; other: SetDraft; isSame: boolean }[] = [
    {
      name: 'the same addresses',
      one: draft(TYPE.A, 5, [at(192, 0, 2, 1)]),
      other: draft(TYPE.A, 5, [at(192, 0, 2, 1)]),
      isSame: true,
    },
    {
      name: 'the same targets in other arrays',
      one: draft(TYPE.PTR, 5, [to('web.shop'), to('web')]),
      other: draft(TYPE.PTR, 5, [to('web.shop'), to('web')]),
      isSame: true,
    },
    {
      name: 'another order',
      one: draft(TYPE.PTR, 5, [to('a'), to('b')]),
      other: draft(TYPE.PTR, 5, [to('b'), to('a')]),
      isSame: false,
    },
    {
      name: 'another type',
      one: draft(TYPE.TXT, 5, [at(1, 2)]),
      other: draft(TYPE.NULL, 5, [at(1, 2)]),
      isSame: false,
    },
    {
      name: 'another TTL',
      one: draft(TYPE.A, 5, [at(192, 0, 2, 1)]),
      other: draft(TYPE.A, 6, [at(192, 0, 2, 1)]),
      isSame: false,
    },
    {
      name: 'fewer records',
      one: draft(TYPE.A, 5, [at(192, 0, 2, 1), at(192, 0, 2, 2)]),
      other: draft(TYPE.A, 5, [at(192, 0, 2, 1)]),
      isSame: false,
    },
    {
      name: 'a target where the other has none',
      one: draft(TYPE.PTR, 5, [to('')]),
      other: draft(TYPE.PTR, 5, [at()]),
      isSame: false,
    },
    {
      name: 'octets that are divided otherwise',
      one: draft(TYPE.TXT, 5, [at(1, 2), at(3)]),
      other: draft(TYPE.TXT, 5, [at(1), at(2, 3)]),
      isSame: false,
    },
  ]
  for (const { name, one, other, isSame } of cases) {
    test(`${isSame ? 'finds' : 'makes a place of its own for'} ${name}`, () => {
      const places = new SetPlaces()
      assert.equal(
        places.offsetOf(one, () => 64),
        64,
      )
      assert.equal(
        places.offsetOf(other, () => 80),
        isSame ? 64 : 80,
      )
      // The first one stays where it is.
      assert.equal(
        places.offsetOf(one, () => 96),
        64,
      )
    })
  }
})
