import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatProblem } from '../../../../src/corefile/problem.ts'
import { block, directive, problemsOf, type Server, serve } from '../../../ask.ts'

/** Records of one answer, and where each belongs in it. */
const RECORDS: readonly [rank: number, record: string][] = [
  [0, 'www.example.org. 60 IN CNAME a.example.org.'],
  [0, 'www.example.org. 60 IN CNAME b.example.org.'],
  [1, 'www.example.org. 60 IN TXT "one"'],
  [1, 'www.example.org. 60 IN TXT "two"'],
  [2, 'www.example.org. 60 IN A 192.0.2.1'],
  [2, 'www.example.org. 60 IN A 192.0.2.2'],
  [2, 'www.example.org. 60 IN AAAA 2001:db8::1'],
  [3, 'www.example.org. 60 IN MX 10 mx1.example.org.'],
  [3, 'www.example.org. 60 IN MX 10 mx2.example.org.'],
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
  test('keeps all records: CNAMEs first, then others in their order, addresses, exchangers', () =>
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

  test('accepts a policy', () => {
    assert.deepEqual(problemsOf(block('loadbalance round_robin')), [])
  })

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'has two policies',
      directives: ['loadbalance random'],
      problem: 'Corefile:2:15: "random" is neither "round_robin" nor "weighted"',
    },
    {
      name: 'takes one argument with round_robin',
      directives: ['loadbalance round_robin file'],
      problem: 'Corefile:2:27: "loadbalance" takes at most 1 argument(s), got "file"',
    },
    {
      name: 'needs a file with weighted',
      directives: ['loadbalance weighted'],
      problem: 'Corefile:2:15: "weighted" needs a weights file',
    },
    {
      name: 'takes one file with weighted',
      directives: ['loadbalance weighted a b'],
      problem: 'Corefile:2:26: "loadbalance" takes at most 2 argument(s), got "b"',
    },
    {
      name: 'prefers blocks of addresses',
      directives: [directive('loadbalance', 'prefer 192.0.2.1')],
      problem: 'Corefile:3:12: "192.0.2.1" is not a block of addresses such as 10.0.0.0/8',
    },
    {
      name: 'reloads nothing with round_robin',
      directives: [directive('loadbalance', 'reload 5s')],
      problem: 'Corefile:3:5: "loadbalance" has no option "reload"; it has prefer',
    },
    {
      name: 'prefers nothing with weighted',
      directives: [directive('loadbalance weighted w', 'prefer 192.0.2.0/24')],
      problem: 'Corefile:3:5: "loadbalance weighted" has no option "prefer"; it has reload',
    },
    {
      name: 'needs a file that exists when it is never looked at again',
      directives: [directive('loadbalance weighted w', 'reload 0')],
      problem: 'Corefile:2:24: cannot read the weights file "w"',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})

const SEVERAL = `
- {kind: Namespace, metadata: {name: shop}}
- kind: Service
  metadata: {name: web, namespace: shop}
  spec: {clusterIP: 10.96.0.1, ports: [{port: 80}]}
- kind: Service
  metadata: {name: db, namespace: shop}
  spec: {clusterIP: None, ports: [{port: 5432}]}
- kind: EndpointSlice
  metadata: {name: db-1, namespace: shop, labels: {kubernetes.io/service-name: db}}
  addressType: IPv4
  ports: [{name: '', port: 5432, protocol: TCP}]
  endpoints: [{addresses: [10.244.0.1]}, {addresses: [10.244.1.1]}, {addresses: [10.244.2.1]}]
`

/** The addresses in the order of a reply. */
async function orderOf(server: Server, question: string): Promise<string[]> {
  const lines = await server.ask(question)
  return lines.flatMap((line) => / IN A (\S+)$/.exec(line)?.[1] ?? [])
}

