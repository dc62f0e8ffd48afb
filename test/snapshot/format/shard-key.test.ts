import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { byteAt, concatBytes } from '../../../src/dns/bytes/bytes.ts'
import { nameOf } from '../../../src/dns/names/name.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import { parseQuery } from '../../../src/dns/wire/query.ts'
import { writeQuery } from '../../../src/dns/wire/write-query.ts'
import {
  shardOfAddress,
  shardOfName,
  shardOfQuery,
} from '../../../src/snapshot/format/shard-key.ts'
import { labels, relativeName } from '../entries.ts'

const COUNT = 4096
const ORIGIN = nameOf('cluster.local')

function shardOf(text: string, count = COUNT): number {
  const name = labels(text)
  return shardOfName(name, name.length, count)
}

describe('shardOfQuery', () => {
  test('is the shard of the same name, read from a query', () => {
    fc.assert(
      fc.property(relativeName(), fc.nat(12), (name, bits) => {
        const query = parseQuery(writeQuery({ name: concatBytes(name, ORIGIN), type: TYPE.A }))
        assert.ok(query.kind === 'query')
        const labelCount = query.labelCount - 2
        const index = shardOfQuery(query, name.length, labelCount, 2 ** bits)
        assert.equal(index, shardOfName(name, name.length, 2 ** bits))
      }),
    )
  })
})

describe('shardOfName', () => {
  test('is the same for all names with the same last three labels', () => {
    const expected = shardOf('web.shop.svc')
    for (const text of ['a.web.shop.svc', '_http._tcp.web.shop.svc', 'a.b.c.d.web.shop.svc']) {
      assert.equal(shardOf(text), expected, text)
    }
  })

  test('goes by the whole of a shorter name', () => {
    const names = ['', 'svc', 'shop.svc', 'web.shop.svc', 'blog.svc', 'web.blog.svc']
    assert.equal(new Set(names.map((name) => shardOf(name))).size, names.length)
  })

  test('reads the first bytes only, as of a query name with its origin', () => {
    const name = labels('web.shop.svc.cluster.local')
    assert.equal(shardOfName(name, 13, COUNT), shardOf('web.shop.svc'))
  })

  test('is 0 for one shard, and in range for any number', () => {
    fc.assert(
      fc.property(relativeName(), fc.nat(12), (name, bits) => {
        const index = shardOfName(name, name.length, 2 ** bits)
        assert.ok(0 <= index && index < 2 ** bits)
      }),
    )
  })

  test('keeps the lower bits if there are half as many shards', () => {
    fc.assert(
      fc.property(relativeName(), (name) => {
        assert.equal(shardOfName(name, name.length, 8), shardOfName(name, name.length, 16) % 8)
      }),
    )
  })

  test('spreads names evenly', () => {
    const counts = new Uint32Array(8)
    for (let i = 0; i < 8000; i++) {
      const index = shardOf(`s${i}.shop.svc`, 8)
      counts[index] = (counts[index] ?? 0) + 1
    }
    for (const count of counts) assert.ok(800 <= count && count <= 1200, `${count} of 8000`)
  })
})

describe('shardOfAddress', () => {
  const address = (): fc.Arbitrary<Uint8Array> =>
    fc.constantFrom(4, 16).chain((size) => fc.uint8Array({ minLength: size, maxLength: size }))

  test('is the same for a block of 256', () => {
    fc.assert(
      fc.property(address(), fc.nat(255), (one, last) => {
        const other = concatBytes(one.subarray(0, -1), Uint8Array.of(last))
        assert.equal(shardOfAddress(one, COUNT), shardOfAddress(other, COUNT))
      }),
    )
  })

  test('goes by every byte but the last', () => {
    const base = Uint8Array.of(192, 0, 2, 1)
    for (const i of [0, 1, 2]) {
      const other = base.slice()
      other[i] = byteAt(base, i) + 1
      assert.notEqual(shardOfAddress(other, COUNT), shardOfAddress(base, COUNT))
    }
  })

  test('is one of the shards', () => {
    fc.assert(
      fc.property(address(), fc.nat(12), (one, bits) => {
        const index = shardOfAddress(one, 2 ** bits)
        assert.ok(0 <= index && index < 2 ** bits)
      }),
    )
  })
})
