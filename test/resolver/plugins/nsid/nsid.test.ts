import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatHex } from '../../../../src/dns/bytes/bytes.ts'
import { block, directive, problemsOf, serve } from '../../../ask.ts'

const HOSTS = directive('hosts none', '192.0.2.1 www.example.org')
const ANSWER = ['NOERROR aa rd', 'www.example.org. 3600 IN A 192.0.2.1']

function hex(text: string): string {
  return formatHex(new TextEncoder().encode(text))
}

describe('nsid', () => {
  const cases: { name: string; line: string; ask: string; reply: string[] }[] = [
    {
      name: 'returns the text of the Corefile to a client that requests it',
      line: 'nsid Use The Force',
      ask: 'www.example.org A +nsid',
      reply: [...ANSWER, 'edns: 1232 do', `nsid: ${hex('Use The Force')}`],
    },
    {
      name: 'is called as its machine when the Corefile says nothing',
      line: 'nsid',
      ask: 'www.example.org A +nsid',
      reply: [...ANSWER, 'edns: 1232 do', `nsid: ${hex('ns1.example.org')}`],
    },
    {
      name: 'returns nothing to a client that does not request it',
      line: 'nsid a',
      ask: 'www.example.org A +edns',
      reply: [...ANSWER, 'edns: 1232'],
    },
    {
      name: 'has nothing to add to a failure',
      line: 'nsid a',
      ask: 'nosuch.example.org A +nsid',
      reply: ['SERVFAIL rd', 'edns: 1232', 'nsid:'],
    },
  ]
  for (const { name, line, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serve(block(line, HOSTS)).ask(ask), reply)
    })
  }

  test('puts its own identifier in place of an upstream server’s', async () => {
    const upstream = (): string[] => ['NOERROR ra', 'a. 60 IN A 192.0.2.1', 'option 3: 6e73']
    const server = serve(block('nsid a', 'forward . 192.0.2.53'), { upstream })
    const reply = ['NOERROR rd ra', 'a. 60 IN A 192.0.2.1', 'edns: 1232', 'nsid: 61']
    assert.deepEqual(await server.ask('a A +nsid'), reply)
  })

  test('has no part in the fast path', async () => {
    const corefile = block('nsid a', 'kubernetes cluster.local')
    const server = serve(corefile, { cluster: { objects: '[]' } })
    assert.equal(await server.isQuick('nosuch.cluster.local A +edns'), true)
    assert.equal(await server.isQuick('nosuch.cluster.local A +nsid'), false)
  })

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'may appear once in a block',
      directives: ['nsid a', 'nsid b'],
      problem: 'Corefile:3:3: "nsid" appears twice in this server block; remove one',
    },
    {
      name: 'has no options',
      directives: [directive('nsid', 'a')],
      problem: 'Corefile:3:5: "nsid" has no options; remove "a"',
    },
    {
      name: 'leaves room for an answer',
      directives: [`nsid ${'x'.repeat(256)}`],
      problem: 'Corefile:2:8: the identifier has 256 bytes, more than 255',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
