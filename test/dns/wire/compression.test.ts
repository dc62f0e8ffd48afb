import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatHex } from '../../../src/dns/bytes/bytes.ts'
import { POINTER_OFFSET_MAX } from '../../../src/dns/names/limits.ts'
import { equalNames, formatName, nameOf, ROOT } from '../../../src/dns/names/name.ts'
import { Compression } from '../../../src/dns/wire/compression.ts'
import { WireReader } from '../../../src/dns/wire/rdata-wire.ts'
import { wireName } from '../../generators.ts'
import { familyName } from './arbitraries.ts'

/** Writes names one behind the other, those after `!` whole, and returns what each became. */
function written(names: readonly string[], start = 12): string[] {
  const compression = new Compression()
  const message = new Uint8Array(70000)
  let at = start
  return names.map((text) => {
    const isWhole = text.startsWith('!')
    const from = at
    at = compression.write(message, at, nameOf(text.replace('!', '')), 0, !isWhole)
    return formatHex(message.subarray(from, at))
  })
}

const org = '036f726700'
const example = `076578616d706c65${org}`

describe('Compression.write', () => {
  const cases: { name: string; names: string[]; octets: string[] }[] = [
    { name: 'writes a first name whole', names: ['example.org'], octets: [example] },
    {
      name: 'points at the same name',
      names: ['example.org', 'example.org'],
      octets: [example, 'c00c'],
    },
    { name: 'points at a suffix', names: ['example.org', 'org'], octets: [example, 'c014'] },
    {
      name: 'points after new labels',
      names: ['example.org', 'a.example.org'],
      octets: [example, '0161c00c'],
    },
    {
      name: 'points at a name that ends in a pointer itself',
      names: ['example.org', 'a.example.org', 'b.a.example.org'],
      octets: [example, '0161c00c', '0162c019'],
    },
    {
      name: 'finds a name of other letter case',
      names: ['example.org', 'EXAMPLE.Org'],
      octets: [example, 'c00c'],
    },
    { name: 'folds no other bytes', names: ['\\192', '\\224'], octets: ['01c000', '01e000'] },
    { name: 'never points at the root', names: ['.', '.'], octets: ['00', '00'] },
    {
      name: 'does not take a part of a label',
      names: ['aorg', 'org'],
      octets: ['04616f726700', org],
    },
    {
      name: 'does not take labels for a label with a dot',
      names: ['a.b', 'a\\.b'],
      octets: ['0161016200', '03612e6200'],
    },
    {
      name: 'writes a name whole where it must be',
      names: ['example.org', '!example.org'],
      octets: [example, example],
    },
    {
      name: 'points at a name that had to be whole',
      names: ['!a.example.org', 'a.example.org', 'org'],
      octets: [`0161${example}`, 'c00c', 'c016'],
    },
    {
      name: 'points at the new labels of a name that had to be whole',
      names: ['example.org', '!a.example.org', 'a.example.org'],
      octets: [example, `0161${example}`, 'c019'],
    },
  ]
  for (const { name, names, octets } of cases) {
    test(name, () => {
      assert.deepEqual(written(names), octets)
    })
  }

  test('points to offsets up to the maximum of a pointer', () => {
    const last = POINTER_OFFSET_MAX
    assert.deepEqual(written(['org', 'org'], last), [org, 'ffff'])
    assert.deepEqual(written(['org', 'org'], last + 1), [org, org])
    assert.deepEqual(written(['a.org', 'b.org'], last - 2), [`0161${org}`, '0162ffff'])
    assert.deepEqual(written(['a.org', 'b.org', 'a.org'], last - 1), [
      `0161${org}`,
      `0162${org}`,
      'fffe',
    ])
  })

  test('starts within the name it is given', () => {
    const message = new Uint8Array(100)
    const end = new Compression().write(message, 12, nameOf('a.example.org'), 2, true)
    assert.equal(formatHex(message.subarray(12, end)), example)
  })

  test('finds a name that it is given from its middle', () => {
    const message = new Uint8Array(100)
    const compression = new Compression()
    const end = compression.write(message, 12, nameOf('b.example.org'), 0, true)
    const last = compression.write(message, end, nameOf('a.b.example.org'), 2, true)
    assert.equal(formatHex(message.subarray(end, last)), 'c00c')
  })

  test('distinguishes all one-byte names, also with equal hashes', () => {
    const names = Array.from({ length: 256 }, (_, value) => `\\${String(value).padStart(3, '0')}`)
    written(names).forEach((octets, value) => {
      const isSmallLetter = value >= 0x61 && value <= 0x7a
      assert.equal(octets.length, isSmallLetter ? 4 : 6, octets)
    })
  })

  test('forgets all names when it is cleared', () => {
    const compression = new Compression()
    const message = new Uint8Array(100)
    compression.write(message, 12, nameOf('org'), 0, true)
    compression.clear()
    assert.equal(compression.write(message, 12, nameOf('org'), 0, true), 17)
    assert.equal(compression.write(message, 17, nameOf('org'), 0, true), 19)
  })

  test('still writes names when the table is full', () => {
    const names = Array.from({ length: 3000 }, (_, i) => `n${i}.a`)
    const octets = written([...names, ...names.slice(0, 5)])
    assert.deepEqual(
      octets.slice(-5).map((text) => text.length),
      [4, 4, 4, 4, 4],
    )
    assert.ok(octets.slice(1, 3000).every((text) => text.endsWith('c00f')))
  })
})

describe('Compression.learn', () => {
  test('lets later names point to existing ones', () => {
    const message = new Uint8Array(100)
    message.set(nameOf('WWW.example.org'), 12)
    const compression = new Compression()
    compression.learn(message, 12)
    assert.equal(compression.write(message, 40, nameOf('www.Example.org'), 0, true), 42)
    assert.equal(formatHex(message.subarray(40, 42)), 'c00c')
    assert.equal(formatName(message.subarray(12)), 'WWW.example.org.')
  })

  test('does not remember the root', () => {
    const message = new Uint8Array(100)
    const compression = new Compression()
    compression.learn(message, 12)
    assert.equal(compression.write(message, 13, ROOT, 0, true), 14)
  })
})

describe('names that were compressed', () => {
  const entry = fc.tuple(fc.oneof({ arbitrary: familyName(), weight: 4 }, wireName()), fc.boolean())
  const start = fc.constantFrom(12, POINTER_OFFSET_MAX - 20)

  test('read back as they were, letter case aside, and never take more room', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 40 }), start, (entries, offset) => {
        const compression = new Compression()
        const message = new Uint8Array(40000)
        let at = offset
        for (const [name, mayPoint] of entries) {
          const end = compression.write(message, at, name, 0, mayPoint)
          if (mayPoint) assert.ok(end - at <= name.length)
          else assert.deepEqual(message.slice(at, end), name)
          const reader = new WireReader(message.slice(0, end), at)
          assert.ok(equalNames(reader.name(), name))
          assert.equal(reader.at, end)
          assert.equal(reader.isBroken, false)
          at = end
        }
      }),
      { numRuns: 500 },
    )
  })
})
