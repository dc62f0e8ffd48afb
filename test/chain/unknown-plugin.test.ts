import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, problemsOf } from '../ask.ts'

describe('unknownPlugin', () => {
  const cases: { name: string; directive: string; problem: string }[] = [
    {
      name: 'says what to write for reverse',
      directive: 'reverse 10.32.0.0/16',
      problem: '"reverse" is gone from CoreDNS; write "template" in its place',
    },
    {
      name: 'says what to do about upstream',
      directive: 'upstream',
      problem:
        '"upstream" is gone from CoreDNS; leave it out: kubedoh always resolves names through the ' +
        'whole server',
    },
    {
      name: 'guesses what a misspelled name should be',
      directive: 'foward . 192.0.2.53',
      problem: 'there is no plugin "foward"; did you mean "forward"?',
    },
    {
      name: 'minds letter case',
      directive: 'Cache',
      problem: 'there is no plugin "Cache"; did you mean "cache"?',
    },
    {
      name: 'knows plugins that some build in',
      directive: 'unbound',
      problem: '"unbound" is not a plugin of CoreDNS itself; consider "forward"',
    },
    {
      name: 'knows options that lost their braces',
      directive: 'pods insecure',
      problem: '"pods" is an option of "kubernetes", not a plugin; is a brace misplaced?',
    },
    {
      name: 'guesses nothing that is far off',
      directive: 'dnsmasq',
      problem: 'there is no plugin "dnsmasq"; it is none of CoreDNS either',
    },
    {
      name: 'is not misled by what every object has',
      directive: 'constructor',
      problem: 'there is no plugin "constructor"; it is none of CoreDNS either',
    },
  ]
  for (const { name, directive, problem } of cases) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(directive)), [`Corefile:2:3: ${problem}`])
    })
  }
})
