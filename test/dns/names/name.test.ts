import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  equalNames,
  formatLabel,
  formatName,
  isSubdomain,
  joinName,
  labelOffsets,
  lowerName,
  nameKey,
  nameOf,
  parseName,
  parseRelativeName,
  ROOT,
  tailOffset,
} from '../../../src/dns/names/name.ts'
import { wireName } from '../../generators.ts'

describe('parseName', () => {
  const label63 = 'a'.repeat(63)
  const name255 = [label63, label63, label63, 'a'.repeat(61)].join('.')
  const cases: { name: string; text: string; wire: string | undefined }[] = [
    { name: 'takes the root', text: '.', wire: '00' },
    { name: 'takes a name without its final dot', text: 'a.b', wire: '0161016200' },
    { name: 'takes a name with its final dot', text: 'a.b.', wire: '0161016200' },
    { name: 'keeps letter case', text: 'aB', wire: '02614200' },
    { name: 'reads \\. as part of a label', text: 'a\\.b.c', wire: '03612e62016300' },
    {
      name: 'refuses a megabyte of backslashes',
      text: `${'\\'.repeat(2 ** 20)}a.`,
      wire: undefined,
    },
    { name: 'reads a final \\. as part of a label', text: 'a\\.', wire: '02612e00' },
    { name: 'reads \\DDD', text: '\\000\\255', wire: '0200ff00' },
    { name: 'reads \\. as the only label', text: '\\.', wire: '012e00' },
    { name: 'takes any mark after a backslash', text: '\\!\\/\\:\\~', wire: '04212f3a7e00' },
    { name: 'takes 255 bytes', text: name255, wire: undefined },
    { name: 'refuses empty text', text: '', wire: undefined },
    { name: 'refuses an empty label', text: 'a..b', wire: undefined },
    { name: 'refuses a leading dot', text: '.a', wire: undefined },
    { name: 'refuses two final dots', text: 'a..', wire: undefined },
    { name: 'refuses a label of 64 bytes', text: `${label63}a`, wire: undefined },
    { name: 'refuses 256 bytes', text: `${name255}a`, wire: undefined },
    { name: 'refuses \\DDD over 255', text: '\\256', wire: undefined },
    { name: 'refuses a backslash at the end', text: 'a\\', wire: undefined },
    { name: 'refuses \\ before one digit', text: '\\1', wire: undefined },
    { name: 'refuses \\9', text: '\\9', wire: undefined },
    { name: 'refuses \\ before a blank', text: '\\ ', wire: undefined },
    { name: 'refuses \\ before what is not printed', text: '\\\u007f', wire: undefined },
    { name: 'refuses the character after ~', text: '\u007f', wire: undefined },
    { name: 'refuses characters beyond ASCII', text: 'bücher', wire: undefined },
  ]
  for (const { name, text, wire } of cases) {
    test(name, () => {
      const parsed = parseName(text)
      if (text === name255) assert.equal(parsed?.length, 255)
      else assert.equal(parsed && Buffer.from(parsed).toString('hex'), wire)
    })
  }

  test('never throws, and accepts only names', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '.', '\\', '0', '1', '2', '@', '\u0141') })
    fc.assert(
      fc.property(fc.oneof(text, fc.string()), (candidate) => {
        const name = parseName(candidate)
        if (name === undefined) return
        assert.ok(name.length <= 255)
        assert.ok(labelOffsets(name).every((at) => (name[at] ?? 64) <= 63))
        assert.deepEqual(parseName(formatName(name)), name)
      }),
      { numRuns: 1000 },
    )
  })

  test('parses what formatName writes, byte for byte', () => {
    fc.assert(
      fc.property(wireName(), (wire) => {
        assert.deepEqual(parseName(formatName(wire)), wire)
      }),
    )
  })
})

