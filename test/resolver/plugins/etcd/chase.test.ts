import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, serve } from '../../../ask.ts'

const UPSTREAM = {
  'www.example.net. IN A rd': ['NOERROR rd ra', 'www.example.net. 60 IN A 192.0.2.80'],
  'www.example.net. IN TXT rd': ['NOERROR rd ra', 'www.example.net. 60 IN TXT "elsewhere"'],
  'nosuch.example.net. IN A rd': ['NXDOMAIN rd ra'],
  'long.example.net. IN A rd': ['NOERROR tc rd ra', 'long.example.net. 60 IN A 192.0.2.81'],
}
const COREFILE = block(
  'etcd example.org',
  'acl drop.example.net {\n drop\n}',
  'forward . 192.0.2.53',
)

type Case = {
  readonly name: string
  /** Values by key below `/skydns/org/example`. */
  readonly keys: Readonly<Record<string, unknown>>
  readonly ask: string
  readonly reply: readonly string[]
}

const CASES: readonly Case[] = [
  {
    name: 'finds addresses of the family that is requested, each once',
    keys: {
      '/www/a': { host: '192.0.2.1' },
      '/www/b': { host: '192.0.2.1', ttl: 7 },
      '/www/c': { host: '2001:db8::1' },
      '/www/d/e': { host: '::ffff:192.0.2.2' },
    },
    ask: 'www.example.org A',
    reply: ['www.example.org. 300 IN A 192.0.2.1', 'www.example.org. 300 IN A 192.0.2.2'],
  },
  {
    name: 'follows CNAMEs within the zone, with each as it is written',
    keys: {
      '/www': { host: 'Middle.example.org' },
      '/middle': { host: 'end.example.org.', ttl: 9 },
      '/end': { host: '2001:db8::1' },
    },
    ask: 'www.example.org AAAA',
    reply: [
      'www.example.org. 300 IN CNAME Middle.example.org.',
      'Middle.example.org. 9 IN CNAME end.example.org.',
      'end.example.org. 300 IN AAAA 2001:db8::1',
    ],
  },
  {
    name: 'leaves out a CNAME that points nowhere within the zone',
    keys: { '/www/a': { host: 'nosuch.example.org' }, '/www/b': { host: '192.0.2.1' } },
    ask: 'www.example.org A',
    reply: ['www.example.org. 300 IN A 192.0.2.1'],
  },
  {
    name: 'leaves out CNAMEs to the name itself and below it',
    keys: {
      '/www/a': { host: 'www.example.org' },
      '/www/b': { host: 'x.WWW.example.org' },
      '/www/x': { host: '192.0.2.1' },
    },
    ask: 'www.example.org A',
    reply: ['www.example.org. 300 IN A 192.0.2.1'],
  },
  {
    name: 'ends at a loop',
    keys: { '/a': { host: 'b.example.org' }, '/b': { host: 'a.example.org' } },
    ask: 'a.example.org A',
    reply: [],
  },
  {
    name: 'follows eleven CNAMEs, and no more',
    keys: Object.fromEntries([
      ...Array.from({ length: 12 }, (_, i) => [`/a${i}`, { host: `a${i + 1}.example.org` }]),
      ['/a12', { host: '192.0.2.1' }],
    ]),
    ask: 'a0.example.org A',
    reply: [],
  },
  {
    name: 'queries the whole server for what is elsewhere',
    keys: { '/www': { host: 'www.example.net' } },
    ask: 'www.example.org A',
    reply: [
      'www.example.org. 300 IN CNAME www.example.net.',
      'www.example.net. 60 IN A 192.0.2.80',
    ],
  },
  {
    name: 'keeps a CNAME that points nowhere elsewhere',
    keys: { '/www': { host: 'nosuch.example.net' } },
    ask: 'www.example.org A',
    reply: ['www.example.org. 300 IN CNAME nosuch.example.net.'],
  },
  {
    name: 'leaves out a CNAME to a name without an answer',
    keys: { '/www': { host: 'drop.example.net' } },
    ask: 'www.example.org A',
    reply: [],
  },
  {
    name: 'finds texts, each once',
    keys: {
      '/t/a': { text: 'one' },
      '/t/b': { text: 'two', host: 'www.example.net' },
      '/t/c': { text: 'one', ttl: 5 },
      '/t/d': { host: '192.0.2.1', text: 'hidden by an address' },
    },
    ask: 't.example.org TXT',
    reply: ['t.example.org. 300 IN TXT "one"', 't.example.org. 300 IN TXT "two"'],
  },
  {
    name: 'follows CNAMEs to texts',
    keys: { '/t': { host: 'www.example.net' } },
    ask: 't.example.org TXT',
    reply: [
      't.example.org. 300 IN CNAME www.example.net.',
      'www.example.net. 60 IN TXT "elsewhere"',
    ],
  },
]

describe('a chase', () => {
  for (const { name, keys, ask, reply } of CASES) {
    test(name, async () => {
      const lines = await serverOf(keys).ask(ask)
      const pointsNowhere = reply.some((line) => line.endsWith(' nosuch.example.net.'))
      assert.equal(lines[0], `${pointsNowhere ? 'NXDOMAIN' : 'NOERROR'} aa rd`)
      assert.deepEqual(
        lines.slice(1).filter((line) => !line.startsWith('authority: ')),
        reply,
      )
    })
  }

  test('says that a part is cut', async () => {
    const [head] = await serverOf({ '/www': { host: 'long.example.net' } }).ask('www.example.org A')
    assert.equal(head, 'NOERROR aa tc rd')
  })

  test('has a bound for all chains together', async () => {
    // Each of ten names leads to all of the next ten: there are ten billion ways to the end.
    const keys = Object.fromEntries(
      Array.from({ length: 10 }, (_, i) =>
        Array.from({ length: 10 }, (_, j) => [
          `/n${i}/${j}`,
          { host: `${j}.n${i + 1}.example.org` },
        ]),
      ).flat(),
    )
    const [head] = await serverOf({ ...keys, '/n1': { host: '192.0.2.1' } }).ask('n0.example.org A')
    assert.equal(head, 'NOERROR aa rd')
  })
})

function serverOf(keys: Case['keys']): ReturnType<typeof serve> {
  const below = Object.entries(keys).map(([key, value]) => [`/skydns/org/example${key}`, value])
  return serve(COREFILE, { keys: Object.fromEntries(below), upstream: UPSTREAM })
}
