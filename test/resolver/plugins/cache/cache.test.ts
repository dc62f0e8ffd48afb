import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, serve } from '../../../ask.ts'
import { A, KEPT_CASES, SOA } from './kept-cases.ts'
import { half, serveCache, ttls } from './serve-cache.ts'

describe('bounds of TTLs', () => {
  const alias = 'www.example.org. 3600 IN CNAME a.example.org.'
  const cases: {
    name: string
    cache: string
    question?: string
    upstream: string[]
    ttls: number[]
  }[] = [
    {
      name: 'leave a TTL within them as it is',
      cache: 'cache',
      upstream: ['NOERROR', A],
      ttls: [60],
    },
    {
      name: 'give all records the smallest TTL of the message',
      cache: 'cache',
      upstream: [
        'NOERROR',
        alias,
        'a.example.org. 70 IN A 192.0.2.1',
        'authority: example.org. 50 IN NS ns.example.org.',
        'additional: ns.example.org. 40 IN A 192.0.2.53',
      ],
      ttls: [40, 40, 40, 40],
    },
    {
      name: 'are 5 s below',
      cache: 'cache',
      upstream: ['NOERROR', 'www.example.org. 0 IN A 192.0.2.1'],
      ttls: [5],
    },
    {
      name: 'are an hour above',
      cache: 'cache',
      upstream: ['NOERROR', 'www.example.org. 3601 IN A 192.0.2.1'],
      ttls: [3600],
    },
    {
      name: 'are half an hour above for negative responses',
      cache: 'cache',
      upstream: ['NXDOMAIN', `authority: ${SOA.replace('60', '1801')}`],
      ttls: [1800],
    },
    {
      name: 'are what the directive says',
      cache: 'cache 30',
      upstream: ['NOERROR', A],
      ttls: [30],
    },
    {
      name: 'are what the option says',
      cache: directive('cache', 'success 100 50 20'),
      upstream: ['NOERROR', A],
      ttls: [50],
    },
    {
      name: 'may begin at a higher TTL',
      cache: directive('cache', 'success 100 3600 120'),
      upstream: ['NOERROR', A],
      ttls: [120],
    },
    {
      name: 'have the greatest go before the smallest',
      cache: directive('cache 30', 'success 100 40 50'),
      upstream: ['NOERROR', A],
      ttls: [40],
    },
    {
      name: 'are those of negative responses for a negative response',
      cache: directive('cache', 'denial 100 40'),
      upstream: ['NOERROR', `authority: ${SOA}`],
      ttls: [40],
    },
    {
      name: 'are those of negative responses for a CNAME that points to no data',
      cache: directive('cache', 'denial 100 40'),
      upstream: ['NOERROR', alias, `authority: ${SOA}`],
      ttls: [40, 40],
    },
    {
      name: 'are 5 s for a referral',
      cache: 'cache',
      upstream: ['NOERROR', 'authority: example.org. 50 IN NS ns.example.org.'],
      ttls: [5],
    },
    {
      name: 'are 5 s for a refused transfer, whatever records it has',
      cache: 'cache',
      question: 'www.example.org AXFR',
      upstream: ['NXDOMAIN', `authority: ${SOA}`],
      ttls: [5],
    },
    {
      name: 'do not count for names outside of the zones',
      cache: 'cache 30 example.net',
      upstream: ['NOERROR', A],
      ttls: [60],
    },
  ]
  for (const { name, cache, question = 'www.example.org A', upstream, ttls: wanted } of cases) {
    test(name, async () => {
      assert.deepEqual(ttls(await serveCache(cache, upstream).ask(question)), wanted)
    })
  }
})

