import assert from 'node:assert/strict'
import { test } from 'vitest'
import { CnameLoops } from '../../../src/cluster/trees/cname-loops.ts'

/** Sets targets, given as `NAME TARGET…`. @returns the warnings after the last */
function warningsOf(loops: CnameLoops, ...lines: readonly string[]): string[] {
  for (const line of lines) {
    const [name = '', ...hosts] = line.split(' ')
    loops.set(name, hosts)
  }
  return loops.warnings()
}

test('a circle of CNAMEs has one warning, until one of its names changes', () => {
  const loops = new CnameLoops()
  assert.deepEqual(warningsOf(loops, 'a.test b.test', 'b.test c.test', 'x.test a.test'), [])
  const circle = ['c.test → a.test → b.test → c.test: these CNAMEs point in a circle']
  assert.deepEqual(warningsOf(loops, 'c.test A.test.'), circle)
  // A name that only points into the circle is not part of it.
  assert.deepEqual(warningsOf(loops, 'y.test b.test'), circle)
  assert.deepEqual(warningsOf(loops, 'b.test 203.0.113.1'), [])
  assert.deepEqual(warningsOf(loops, 'b.test 2001:db8::1 c.test'), [
    'b.test → c.test → a.test → b.test: these CNAMEs point in a circle',
  ])
  assert.deepEqual(warningsOf(loops, 'a.test'), [])
})

test('a long chain ends', () => {
  const loops = new CnameLoops()
  const names = Array.from({ length: 40 }, (_, i) => `n${i}.test n${(i + 1) % 40}.test`)
  assert.deepEqual(warningsOf(loops, ...names), [])
})

test('a change of one circle leaves the others', () => {
  const loops = new CnameLoops()
  const other = 'd.test → c.test → d.test: these CNAMEs point in a circle'
  const both = ['a.test b.test', 'b.test a.test', 'c.test d.test', 'd.test c.test']
  assert.equal(warningsOf(loops, ...both).length, 2)
  assert.deepEqual(warningsOf(loops, 'a.test c.test'), [other])
  assert.deepEqual(warningsOf(loops, 'b.test'), [other])
  assert.deepEqual(warningsOf(loops, 'c.test'), [])
})
