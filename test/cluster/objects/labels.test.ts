import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  dashedLabelOf,
  isLabel,
  joinLabels,
  labelOf,
  POD,
  SVC,
  serviceOwner,
} from '../../../src/cluster/objects/labels.ts'
import { concatBytes, toLatin1 } from '../../../src/dns/bytes/bytes.ts'
import { formatAddress } from '../../../src/dns/names/address.ts'
import { parseAddressLabel } from '../../../src/dns/names/address-label.ts'
import { formatName, parseRelativeName, ROOT } from '../../../src/dns/names/name.ts'

describe('labelOf', () => {
  const cases: { name: string; text: string; label: string | undefined }[] = [
    { name: 'puts the length in front', text: 'web', label: '\x03web' },
    { name: 'writes in lower case', text: 'Web-1', label: '\x05web-1' },
    { name: 'takes underscores', text: '_http', label: '\x05_http' },
    { name: 'takes dashes at both ends', text: '-a-', label: '\x03-a-' },
    { name: 'takes 63 bytes', text: 'a'.repeat(63), label: `?${'a'.repeat(63)}` },
    { name: 'refuses 64 bytes', text: 'a'.repeat(64), label: undefined },
    { name: 'refuses empty text', text: '', label: undefined },
    { name: 'refuses a dot', text: 'a.b', label: undefined },
    { name: 'refuses a blank', text: 'a b', label: undefined },
    { name: 'refuses a line end', text: 'web\n', label: undefined },
    { name: 'refuses a backslash', text: 'a\\.b', label: undefined },
    { name: 'refuses letters beyond ASCII', text: 'bücher', label: undefined },
    // The Kelvin sign is an ASCII "k" in lower case.
    { name: 'refuses what only lower case makes ASCII', text: '\u212a', label: undefined },
  ]
  for (const { name, text, label } of cases) {
    test(name, () => {
      const bytes = labelOf(text)
      assert.equal(bytes && toLatin1(bytes), label)
    })
  }

  test('takes nothing that would be more or less than one label', () => {
    const char = fc.oneof(
      { weight: 20, arbitrary: fc.constantFrom('a', 'Z', '0', '-', '_') },
      { weight: 1, arbitrary: fc.constantFrom('.', ' ', '\\', '\n', '\0', '\u212a', 'é', '@') },
    )
    fc.assert(
      fc.property(fc.string({ unit: char, maxLength: 70 }), (text) => {
        const label = labelOf(text)
        if (label !== undefined) assert.deepEqual(label, parseRelativeName(text.toLowerCase()))
      }),
    )
  })
})

describe('joinLabels', () => {
  const cases: { name: string; labels: (string | undefined)[]; joined: string | undefined }[] = [
    { name: 'joins leftmost first', labels: ['\x01a', '\x02bc'], joined: '\x01a\x02bc' },
    { name: 'joins nothing to the apex', labels: [], joined: '' },
    {
      name: 'gives nothing when a label is missing',
      labels: ['\x01a', undefined],
      joined: undefined,
    },
  ]
  for (const { name, labels, joined } of cases) {
    test(name, () => {
      const wire = labels.map((text) => (text === undefined ? text : Buffer.from(text, 'latin1')))
      const bytes = joinLabels(...wire)
      assert.equal(bytes && toLatin1(bytes), joined)
    })
  }
})

describe('the fixed labels', () => {
  test('spell svc and pod', () => {
    assert.deepEqual(SVC, labelOf('svc'))
    assert.deepEqual(POD, labelOf('pod'))
  })
})

describe('dashedLabelOf', () => {
  const cases: { name: string; address: string; text: string }[] = [
    { name: 'writes dashes for dots', address: '192.0.2.1', text: '192-0-2-1' },
    { name: 'writes dashes for colons', address: '2001:db8::1', text: '2001-db8--1' },
    { name: 'keeps both colons at the end', address: '2001:db8::', text: '2001-db8--' },
    { name: 'keeps both colons at the front', address: '::1', text: '--1' },
    { name: 'writes dashes in hostnames', address: 'db.example.org', text: 'db-example-org' },
  ]
  for (const { name, address, text } of cases) {
    test(name, () => {
      assert.deepEqual(dashedLabelOf(address), labelOf(text))
    })
  }

  test('spells every address so that it can be read back', () => {
    const address = fc.oneof(
      fc.uint8Array({ minLength: 4, maxLength: 4 }),
      // Groups of zero are frequent in addresses, and rare among random bytes.
      fc
        .array(fc.constantFrom(0, 1, 0xdb8, 0x2001, 0xffff), { minLength: 8, maxLength: 8 })
        .map((groups) => Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 255])))
        .filter((bytes) => !formatAddress(bytes).includes('.')),
    )
    fc.assert(
      fc.property(address, (bytes) => {
        const label = dashedLabelOf(formatAddress(bytes))
        assert.ok(label)
        const read = new Uint8Array(16)
        const size = parseAddressLabel(label, 0, read)
        assert.deepEqual(read.subarray(0, size), bytes)
      }),
    )
  })
})

describe('serviceOwner', () => {
  const cases: { name: string; service: string; namespace: string; owner: string | undefined }[] = [
    { name: 'joins Service, namespace and svc', service: 'a', namespace: 'b', owner: 'a.b.svc.' },
    { name: 'is in lower case', service: 'Web', namespace: 'Shop', owner: 'web.shop.svc.' },
    { name: 'takes no name of two labels', service: 'a.b', namespace: 'c', owner: undefined },
    { name: 'takes no namespace of two labels', service: 'a', namespace: 'b.c', owner: undefined },
    { name: 'takes no empty name', service: '', namespace: 'b', owner: undefined },
  ]
  for (const { name, service, namespace, owner } of cases) {
    test(name, () => {
      const labels = serviceOwner({ name: service, namespace })
      assert.equal(labels && formatName(concatBytes(labels, ROOT)), owner)
    })
  }
})

test('labels stand before those below', () => {
  const below = labelOf('svc')
  assert.deepEqual(labelOf('Web', below), joinLabels(labelOf('web'), below))
  assert.deepEqual(dashedLabelOf('192.0.2.1', below), joinLabels(labelOf('192-0-2-1'), below))
})

test('isLabel agrees with labelOf', () => {
  const text = fc.oneof(fc.string(), fc.stringMatching(/^[a-zA-Z0-9_.-]{0,70}$/))
  fc.assert(
    fc.property(text, (some) => {
      assert.equal(isLabel(some), labelOf(some) !== undefined)
    }),
  )
})
