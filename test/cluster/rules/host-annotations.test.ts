import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { readAnnotations } from '../../../src/cluster/rules/host-annotations.ts'

const PREFIXES = ['a.io/', 'b.io/']
const read = (some: Readonly<Record<string, string>>): ReturnType<typeof readAnnotations> =>
  readAnnotations(new Map(Object.entries(some)), PREFIXES)

describe('readAnnotations', () => {
  test('returns nothing without annotations', () => {
    assert.deepEqual(read({ 'c.io/hostname': 'x.test' }), {
      hostnames: [],
      internalHostnames: [],
      targets: [],
      ttlSeconds: undefined,
      isForeign: false,
      access: '',
      takesOwn: true,
      problems: [],
    })
  })

  test('joins lists of all prefixes', () => {
    const { hostnames, targets } = read({
      'a.io/hostname': ' X.test, y.test. ,',
      'b.io/hostname': 'x.test,z.test',
      'b.io/target': '192.0.2.1',
    })
    assert.deepEqual(hostnames, ['x.test', 'y.test', 'z.test'])
    assert.deepEqual(targets, ['192.0.2.1'])
  })

  const ttls: { text: string; seconds: number | undefined }[] = [
    { text: '60', seconds: 60 },
    { text: '1m', seconds: 60 },
    { text: '1h1m1s', seconds: 3661 },
    { text: '0', seconds: undefined },
    { text: '', seconds: undefined },
    { text: '-1', seconds: undefined },
    { text: '1.5h', seconds: undefined },
    { text: '99999999999', seconds: undefined },
  ]
  for (const { text, seconds } of ttls) {
    test(`reads the TTL "${text}" as ${seconds}`, () => {
      const { ttlSeconds, problems } = read({ 'a.io/ttl': text })
      assert.equal(ttlSeconds, seconds)
      const problem = `ttl "${text}" is not a number of seconds or a duration`
      assert.deepEqual(problems, seconds === undefined ? [problem] : [])
    })
  }

  test('knows whose an object is, and which hostnames count', () => {
    assert.equal(read({ 'a.io/controller': 'other' }).isForeign, true)
    assert.equal(read({ 'a.io/controller': 'dns-controller' }).isForeign, false)
    const only = read({ 'a.io/gateway-hostname-source': 'annotation-only', 'a.io/hostname': 'x' })
    assert.deepEqual([only.takesOwn, only.hostnames], [false, ['x']])
    const own = read({ 'a.io/ingress-hostname-source': 'defined-hosts-only', 'a.io/hostname': 'x' })
    assert.deepEqual([own.takesOwn, own.hostnames], [true, []])
  })
})
