import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, serve } from '../../../ask.ts'

const HOSTS = directive('hosts none', '192.0.2.1 www.example.org')

describe('any', () => {
  const cases: { name: string; ask: string; reply: string[] }[] = [
    {
      name: 'answers ANY with HINFO',
      ask: 'www.example.org ANY',
      reply: ['NOERROR rd', 'www.example.org. 8482 IN HINFO "ANY obsoleted" "See RFC 8482"'],
    },
    {
      name: 'answers ANY for unknown names, letter case kept',
      ask: 'NoSuch.Example.org ANY',
      reply: ['NOERROR rd', 'NoSuch.Example.org. 8482 IN HINFO "ANY obsoleted" "See RFC 8482"'],
    },
    {
      name: 'leaves other types to the next plugin',
      ask: 'www.example.org A',
      reply: ['NOERROR aa rd', 'www.example.org. 3600 IN A 192.0.2.1'],
    },
    {
      name: 'leaves HINFO to the next plugin',
      ask: 'www.example.org HINFO',
      reply: ['NOERROR aa rd'],
    },
  ]
  for (const { name, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serve(block('any', HOSTS)).ask(ask), reply)
    })
  }

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'takes no argument',
      directives: ['any x'],
      problem: 'Corefile:2:7: "any" takes no arguments, got "x"',
    },
    {
      name: 'takes no options',
      directives: [directive('any', 'x')],
      problem: 'Corefile:3:5: "any" has no options; remove "x"',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