describe('answers from the cache', () => {
  test('count down, have AA and keep RA', async () => {
    const server = serveCache('cache', ['NOERROR ra', A])
    assert.deepEqual(await server.ask('www.example.org A'), ['NOERROR rd ra', A])
    await server.host.advance(7999)
    assert.deepEqual(await server.ask('www.example.org A'), [
      'NOERROR aa rd ra',
      'www.example.org. 53 IN A 192.0.2.1',
    ])
    await server.host.advance(52_000)
    assert.deepEqual(ttls(await server.ask('www.example.org A')), [1])
    assert.equal(server.host.asked.length, 1)
    await server.host.advance(1)
    assert.deepEqual(await server.ask('www.example.org A'), ['NOERROR rd ra', A])
    assert.equal(server.host.asked.length, 2)
  })

  test('keep their TTL with keepttl, and end all the same', async () => {
    const server = serveCache(directive('cache', 'keepttl'), ['NOERROR', A])
    await server.ask('www.example.org A')
    await server.host.advance(59_999)
    assert.deepEqual(ttls(await server.ask('www.example.org A')), [60])
    assert.equal(server.host.asked.length, 1)
    await server.host.advance(1)
    await server.ask('www.example.org A')
    assert.equal(server.host.asked.length, 2)
  })

  test('have no options of the first answer', async () => {
    const server = serveCache('cache', ['NOERROR', A, 'ede: 3'])
    assert.deepEqual((await server.ask('www.example.org A +edns')).slice(2), [
      'edns: 1232',
      'ede: 3',
    ])
    assert.deepEqual((await server.ask('www.example.org A +edns')).slice(2), ['edns: 1232'])
  })

  test('have DO as the client has it, whatever the plugin after the cache sets', async () => {
    const template = directive(
      'template ANY ANY',
      'rcode NXDOMAIN',
      'ederror 18',
      `authority "${SOA}"`,
    )
    const server = serve(block('cache', template))
    for (const answers of ['what template says', 'from the cache']) {
      const reply = await server.ask('www.example.org A +edns')
      assert.equal(reply[2], 'edns: 1232', answers)
      assert.equal((await server.ask('www.example.org TXT')).at(-1), `authority: ${SOA}`, answers)
    }
  })

  test('have the data of a negative response', async () => {
    const server = serveCache('cache', ['NXDOMAIN ra', `authority: ${SOA}`])
    await server.ask('www.example.org A')
    assert.deepEqual(await server.ask('www.example.org A'), [
      'NXDOMAIN aa rd ra',
      `authority: ${SOA}`,
    ])
  })

  const authentic: { name: string; first: string; again: string; flags: string }[] = [
    {
      name: 'say AD to a client that queries with AD',
      first: '+ad',
      again: '+ad',
      flags: 'aa rd ad',
    },
    {
      name: 'say no AD to a client that does not request it',
      first: '+ad',
      again: '',
      flags: 'aa rd',
    },
    {
      name: 'say AD to a client that queries with DO',
      first: '+do',
      again: '+do',
      flags: 'aa rd ad',
    },
    {
      name: 'say AD even if the first query did not request it',
      first: '',
      again: '+ad',
      flags: 'aa rd ad',
    },
  ]
  for (const { name, first, again, flags } of authentic) {
    test(name, async () => {
      const server = serveCache('cache', ['NOERROR ad', A])
      await server.ask(`www.example.org A ${first}`.trim())
      const [head] = await server.ask(`www.example.org A ${again}`.trim())
      assert.equal(head, `NOERROR ${flags}`)
      assert.equal(server.host.asked.length, 1)
    })
  }
})

describe('data that nobody vouches for', () => {
  test('have no AD for any client', async () => {
    const server = serveCache('cache', ['NOERROR', A])
    assert.equal((await server.ask('www.example.org A +ad'))[0], 'NOERROR rd')
    assert.equal((await server.ask('www.example.org A +ad'))[0], 'NOERROR aa rd')
  })
})

