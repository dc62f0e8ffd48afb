import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { block, directive, problemsOf, serve } from '../ask.ts'

/** Records of one answer, and where each belongs in it. */
const RECORDS: readonly [rank: number, record: string][] = [
  [0, 'www.example.org. 60 IN CNAME a.example.org.'],
  [0, 'a.example.org. 60 IN CNAME b.example.org.'],
  [1, 'b.example.org. 60 IN TXT "one"'],
  [1, 'b.example.org. 60 IN TXT "two"'],
  [2, 'b.example.org. 60 IN A 192.0.2.1'],
  [2, 'b.example.org. 60 IN A 192.0.2.2'],
  [2, 'b.example.org. 60 IN AAAA 2001:db8::1'],
  [3, 'b.example.org. 60 IN MX 10 mx1.example.org.'],
  [3, 'b.example.org. 60 IN MX 10 mx2.example.org.'],
]

function addresses(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `www.example.org. 60 IN A 192.0.2.${i}`)
}

async function balance(answer: readonly string[], seed: number): Promise<string[]> {
  const server = serve(block('loadbalance', 'forward . 192.0.2.53'), {
    seed,
    upstream: () => ['NOERROR', ...answer],
  })
  return (await server.ask('www.example.org A +tcp')).slice(1)
}

describe('loadbalance', () => {
  test('keeps all records, aliases first, then others as they came, addresses, exchangers', () =>
    fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([...RECORDS], { minLength: 1 }),
        fc.nat(),
        async (chosen, seed) => {
          const answer = chosen.map(([, record]) => record)
          const balanced = await balance(answer, seed)
          assert.deepEqual(balanced.toSorted(), answer.toSorted())
          const rankOf = new Map(chosen.map(([rank, record]) => [record, rank]))
          const ranks = balanced.map((record) => rankOf.get(record) ?? -1)
          assert.deepEqual(ranks, ranks.toSorted())
          const firm = (records: readonly string[]): string[] =>
            records.filter((record) => (rankOf.get(record) ?? 0) < 2)
          const firmFirst = chosen.toSorted(([a], [b]) => a - b).map(([, record]) => record)
          assert.deepEqual(firm(balanced), firm(firmFirst))
        },
      ),
    ))

  test('gives every order of three addresses its turn', async () => {
    const seen = new Map<string, number>()
    for (let seed = 0; seed < 600; seed++) {
      const order = (await balance(addresses(3), seed * 7919)).join()
      seen.set(order, (seen.get(order) ?? 0) + 1)
    }
    assert.equal(seen.size, 6)
    for (const count of seen.values()) assert.ok(count > 50, `${count} of 600`)
  })

  test('balances authority and additional sections as well', async () => {
    const extra = [...addresses(8).map((line) => `authority: ${line}`)]
    const more = [...addresses(8).map((line) => `additional: ${line}`)]
    const balanced = await balance([...extra, ...more], 5)
    assert.notDeepEqual(balanced.slice(0, 8), extra)
    assert.deepEqual(balanced.slice(0, 8).toSorted(), extra)
    assert.notDeepEqual(balanced.slice(8), more)
    assert.deepEqual(balanced.slice(8).toSorted(), more)
  })

  test('leaves replies with another code than NOERROR as they are', async () => {
    const server = serve(block('loadbalance', 'forward . 192.0.2.53'), {
      seed: 5,
      upstream: () => ['NXDOMAIN', ...addresses(8)],
    })
    assert.deepEqual((await server.ask('www.example.org A')).slice(1), addresses(8))
  })

  test('leaves failures alone', async () => {
    assert.deepEqual(await serve(block('loadbalance')).ask('www.example.org A'), ['SERVFAIL rd'])
  })

  test('may be told its only policy', () => {
    assert.deepEqual(problemsOf(block('loadbalance round_robin')), [])
  })

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'has no other policy',
      directives: ['loadbalance weighted'],
      problem: 'Corefile:2:15: "weighted" is not supported by "loadbalance", only round_robin is',
    },
    {
      name: 'takes one argument',
      directives: ['loadbalance round_robin file'],
      problem: 'Corefile:2:27: "loadbalance" takes at most 1, got "file"',
    },
    {
      name: 'takes no options',
      directives: [directive('loadbalance', 'prefer 192.0.2.0/24')],
      problem: 'Corefile:3:5: "loadbalance" has no option "prefer", nor any other',
    },
    {
      name: 'stands once in a block',
      directives: ['loadbalance', 'loadbalance'],
      problem: 'Corefile:3:3: "loadbalance" stands twice in this server block, once is allowed',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
