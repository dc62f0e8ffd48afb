import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { recordOf } from '../../../src/dns/bytes/unknown.ts'
import {
  objectName,
  watchObject,
  watchReads,
} from '../../../src/operators/convert/watched-reads.ts'

describe('watchReads', () => {
  test('names what was not read, at any depth', () => {
    const { value, unread } = watchReads({
      read: 1,
      not: 2,
      inner: { read: { a: 1 }, not: { a: 1 } },
      list: [{ read: 1, not: 2 }, 'text'],
      'odd key\n': 1,
    })
    const { read, inner, list } = recordOf(value)
    assert.equal(read, 1)
    assert.equal(recordOf(recordOf(inner).read).a, 1)
    const [first] = Array.isArray(list) ? list : []
    assert.equal(recordOf(first).read, 1)
    assert.deepEqual(unread(), ['not', 'inner.not', 'list[0].not', 'list[1]', '["odd key\\n"]'])
  })

  test('leaves out empty values', () => {
    const { unread } = watchReads({ a: null, b: '', c: {}, d: [], e: undefined, f: 0, g: false })
    assert.deepEqual(unread(), ['f', 'g'])
  })

  test('reads a list as a whole by its methods', () => {
    const { value, unread } = watchReads(['a', 'b', ['c']])
    assert.ok(Array.isArray(value))
    assert.deepEqual(value.map(String), ['a', 'b', 'c'])
    assert.deepEqual(unread(), [])
  })

  test('has the value itself where there are no fields', () => {
    const { value, unread } = watchReads('text')
    assert.equal(value, 'text')
    assert.deepEqual(unread(), [])
  })

  test('names a hundred fields at most', () => {
    const fields = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`f${i}`, i]))
    const unread = watchReads(fields).unread()
    assert.equal(unread.length, 101)
    assert.equal(unread.at(-1), '50 more fields')
  })
})

test('watchObject leaves out what says what an object is', () => {
  const { unread } = watchObject({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'a', labels: { a: 'b' } },
    status: { a: 1 },
    statusText: 1,
    spec: { a: 1 },
  })
  assert.deepEqual(unread(), ['statusText', 'spec'])
})

describe('objectName', () => {
  const cases: readonly (readonly [object: unknown, name: string])[] = [
    [{ kind: 'Service', metadata: { namespace: 'a', name: 'b' } }, 'Service a/b'],
    [{ kind: 'Service', metadata: { name: 'b' } }, 'Service b'],
    [{ kind: 'Service' }, 'Service'],
    [[], 'document'],
    ['text', 'document'],
  ]
  for (const [object, name] of cases) {
    test(name, () => {
      assert.equal(objectName(object), name)
    })
  }
})
