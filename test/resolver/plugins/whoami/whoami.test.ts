import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, serve } from '../../../ask.ts'

describe('whoami', () => {
  const cases: { name: string; ask: string; reply: string[] }[] = [
    {
      name: 'reports address, port and transport',
      ask: 'www.example.org A',
      reply: [
        'NOERROR aa rd',
        'additional: www.example.org. 0 IN A 198.51.100.7',
        'additional: _udp.www.example.org. 0 IN SRV 0 0 4242 .',
      ],
    },
    {
      name: 'reports an IPv6 address, whatever type is queried',
      ask: 'www.example.org MX +from=2001:db8::7',
      reply: [
        'NOERROR aa rd',
        'additional: www.example.org. 0 IN AAAA 2001:db8::7',
        'additional: _udp.www.example.org. 0 IN SRV 0 0 4242 .',
      ],
    },
    {
      name: 'calls everything but UDP tcp',
      ask: 'www.example.org A +https',
      reply: [
        'NOERROR aa rd',
        'additional: www.example.org. 0 IN A 198.51.100.7',
        'additional: _tcp.www.example.org. 0 IN SRV 0 0 4242 .',
      ],
    },
    {
      name: 'keeps letter case',
      ask: 'WWW.example.org A',
      reply: [
        'NOERROR aa rd',
        'additional: WWW.example.org. 0 IN A 198.51.100.7',
        'additional: _udp.WWW.example.org. 0 IN SRV 0 0 4242 .',
      ],
    },
    {
      name: 'answers the root',
      ask: '. A',
      reply: [
        'NOERROR aa rd',
        'additional: . 0 IN A 198.51.100.7',
        'additional: _udp. 0 IN SRV 0 0 4242 .',
      ],
    },
  ]
  for (const { name, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serve(block('whoami')).ask(ask), reply)
    })
  }

  test('answers a name that has no room for another label', async () => {
    const long = [63, 63, 63, 59].map((length) => 'a'.repeat(length)).join('.')
    const [head, ...records] = await serve(block('whoami')).ask(`${long} A`)
    assert.equal(head, 'NOERROR aa rd')
    assert.deepEqual(records, [
      `additional: ${long}. 0 IN A 198.51.100.7`,
      `additional: ${long}. 0 IN SRV 0 0 4242 .`,
    ])
  })

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'takes no argument',
      directives: ['whoami x'],
      problem: 'Corefile:2:10: "whoami" takes no arguments, got "x"',
    },
    {
      name: 'takes no options',
      directives: [directive('whoami', 'x')],
      problem: 'Corefile:3:5: "whoami" has no options; remove "x"',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
