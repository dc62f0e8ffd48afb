import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { TYPE } from '../../../src/dns/rr-type.ts'
import type { Rdata } from '../../../src/records/zone-entry.ts'
import { draftSet, type SetDraft } from '../../../src/snapshot/write/set-drafts.ts'
import { SetPlaces } from '../../../src/snapshot/write/set-places.ts'
import { labels } from '../entries.ts'

const at = (...octets: number[]): Rdata => ({ bytes: Uint8Array.from(octets) })
const to = (text: string): Rdata => ({ bytes: new Uint8Array(0), target: labels(text) })

describe('find', () => {
  const cases: readonly { name: string; one: SetDraft; other: SetDraft; isSame: boolean }[] = [
    {
      name: 'the same addresses',
      one: draftSet(TYPE.A, 5, [at(192, 0, 2, 1)]),
      other: draftSet(TYPE.A, 5, [at(192, 0, 2, 1)]),
      isSame: true,
    },
    {
      name: 'the same targets in other arrays',
      one: draftSet(TYPE.PTR, 5, [to('web.shop'), to('web')]),
      other: draftSet(TYPE.PTR, 5, [to('web.shop'), to('web')]),
      isSame: true,
    },
    {
      name: 'another order',
      one: draftSet(TYPE.PTR, 5, [to('a'), to('b')]),
      other: draftSet(TYPE.PTR, 5, [to('b'), to('a')]),
      isSame: false,
    },
    {
      name: 'another type',
      one: draftSet(TYPE.TXT, 5, [at(1, 2)]),
      other: draftSet(TYPE.NULL, 5, [at(1, 2)]),
      isSame: false,
    },
    {
      name: 'another TTL',
      one: draftSet(TYPE.A, 5, [at(192, 0, 2, 1)]),
      other: draftSet(TYPE.A, 6, [at(192, 0, 2, 1)]),
      isSame: false,
    },
    {
      name: 'fewer records',
      one: draftSet(TYPE.A, 5, [at(192, 0, 2, 1), at(192, 0, 2, 2)]),
      other: draftSet(TYPE.A, 5, [at(192, 0, 2, 1)]),
      isSame: false,
    },
    {
      name: 'a target where the other has none',
      one: draftSet(TYPE.PTR, 5, [to('')]),
      other: draftSet(TYPE.PTR, 5, [at()]),
      isSame: false,
    },
    {
      name: 'a difference in the middle',
      one: draftSet(TYPE.PTR, 5, [to('a'), to('b'), to('d')]),
      other: draftSet(TYPE.PTR, 5, [to('a'), to('c'), to('d')]),
      isSame: false,
    },
    {
      name: 'bytes that are divided otherwise',
      one: draftSet(TYPE.TXT, 5, [at(1, 2), at(3)]),
      other: draftSet(TYPE.TXT, 5, [at(1), at(2, 3)]),
      isSame: false,
    },
  ]
  for (const { name, one, other, isSame } of cases) {
    test(`${isSame ? 'finds' : 'has no place for'} ${name}`, () => {
      const places = new SetPlaces()
      assert.equal(places.find(one), undefined)
      assert.equal(places.find(other), isSame ? one : undefined)
      // The first one stays where it is.
      assert.equal(places.find({ ...one }), one)
      places.clear()
      assert.equal(places.find(other), undefined)
    })
  }
})
