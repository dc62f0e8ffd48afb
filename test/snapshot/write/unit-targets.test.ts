import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { TYPE } from '../../../src/dns/rr-type.ts'
import { FORM } from '../../../src/snapshot/format/layout.ts'
import { draftNodes } from '../../../src/snapshot/write/node-drafts.ts'
import { draftSet, type SetDraft } from '../../../src/snapshot/write/set-drafts.ts'
import { formOf, UnitTargets } from '../../../src/snapshot/write/unit-targets.ts'
import { existingName, labels } from '../entries.ts'

const { nodes } = draftNodes([existingName('a.web.shop.svc'), existingName('web.shop.svc')])

describe('UnitTargets', () => {
  const targets = new UnitTargets(nodes)

  test('finds nodes by the array that they have, and by another one', () => {
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
      name: 'targets that are here',
      set: srv('a.web.shop.svc', 'web.shop.svc'),
      form: FORM.TARGETS,
    },
    { name: 'one that is not', set: srv('a.web.shop.svc', 'b.web.shop.svc'), form: FORM.PARTS },
    { name: 'one outside of the zone', set: srv('a.web.shop.svc', undefined), form: FORM.PARTS },
    { name: 'addresses', set: { ...srv(), type: TYPE.AAAA }, form: FORM.FIXED },
    { name: 'another type', set: { ...srv('a.web.shop.svc'), type: TYPE.CNAME }, form: FORM.PARTS },
  ]
  for (const { name, set, form } of cases) {
    test(name, () => {
      assert.equal(formOf(set, new UnitTargets(nodes)), form)
    })
  }
})
