import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import { FORM } from '../../../src/snapshot/format/layout.ts'
import type { Rdata } from '../../../src/snapshot/records/zone-entry.ts'
import { draftNodes } from '../../../src/snapshot/write/node-drafts.ts'
import { draftSet, type SetDraft } from '../../../src/snapshot/write/set-drafts.ts'
import { formOf, SameSets, UnitTargets } from '../../../src/snapshot/write/unit-writer.ts'
import { existingName, labels } from '../entries.ts'

const { nodes } = draftNodes([existingName('a.web.shop.svc'), existingName('web.shop.svc')])

describe('UnitTargets', () => {
  const targets = new UnitTargets(nodes)

  test('finds nodes by the same array and by an equal one', () => {
    for (const node of nodes) {
      assert.equal(targets.find(node.owner), node)
      assert.equal(targets.find(node.owner.slice()), node)
    }
    assert.equal(targets.find(labels('b.web.shop.svc')), undefined)
  })
})

describe('formOf', () => {
  const srv = (...names: (string | undefined)[]): SetDraft => {
    const bytes = Uint8Array.of(0, 0, 0, 1, 0, 80)
    const rdata = names.map((name) =>
      name === undefined ? { bytes } : { bytes, target: labels(name) },
    )
    return draftSet(TYPE.SRV, 5, rdata)
  }
  const cases: readonly { name: string; set: SetDraft; form: number }[] = [
    {
      name: 'targets in the unit',
      set: srv('a.web.shop.svc', 'web.shop.svc'),
      form: FORM.TARGETS,
    },
    {
      name: 'one target elsewhere',
      set: srv('a.web.shop.svc', 'b.web.shop.svc'),
      form: FORM.PARTS,
    },
    {
      name: 'one target outside of the zone',
      set: srv('a.web.shop.svc', undefined),
      form: FORM.PARTS,
    },
    { name: 'addresses', set: { ...srv(), type: TYPE.AAAA }, form: FORM.FIXED },
    { name: 'another type', set: { ...srv('a.web.shop.svc'), type: TYPE.CNAME }, form: FORM.PARTS },
  ]
  for (const { name, set, form } of cases) {
    test(name, () => {
      assert.equal(formOf(set, new UnitTargets(nodes)), form)
    })
  }
})

const at = (...bytes: number[]): Rdata => ({ bytes: Uint8Array.from(bytes) })
const to = (text: string): Rdata => ({ bytes: new Uint8Array(0), target: labels(text) })

describe('SameSets', () => {
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
      name: 'other boundaries between records',
      one: draftSet(TYPE.TXT, 5, [at(1, 2), at(3)]),
      other: draftSet(TYPE.TXT, 5, [at(1), at(2, 3)]),
      isSame: false,
    },
  ]
  for (const { name, one, other, isSame } of cases) {
    test(`${isSame ? 'finds' : 'does not find'} ${name}`, () => {
      const sets = new SameSets()
      assert.equal(sets.find(one), undefined)
      assert.equal(sets.find(other), isSame ? one : undefined)
      // The first one stays.
      assert.equal(sets.find({ ...one }), one)
      sets.clear()
      assert.equal(sets.find(other), undefined)
    })
  }
})
