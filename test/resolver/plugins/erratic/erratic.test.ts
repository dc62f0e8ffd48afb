import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, type Server, serve } from '../../../ask.ts'

const A = 'a.example.org. 0 IN A 192.0.2.53'

/** The first lines of replies to so many queries; '' for none. */
async function heads(
  server: Server,
  count: number,
  question = 'a.example.org A',
): Promise<string[]> {
  const found: string[] = []
  for (let i = 0; i < count; i++) found.push((await server.ask(question))[0] ?? '')
  return found
}

describe('erratic', () => {
  test('drops every second query when nothing is said', async () => {
    assert.deepEqual(await heads(serve(block('erratic')), 4), [
      '',
      'NOERROR aa rd',
      '',
      'NOERROR aa rd',
    ])
  })

  const cases: { name: string; ask: string; reply: string[] }[] = [
    {
      name: 'has an IPv4 address for any name',
      ask: 'a.example.org A',
      reply: ['NOERROR aa rd', A],
    },
    {
      name: 'has an IPv6 address for any name',
      ask: 'A.example.org AAAA',
      reply: ['NOERROR aa rd', 'A.example.org. 0 IN AAAA 2001:db8::53'],
    },
    { name: 'fails for other types', ask: 'a.example.org MX', reply: ['SERVFAIL rd'] },
    {
      name: 'has a zone to transfer',
      ask: 'example.org AXFR +tcp',
      reply: [
        'NOERROR aa rd',
        'example.org. 0 IN SOA sns.dns.icann.org. noc.dns.icann.org. 2018050825 7200 3600 1209600 3600',
        'example.org. 0 IN NS b.example.org.',
        'example.org. 0 IN NS a.example.org.',
        'a.example.org. 0 IN AAAA 2001:bd8::53',
        'b.example.org. 0 IN AAAA 2001:500::54',
        'example.org. 0 IN SOA sns.dns.icann.org. noc.dns.icann.org. 2018050825 7200 3600 1209600 3600',
      ],
    },
  ]
  for (const { name, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serve(block(directive('erratic', 'drop 0'))).ask(ask), reply)
    })
  }

  test('drops as often as configured', async () => {
    const server = serve(block(directive('erratic', 'drop 3')))
    assert.deepEqual(
      (await heads(server, 6)).map((head) => head === ''),
      [true, false, false, true, false, false],
    )
  })

  test('cuts by the bits of a number, as CoreDNS does, and drops nothing then', async () => {
    const server = serve(block(directive('erratic', 'truncate')))
    assert.deepEqual(
      (await heads(server, 6)).map((head) => head.includes('tc')),
      [true, true, false, false, true, true],
    )
  })

  test('cuts a transfer before its end', async () => {
    const server = serve(block(directive('erratic', 'truncate 1')))
    assert.equal((await server.ask('example.org AXFR +tcp')).length, 6)
  })

  test('delays every second query by 100 milliseconds when nothing is said', async () => {
    const server = serve(block(directive('erratic', 'delay')))
    let isDone = false
    const reply = server.ask('a.example.org A').then(() => {
      isDone = true
    })
    await server.host.advance(99)
    assert.equal(isDone, false)
    await server.host.advance(1)
    await reply
    assert.deepEqual(await heads(server, 1), ['NOERROR aa rd'])
  })

  test('delays as often and as long as configured', async () => {
    const server = serve(block(directive('erratic', 'delay 1 2s', 'drop 0')))
    const reply = server.ask('a.example.org A')
    await server.host.advance(2000)
    assert.deepEqual(await reply, ['NOERROR aa rd', A])
  })

  test('makes answers large', async () => {
    const server = serve(block(directive('erratic', 'large', 'drop 0')))
    assert.equal((await server.ask('a.example.org A +tcp')).length, 31)
  })

  test('is ready after three queries, and not for long', async () => {
    const server = serve(block(directive('ready', 'monitor continuously'), 'erratic'))
    const ready: boolean[] = []
    for (let i = 0; i < 6; i++) {
      ready.push(server.resolver.notReady().length === 0)
      await server.ask('a.example.org A')
    }
    assert.deepEqual(ready, [false, false, false, true, true, false])
  })

  const problems: { name: string; option: string; problem: string }[] = [
    {
      name: 'has four options',
      option: 'lose 2',
      problem: '"erratic" has no option "lose"; it has drop, truncate, delay, large',
    },
    { name: 'drops once', option: 'drop 1 2', problem: '"drop" takes 0 to 1 argument(s), got 2' },
  ]
  for (const { name, option, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(directive('erratic', option))), [
        `Corefile:3:5: ${problem}`,
      ])
    })
  }

  test('counts in numbers and waits for durations', () => {
    const [drop, delay] = ['drop two', 'delay 2 long'].map((option) =>
      problemsOf(block(directive('erratic', option))),
    )
    assert.deepEqual(drop, ['Corefile:3:10: "two" is not a number from 0 to 2147483647'])
    assert.deepEqual(delay, ['Corefile:3:13: "long" is not a duration such as 30s, 1m30s or 500ms'])
  })
})
