import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { nameText, parseNameText } from '../../../src/dns/names/name-text.ts'
import { wireName } from '../../generators.ts'

/** A name on the wire, a label each. */
function wire(...labels: readonly string[]): Uint8Array {
  const bytes = labels.flatMap((label) => {
    const octets = Buffer.from(label, 'latin1')
    return [octets.length, ...octets]
  })
  return Uint8Array.of(...bytes, 0)
}

describe('nameText', () => {
  const cases: { name: string; labels: string[]; text: string }[] = [
    { name: 'ends in a dot', labels: ['www', 'example', 'org'], text: 'www.example.org.' },
    { name: 'is a dot for the root', labels: [], text: '.' },
    { name: 'keeps letter case', labels: ['WwW'], text: 'WwW.' },
    { name: 'writes a dot in a label with a backslash', labels: ['a.b', 'c'], text: 'a\\.b.c.' },
    {
      name: 'writes with a backslash what CoreDNS does',
      labels: [' \'@;()"\\'],
      text: '\\ \\\'\\@\\;\\(\\)\\"\\\\.',
    },
    { name: 'leaves other signs alone', labels: ['_-*$&{1}'], text: '_-*$&{1}.' },
    {
      name: 'writes what cannot be printed as three digits',
      labels: ['\x00\x1f\x7f\xff'],
      text: '\\000\\031\\127\\255.',
    },
  ]
  for (const { name, labels, text } of cases) {
    test(name, () => {
      assert.equal(nameText(wire(...labels)), text)
      assert.deepEqual(parseNameText(text), wire(...labels))
    })
  }
})

describe('parseNameText', () => {
  const cases: { name: string; text: string; labels: string[] | undefined }[] = [
    { name: 'takes a name without its final dot', text: 'a.b', labels: ['a', 'b'] },
    { name: 'takes a final dot in a label for none', text: 'a.b\\.', labels: ['a', 'b.'] },
    { name: 'takes characters as they are', text: 'a b.@', labels: ['a b', '@'] },
    { name: 'takes a backslash before any character', text: '\\a\\1\\é', labels: ['a1\xc3\xa9'] },
    { name: 'takes a backslash at the end for itself', text: 'a\\', labels: ['a\\'] },
    {
      name: 'takes characters beyond ASCII as UTF-8',
      text: 'ü.é',
      labels: ['\xc3\xbc', '\xc3\xa9'],
    },
    { name: 'refuses empty text', text: '', labels: undefined },
    { name: 'refuses an empty label', text: 'a..b', labels: undefined },
    { name: 'refuses an empty label at the beginning', text: '.a', labels: undefined },
    { name: 'refuses an empty label at the end', text: 'a..', labels: undefined },
    { name: 'takes 63 bytes for a label', text: `${'a'.repeat(63)}.`, labels: ['a'.repeat(63)] },
    { name: 'refuses 64 bytes for a label', text: 'a'.repeat(64), labels: undefined },
    { name: 'takes 255 bytes', text: 'a.'.repeat(127), labels: Array(127).fill('a') },
    { name: 'refuses 256 bytes', text: `${'a.'.repeat(126)}aa`, labels: undefined },
    { name: 'refuses thousands of bytes', text: 'a.'.repeat(5000), labels: undefined },
  ]
  for (const { name, text, labels } of cases) {
    test(name, () => {
      assert.deepEqual(parseNameText(text), labels === undefined ? undefined : wire(...labels))
    })
  }

  test('reads back every name that nameText writes', () => {
    fc.assert(
      fc.property(wireName(), (name) => {
        assert.deepEqual(parseNameText(nameText(name)), name)
      }),
    )
  })

  test('makes names of at most 255 bytes of any text', () => {
    const piece = fc.constantFrom('.', '\\', '0', '46', 'a', 'ü', 'a'.repeat(60))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const name = parseNameText(pieces.join(''))
        if (name === undefined) return
        assert.ok(name.length <= 255)
        assert.deepEqual(parseNameText(nameText(name)), name)
      }),
    )
  })
})