describe('loadbalance that prefers', () => {
  const preferring = block(
    directive('loadbalance', 'prefer 192.0.2.4/31', 'prefer 192.0.2.1/32'),
    'forward . 192.0.2.53',
  )

  test('puts the addresses of networks first, in the order of these', async () => {
    const upstream = (): string[] => ['NOERROR', ...addresses(6)]
    for (let seed = 0; seed < 20; seed++) {
      const order = await orderOf(serve(preferring, { seed, upstream }), 'www.example.org A')
      assert.deepEqual(order.slice(0, 2).toSorted(), ['192.0.2.4', '192.0.2.5'])
      assert.equal(order[2], '192.0.2.1')
      assert.equal(order.length, 6)
    }
  })

  test('puts what is no address last', async () => {
    const records = ['www.example.org. 60 IN TXT "t"', ...addresses(1)]
    const server = serve(preferring, { upstream: () => ['NOERROR', ...records] })
    assert.deepEqual((await server.ask('www.example.org A')).slice(1), records.toReversed())
  })

  test('leaves answers with one address on the fast path', async () => {
    const corefile = block(
      directive('loadbalance', 'prefer 10.244.2.0/24'),
      'kubernetes cluster.local',
    )
    const server = serve(corefile, { cluster: { objects: SEVERAL } })
    const isQuick = (question: string): Promise<boolean> => server.isQuick(question)
    assert.equal(await isQuick('web.shop.svc.cluster.local A'), true)
    assert.equal(await isQuick('web.shop.svc.cluster.local SRV +edns'), true)
    assert.equal(await isQuick('nosuch.shop.svc.cluster.local A'), true)
    assert.equal(await isQuick('db.shop.svc.cluster.local A'), false)
    assert.equal(await isQuick('db.shop.svc.cluster.local SRV'), false)
    for (let i = 0; i < 5; i++) {
      assert.equal((await orderOf(server, 'db.shop.svc.cluster.local A'))[0], '10.244.2.1')
    }
  })
})

describe('loadbalance by weights', () => {
  const weighing = block('loadbalance weighted weights', 'forward . 192.0.2.53')
  const upstream = (): string[] => ['NOERROR', ...addresses(3)]
  const WEIGHTS = 'WWW.example.org\n192.0.2.0 6\n192.0.2.1 3\n'

  test('puts an address first as often as its weight says, 1 when nothing is said', async () => {
    const first = new Map<string, number>()
    for (let seed = 0; seed < 1000; seed++) {
      const server = serve(weighing, { seed: seed * 7919, upstream, files: { weights: WEIGHTS } })
      const [address = ''] = await orderOf(server, 'www.example.org A')
      first.set(address, (first.get(address) ?? 0) + 1)
    }
    for (const [i, share] of [600, 300, 100].entries()) {
      const count = first.get(`192.0.2.${i}`) ?? 0
      assert.ok(Math.abs(count - share) < 60, `${count}, expected about ${share}`)
    }
  })

  test('leaves other types as they came', async () => {
    const server = serve(weighing, { upstream, files: { weights: WEIGHTS } })
    for (let i = 0; i < 10; i++) {
      assert.deepEqual((await server.ask('www.example.org MX')).slice(1), addresses(3))
    }
  })

  test('looks at its file again, and keeps to the old one while the new one is wrong', async () => {
    const files = { weights: 'www.example.org\n192.0.2.2 255\n' }
    const server = serve(weighing, { upstream, files })
    const { host, resolver } = server
    resolver.start()
    const firsts = async (): Promise<number> => {
      let count = 0
      for (let i = 0; i < 100; i++) {
        const [first] = await orderOf(server, 'www.example.org A')
        if (first === '192.0.2.2') count++
      }
      return count
    }
    assert.ok((await firsts()) > 90)
    host.files.set('weights', 'www.example.org\n192.0.2.1 0\n')
    await host.advance(30_000)
    assert.ok((await firsts()) > 90)
    host.files.set('weights', 'www.example.org\n192.0.2.1 255\n')
    await host.advance(30_000)
    assert.ok((await firsts()) < 10)
    host.files.delete('weights')
    await host.advance(30_000)
    assert.deepEqual(
      host.events.map(({ message }) => message),
      ['weights:2: "0" is not a weight from 1 to 255', 'cannot read the weights file "weights"'],
    )
    resolver.stop()
    assert.equal(host.timerCount, 0)
  })

  test('warns when its file does not exist yet', () => {
    assert.deepEqual(serve(weighing, { upstream }).resolver.notices.map(formatProblem), [
      'Corefile:2:24: cannot read the weights file "weights" yet; retrying every 30 s',
    ])
  })

  test('refuses a file that is wrong', () => {
    assert.deepEqual(problemsOf(weighing, { files: { weights: '192.0.2.1 5' } }), [
      'Corefile:2:24: weights:1: an address precedes the first name',
    ])
  })
})
