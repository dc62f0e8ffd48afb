import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { describeConflict } from '../../../src/cluster/trees/host-conflicts.ts'
import { objectsOf } from '../naming.ts'

describe('a conflict is described', () => {
  const cases: { namespaces: readonly string[]; start: string }[] = [
    { namespaces: ['a', 'b'], start: 'Ingress b/x: x.test belongs to Ingress a/x: ' },
    {
      namespaces: ['a', 'b', 'c', 'd'],
      start: 'Ingress b/x and 2 more: x.test belongs to Ingress a/x: ',
    },
  ]
  for (const { namespaces, start } of cases) {
    test(`between ${namespaces.length} namespaces`, () => {
      const objects = objectsOf(
        namespaces
          .map((name) => `\n- { kind: Ingress, metadata: { name: x, namespace: ${name} } }`)
          .join(''),
      ).flatMap((object) => (object.kind === 'Ingress' ? [object] : []))
      assert.equal(objects.length, namespaces.length)
      const line = describeConflict({ host: 'x.test', objects })
      assert.equal(line, `${start}the first kind in "resources" wins, then the older object`)
    })
  }
})