describe('formatName', () => {
  test('escapes the special characters of zone files', () => {
    assert.equal(
      formatName(nameOf('a\\.b\\"\\\\\\;\\(\\)\\@\\032!~\\127.x')),
      'a\\.b\\"\\\\\\;\\(\\)\\@\\032!~\\127.x.',
    )
  })
})

describe('parts of a name', () => {
  test('can be formatted from an offset', () => {
    const name = nameOf('a.b\\.c.d')
    assert.equal(formatName(name, 2), 'b\\.c.d.')
    assert.equal(formatName(name, name.length - 1), '.')
    assert.equal(formatLabel(name, 2), 'b\\.c')
  })

  test('fold in a copy', () => {
    const name = nameOf('A.\\192Z')
    assert.deepEqual(lowerName(name), nameOf('a.\\192z'))
    assert.deepEqual(name, nameOf('A.\\192Z'))
  })
})

describe('nameOf', () => {
  test('throws where parseName finds no name', () => {
    assert.deepEqual(nameOf('a.b'), parseName('a.b'))
    assert.throws(() => nameOf('a..b'), TypeError)
  })
})

describe('comparing names', () => {
  const cases: { name: string; a: string; b: string; same: boolean }[] = [
    { name: 'folds ASCII letters', a: 'WWW.Example.ORG', b: 'www.example.org', same: true },
    { name: 'folds no other bytes', a: '\\192', b: '\\224', same: false },
    { name: 'keeps a dot in a label apart from labels', a: 'a\\.b', b: 'a.b', same: false },
    { name: 'distinguishes different lengths', a: 'a.b', b: 'b', same: false },
  ]
  for (const { name, a, b, same } of cases) {
    test(name, () => {
      assert.equal(equalNames(nameOf(a), nameOf(b)), same)
      assert.equal(nameKey(nameOf(a)) === nameKey(nameOf(b)), same)
    })
  }
})

describe('isSubdomain', () => {
  const cases: { name: string; child: string; zone: string; within: boolean }[] = [
    { name: 'holds for the zone itself', child: 'a.b', zone: 'A.B', within: true },
    { name: 'holds below the zone', child: 'x.y.a.b', zone: 'a.b', within: true },
    { name: 'holds below the root', child: 'a', zone: '.', within: true },
    { name: 'fails for the parent', child: 'b', zone: 'a.b', within: false },
    { name: 'fails within a label', child: 'xa.b', zone: 'a.b', within: false },
    {
      name: 'is not misled by a label that looks like the zone',
      child: '\\001a',
      zone: 'a',
      within: false,
    },
  ]
  for (const { name, child, zone, within } of cases) {
    test(name, () => {
      assert.equal(isSubdomain(nameOf(child), nameOf(zone)), within)
    })
  }
})

describe('taking names apart and together', () => {
  test('tailOffset and joinName undo each other', () => {
    const origin = nameOf('cluster.local')
    fc.assert(
      fc.property(wireName({ bytesMax: 200 }), (wire) => {
        const relative = wire.subarray(0, -1)
        const joined = joinName(relative, origin)
        assert.ok(joined)
        assert.equal(tailOffset(joined, origin), relative.length)
      }),
    )
  })

  test('joinName refuses over 255 bytes', () => {
    const long = nameOf(['a'.repeat(63), 'a'.repeat(63), 'a'.repeat(63)].join('.')).subarray(0, -1)
    assert.equal(joinName(long, nameOf('b'.repeat(63))), undefined)
  })

  test('labelOffsets leaves the root out', () => {
    assert.deepEqual(labelOffsets(nameOf('ab.c')), [0, 3])
    assert.deepEqual(labelOffsets(ROOT), [])
    assert.deepEqual(labelOffsets(nameOf('ab.c').subarray(0, -1)), [0, 3])
  })

  test('parseRelativeName returns no root byte', () => {
    assert.deepEqual(parseRelativeName('a'), Uint8Array.of(1, 0x61))
    assert.deepEqual(parseRelativeName(''), new Uint8Array(0))
  })
})
