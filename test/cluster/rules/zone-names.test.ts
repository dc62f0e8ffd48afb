import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { namespaceNames, SCHEMA_VERSION, zoneNames } from '../../../src/cluster/rules/zone-names.ts'
import type { ZoneEntry } from '../../../src/snapshot/records/zone-entry.ts'
import { formatEntries, linesOf } from '../naming.ts'

function all(namespaces: readonly string[]): ZoneEntry[] {
  return [...zoneNames(), ...namespaces.flatMap(namespaceNames)]
}

describe('zoneNames', () => {
  const frame = `
    @ exists
    svc exists
    pod exists
    ns.dns exists
    dns-version 28800 TXT "${SCHEMA_VERSION}"`
  const cases: { name: string; namespaces: string[]; lines: string }[] = [
    { name: 'has the zone-level names', namespaces: [], lines: frame },
    {
      name: 'has a name below svc for each namespace, and none below pod',
      namespaces: ['shop', 'kube-system'],
      lines: `${frame}
        shop.svc exists
        kube-system.svc exists`,
    },
    { name: 'passes over a namespace that is not a label', namespaces: ['a.b', ''], lines: frame },
  ]
  for (const { name, namespaces, lines } of cases) {
    test(name, () => {
      assert.deepEqual(formatEntries(all(namespaces)), linesOf(lines))
    })
  }

  test('has version 1.1.0 of the specification', () => {
    assert.ok(formatEntries(zoneNames()).includes('dns-version 28800 TXT "1.1.0"'))
  })

  test('lets a namespace see its own name, and everybody the frame', () => {
    const namespaces = all(['shop']).map(({ namespace }) => namespace)
    assert.deepEqual(namespaces, ['', '', '', '', '', 'shop'])
  })
})
