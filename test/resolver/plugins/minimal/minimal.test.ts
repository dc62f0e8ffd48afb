import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, serve } from '../../../ask.ts'

const A = 'www.example.org. 60 IN A 192.0.2.1'
const NS = 'authority: example.org. 60 IN NS ns.example.org.'
const SOA = 'authority: example.org. 60 IN SOA ns.example.org. host.example.org. 1 2 3 4 5'
const GLUE = 'additional: ns.example.org. 60 IN A 192.0.2.53'

describe('minimal', () => {
  const cases: { name: string; upstream: string[]; reply: string[] }[] = [
    {
      name: 'leaves an answer its answer section only',
      upstream: ['NOERROR ra', A, NS, GLUE],
      reply: ['NOERROR rd ra', A],
    },
    {
      name: 'leaves NODATA its SOA record',
      upstream: ['NOERROR ra', SOA],
      reply: ['NOERROR rd ra', SOA],
    },
    {
      name: 'leaves a referral what it consists of',
      upstream: ['NOERROR ra', NS, GLUE],
      reply: ['NOERROR rd ra', NS, GLUE],
    },
    {
      name: 'leaves NXDOMAIN its SOA record',
      upstream: ['NXDOMAIN ra', SOA],
      reply: ['NXDOMAIN rd ra', SOA],
    },
    {
      name: 'takes additional records from an answer without records',
      upstream: ['NOERROR ra', GLUE],
      reply: ['NOERROR rd ra'],
    },
  ]
  for (const { name, upstream, reply } of cases) {
    test(name, async () => {
      const server = serve(block('minimal', 'forward . 192.0.2.53'), { upstream: () => upstream })
      assert.deepEqual(await server.ask('www.example.org A'), reply)
    })
  }

  test('leaves failures alone', async () => {
    assert.deepEqual(await serve(block('minimal')).ask('www.example.org A'), ['SERVFAIL rd'])
  })

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'takes no argument',
      directives: ['minimal x'],
      problem: 'Corefile:2:11: "minimal" takes no arguments, got "x"',
    },
    {
      name: 'takes no options',
      directives: [directive('minimal', 'x')],
      problem: 'Corefile:3:5: "minimal" has no options; remove "x"',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
