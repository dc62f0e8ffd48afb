import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, serve } from '../../../ask.ts'

const ADDRESSES = Array.from({ length: 255 }, (_, i) => `192.0.2.${i} many.example.org`)

describe('bufsize', () => {
  // Header and question take 34 bytes, each address 16, the OPT record 11.
  const cases: { name: string; line: string; words: string; count: number; edns: string[] }[] = [
    {
      name: 'is 1232 when it says no size',
      line: 'bufsize',
      words: ' +edns=4096',
      count: 74,
      edns: ['edns: 1232'],
    },
    {
      name: 'bounds replies and what is advertised',
      line: 'bufsize 512',
      words: ' +edns=4096',
      count: 29,
      edns: ['edns: 512'],
    },
    {
      name: 'may advertise more',
      line: 'bufsize 4096',
      words: ' +edns=4096',
      count: 253,
      edns: ['edns: 4096'],
    },
    {
      name: 'does not make more of what the client says',
      line: 'bufsize 4096',
      words: ' +edns=600',
      count: 34,
      edns: ['edns: 4096'],
    },
    {
      name: 'does not make more of a client that says nothing',
      line: 'bufsize 4096',
      words: '',
      count: 29,
      edns: [],
    },
    {
      name: 'does not bound TCP',
      line: 'bufsize 512',
      words: ' +edns=4096 +tcp',
      count: 255,
      edns: ['edns: 512'],
    },
  ]
  for (const { name, line, words, count, edns } of cases) {
    test(name, async () => {
      const server = serve(block(line, directive('hosts none', ...ADDRESSES)))
      const [head, ...lines] = await server.ask(`many.example.org A${words}`)
      assert.equal(head, count < 255 ? 'NOERROR aa tc rd' : 'NOERROR aa rd')
      assert.deepEqual(lines.slice(count), edns)
    })
  }

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'is 512 at least',
      directives: ['bufsize 511'],
      problem: 'Corefile:2:11: "511" is not a number from 512 to 4096',
    },
    {
      name: 'is 4096 at most',
      directives: ['bufsize 4097'],
      problem: 'Corefile:2:11: "4097" is not a number from 512 to 4096',
    },
    {
      name: 'is one number',
      directives: ['bufsize 512 1232'],
      problem: 'Corefile:2:15: "bufsize" takes at most 1 argument(s), got "1232"',
    },
    {
      name: 'takes no options',
      directives: [directive('bufsize', 'size 512')],
      problem: 'Corefile:3:5: "bufsize" has no options; remove "size"',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
