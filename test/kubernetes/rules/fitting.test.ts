import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { concatBytes } from '../../../src/bytes/bytes.ts'
import { nameOf } from '../../../src/dns/name.ts'
import { labelOf } from '../../../src/kubernetes/objects/labels.ts'
import { keepFitting } from '../../../src/kubernetes/rules/fitting.ts'
import type { ZoneEntry } from '../../../src/records/zone-entry.ts'
import { optionsOf } from '../naming.ts'

/** Labels of so many bytes. */
function labels(size: number): Uint8Array {
  const parts: Uint8Array[] = []
  for (let left = size; left > 0; ) {
    const part = Math.min(64, left === 65 ? 63 : left)
    parts.push(labelOf('a'.repeat(part - 1)) ?? new Uint8Array(0))
    left -= part
  }
  return concatBytes(...parts)
}

const address = Uint8Array.of(192, 0, 2, 1)
const common = { namespace: 'shop', ttlSeconds: 5 }
const MADE: Readonly<Record<string, (size: number) => ZoneEntry>> = {
  'a name': (size) => ({ kind: 'name', owner: labels(size), namespace: 'shop' }),
  'names of addresses': (size) => ({
    kind: 'address-names',
    owner: labels(size),
    namespace: 'shop',
  }),
  'a target of records': (size) => {
    const rdata = [{ bytes: address }, { bytes: address, target: labels(size) }]
    return { kind: 'records', owner: labels(3), ...common, type: 33, rdata }
  },
  'a pointer': (size) => ({ kind: 'pointer', address, ...common, target: labels(size) }),
}

describe('keepFitting', () => {
  // The longest origin takes 17 bytes of 255 with its root.
  const options = optionsOf({ origins: [nameOf('a.test'), nameOf('a.longer.example')] })
  const room = 255 - nameOf('a.longer.example').length
  for (const [name, make] of Object.entries(MADE)) {
    test(`leaves out ${name} that has no room below the longest origin`, () => {
      const [fits, other] = [make(room), make(room + 1)]
      assert.deepEqual(keepFitting([other, fits], options), [fits])
    })
  }

  test('keeps addresses of Pods, and returns the same array if all fits', () => {
    const entries: ZoneEntry[] = [{ kind: 'pod-address', address, namespace: 'shop' }]
    assert.equal(keepFitting(entries, options), entries)
  })
})
