import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  findField,
  findName,
  STATIC_INDEX_MAX,
  STATIC_TABLE,
} from '../../src/http2/static-table.ts'

describe('the static table', () => {
  const known: readonly (readonly [number, string, string])[] = [
    [1, ':authority', ''],
    [2, ':method', 'GET'],
    [8, ':status', '200'],
    [14, ':status', '500'],
    [16, 'accept-encoding', 'gzip, deflate'],
    [28, 'content-length', ''],
    [31, 'content-type', ''],
    [33, 'date', ''],
    [61, 'www-authenticate', ''],
  ]
  for (const [index, name, value] of known) {
    test(`has "${name}" at ${index}, as RFC 7541 appendix A`, () => {
      assert.deepEqual([STATIC_TABLE[index]?.name, STATIC_TABLE[index]?.value], [name, value])
      assert.equal(findField(name, value), index)
    })
  }

  test('begins with 1 and ends with 61', () => {
    assert.equal(STATIC_TABLE[0], undefined)
    assert.equal(STATIC_INDEX_MAX, 61)
  })

  test('finds names by their first index', () => {
    assert.equal(findName(':method'), 2)
    assert.equal(findName(':status'), 8)
    assert.equal(findName('x-other'), undefined)
    assert.equal(findField(':method', 'PUT'), undefined)
  })
})
