import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { NamesBelow } from '../../../src/cluster/trees/names-below.ts'
import { BELOW_TYPE, readHostKey } from '../../../src/snapshot/records/host-claims.ts'

/** `NAME NAMESPACE…` of each name above others, sorted. */
function linesOf(below: NamesBelow): string[] {
  const lines = [...below.names()].map((name) => {
    const namespaces = below.entriesOf(name).flatMap((entry) => {
      assert.ok(entry.kind === 'records' && entry.type === BELOW_TYPE && entry.isGlue === true)
      return entry.rdata.map(({ bytes }) => new TextDecoder().decode(bytes))
    })
    return [name, ...namespaces].join(' ')
  })
  return lines.sort()
}

describe('the names above hostnames', () => {
  const cases: { name: string; hosts: string[]; lines: string[] }[] = [
    {
      name: 'reach up to the apex',
      hosts: ['c.b.a.test'],
      lines: ['a.test shop', 'b.a.test shop'],
    },
    {
      name: 'are those of a wildcard, too',
      hosts: ['*.b.a.test'],
      lines: ['a.test shop', 'b.a.test shop'],
    },
    { name: 'reach up to the longest zone', hosts: ['x.in.a.test'], lines: ['in.a.test shop'] },
    { name: 'are none above an apex', hosts: ['a.test', 'in.a.test'], lines: [] },
    { name: 'are none outside of the zones', hosts: ['c.b.test'], lines: [] },
  ]
  for (const { name, hosts, lines } of cases) {
    test(name, () => {
      const below = new NamesBelow(['a.test', 'in.a.test'])
      for (const host of hosts) below.set(host, ['shop'])
      assert.deepEqual(linesOf(below), lines)
    })
  }

  test('have the namespaces of all hostnames below them, and report when these change', () => {
    const below = new NamesBelow(['a.test'])
    assert.deepEqual(below.set('x.b.a.test', ['shop', 'blog']), ['b.a.test', 'a.test'])
    assert.deepEqual(below.set('y.b.a.test', ['shop']), [])
    assert.deepEqual(below.set('y.b.a.test', ['shop']), [])
    assert.deepEqual(linesOf(below), ['a.test blog shop', 'b.a.test blog shop'])
    assert.deepEqual(below.set('x.b.a.test', ['infra']), ['b.a.test', 'a.test'])
    assert.deepEqual(linesOf(below), ['a.test infra shop', 'b.a.test infra shop'])
    assert.deepEqual(below.set('x.b.a.test', []), ['b.a.test', 'a.test'])
    assert.deepEqual(below.set('y.b.a.test', []), ['b.a.test', 'a.test'])
    assert.deepEqual(linesOf(below), [])
  })

  test('may be all below the root', () => {
    const below = new NamesBelow([''])
    below.set('b.test', ['shop'])
    assert.deepEqual(linesOf(below), ['test shop'])
  })

  test('have no key if they are too long, and one that no hostname has', () => {
    const below = new NamesBelow(['a.test'])
    const long = `${'x'.repeat(63)}.${'y'.repeat(63)}.${'z'.repeat(63)}.${'w'.repeat(47)}.a.test`
    assert.equal(below.set(`a.${long}`, ['shop']).length, 5)
    const [entry] = below.entriesOf('a.test')
    assert.ok(entry?.kind === 'records')
    const { labels, rank } = readHostKey(entry.owner)
    assert.deepEqual([rank, [...labels.slice(-2)]], [0, [1, 0x21]])
    for (const name of below.names()) assert.equal(below.entriesOf(name).length, 1)
  })

  test('are the same whatever came before', () => {
    const host = fc.constantFrom('a.test', 'b.a.test', 'c.b.a.test', '*.a.test', 'd.c.b.a.test')
    const namespaces = fc.subarray(['one', 'two', 'three'])
    fc.assert(
      fc.property(fc.array(fc.tuple(host, namespaces)), (changes) => {
        const [below, fresh] = [new NamesBelow(['a.test']), new NamesBelow(['a.test'])]
        const known = new Map(linesOf(below).map((line) => [line, line]))
        for (const [name, own] of changes) {
          const before = new Map(Array.from(below.names(), (one) => [one, below.entriesOf(one)]))
          const changed = below.set(name, own)
          for (const one of new Set([...before.keys(), ...below.names()])) {
            if (changed.includes(one)) continue
            assert.deepEqual(below.entriesOf(one), before.get(one))
          }
        }
        for (const [name, own] of new Map(changes)) fresh.set(name, own)
        assert.deepEqual(linesOf(below), linesOf(fresh))
        assert.equal(known.size, 0)
      }),
    )
  })
})
