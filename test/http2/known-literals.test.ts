import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LITERAL_BYTES_KEPT, LITERALS_KEPT, PATH_BYTES_KEPT } from '../../src/http2/bounds.ts'
import { HeaderField } from '../../src/http2/header-field.ts'
import { KnownLiterals } from '../../src/http2/known-literals.ts'
import { STATIC_INDEX_MAX } from '../../src/http2/static-table.ts'

const AUTHORIZATION = 23
const PATH = 4

function noted(index: number, name: string, size = 6): { literals: KnownLiterals; is: Finds } {
  const literals = new KnownLiterals()
  const bytes = new Uint8Array(size).fill(7)
  const field = new HeaderField(name, 'value')
  literals.note(index, { bytes, start: 0, end: size }, field)
  return {
    literals,
    is: (at, octets, start = 0, end = octets.length) =>
      literals.find(at, Uint8Array.from(octets), start, end)?.field === field,
  }
}

type Finds = (index: number, octets: readonly number[], start?: number, end?: number) => boolean

describe('KnownLiterals', () => {
  const sixSevens = [7, 7, 7, 7, 7, 7]

  test('finds the bytes that came last, wherever they stand', () => {
    const { is } = noted(AUTHORIZATION, 'authorization')
    assert.equal(is(AUTHORIZATION, sixSevens), true)
    assert.equal(is(AUTHORIZATION, [1, ...sixSevens, 2], 1), true)
  })

  test('finds no other bytes, and none beyond the end', () => {
    const { is } = noted(AUTHORIZATION, 'authorization')
    for (let i = 0; i < sixSevens.length; i++) {
      assert.equal(is(AUTHORIZATION, sixSevens.with(i, 8)), false)
    }
    assert.equal(is(AUTHORIZATION, sixSevens, 0, 5), false)
  })

  test('finds them under their own name alone', () => {
    const { is } = noted(AUTHORIZATION, 'authorization')
    assert.equal(is(AUTHORIZATION + LITERALS_KEPT, sixSevens), false)
    assert.equal(is(AUTHORIZATION - 1, sixSevens), false)
  })

  test('keeps none that is long, above all no long path', () => {
    const { is } = noted(AUTHORIZATION, 'authorization', LITERAL_BYTES_KEPT + 1)
    assert.equal(is(AUTHORIZATION, new Array(LITERAL_BYTES_KEPT + 1).fill(7)), false)
    const path = noted(PATH, ':path', PATH_BYTES_KEPT + 1)
    assert.equal(path.is(PATH, new Array(PATH_BYTES_KEPT + 1).fill(7)), false)
    assert.equal(noted(PATH, ':path').is(PATH, sixSevens), true)
  })

  test('keeps none whose name is in the dynamic table, where it may change', () => {
    const { is } = noted(STATIC_INDEX_MAX + 1, 'a')
    assert.equal(is(STATIC_INDEX_MAX + 1, sixSevens), false)
  })
})