describe('which questions are the same', () => {
  const cases: { name: string; first: string; again: string; isSame: boolean }[] = [
    {
      name: 'in other letter case',
      first: 'www.example.org A',
      again: 'WWW.Example.ORG A',
      isSame: true,
    },
    {
      name: 'over another transport',
      first: 'www.example.org A',
      again: 'www.example.org A +tcp',
      isSame: true,
    },
    { name: 'with AD', first: 'www.example.org A', again: 'www.example.org A +ad', isSame: true },
    {
      name: 'with EDNS',
      first: 'www.example.org A',
      again: 'www.example.org A +edns',
      isSame: true,
    },
    {
      name: 'not without RD',
      first: 'www.example.org A',
      again: 'www.example.org A +nord',
      isSame: false,
    },
    {
      name: 'not with DO',
      first: 'www.example.org A',
      again: 'www.example.org A +do',
      isSame: false,
    },
    {
      name: 'not with CD',
      first: 'www.example.org A',
      again: 'www.example.org A +cd',
      isSame: false,
    },
    {
      name: 'not of another type',
      first: 'www.example.org A',
      again: 'www.example.org MX',
      isSame: false,
    },
    {
      name: 'not of another class',
      first: 'www.example.org A',
      again: 'www.example.org CH A',
      isSame: false,
    },
    {
      name: 'not for another name',
      first: 'www.example.org A',
      again: 'w.ww.example.org A',
      isSame: false,
    },
  ]
  for (const { name, first, again, isSame } of cases) {
    test(name, async () => {
      const server = serve(block('cache', 'forward . 192.0.2.53'), {
        upstream: ({ question }) => [
          'NOERROR',
          `${question.split(' ').slice(0, 1)} 60 ${question.split(' ')[1]} TXT "x"`,
          `authority: ${SOA}`,
        ],
      })
      await server.ask(first)
      await server.ask(again)
      assert.equal(server.host.asked.length, isSame ? 1 : 2)
    })
  }
})

describe('what is kept', () => {
  for (const { name, cache = 'cache', ask = 'www.example.org A', upstream, isKept } of KEPT_CASES) {
    test(name, async () => {
      const server = serveCache(cache, upstream)
      const [owner] = ask.split(' ')
      const askedFor = (): number =>
        server.host.asked.filter(({ question }) => question.startsWith(`${owner}.`)).length
      await server.ask(`${ask} +tcp`)
      const before = askedFor()
      await server.ask(`${ask} +tcp`)
      assert.equal(askedFor() === before, isKept)
    })
  }

  for (const rcode of ['SERVFAIL', 'NOERROR']) {
    test(`is ${rcode} without records for five seconds`, async () => {
      const server = serveCache('cache', [rcode])
      await server.ask('www.example.org A')
      await server.host.advance(4999)
      await server.ask('www.example.org A')
      assert.equal(server.host.asked.length, 1)
      await server.host.advance(1)
      await server.ask('www.example.org A')
      assert.equal(server.host.asked.length, 2)
    })
  }

  test('is no more than there is room for', async () => {
    const server = serve(block(directive('cache', 'success 1024'), 'forward . 192.0.2.53'), {
      upstream: ({ question }) => ['NOERROR', `${question.split(' ')[0]} 60 IN A 192.0.2.1`],
    })
    const names = Array.from({ length: 1025 }, (_, i) => `n${i}`)
    for (const name of [...names, 'n1', 'n0', 'n2']) await server.ask(`${name}.example.org A`)
    assert.deepEqual(
      server.host.asked.slice(1025).map(({ question }) => question.split('.')[0]),
      ['n0', 'n2'],
    )
    const lines = server.host.metrics.format().split('\n')
    assert.ok(lines.includes(`coredns_cache_evictions_total{${half('success')}} 3`))
    assert.ok(lines.includes(`coredns_cache_entries{${half('success')}} 1024`))
  })
})

test('max_bytes bounds what a Corefile may hold below its capacity', async () => {
  const server = serveCache(directive('cache', 'max_bytes 1048576'), ({ question }) => [
    'NOERROR',
    `${question.split(' ')[0]} 60 IN A 192.0.2.1`,
  ])
  for (let i = 0; i < 2000; i++) await server.ask(`n${i}.example.org A`)
  const lines = server.host.metrics.format().split('\n')
  const value = (name: string): number =>
    Number(lines.find((line) => line.startsWith(`${name}{${half('success')}} `))?.split(' ')[1])
  assert.ok(value('coredns_cache_evictions_total') > 0)
  assert.equal(value('coredns_cache_entries') + value('coredns_cache_evictions_total'), 2000)
  assert.ok(value('kubedoh_cache_bytes') <= 1_048_576)
})
