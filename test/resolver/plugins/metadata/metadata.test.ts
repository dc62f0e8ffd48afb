import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, serve } from '../../../ask.ts'

/** Answers when the view's name is known as metadata. */
const corefile = (metadata: string): string =>
  block(
    metadata,
    directive('view inside', "expr metadata('view/name') == 'inside'"),
    directive('hosts none', '192.0.2.1 www.example.org'),
  )

describe('metadata', () => {
  const cases: { name: string; metadata: string; isKnown: boolean }[] = [
    { name: 'has plugins know of each other', metadata: 'metadata', isKnown: true },
    { name: 'collects within its zones', metadata: 'metadata a.org example.org', isKnown: true },
    { name: 'collects nothing outside', metadata: 'metadata a.org', isKnown: false },
    { name: 'is needed for that', metadata: 'errors', isKnown: false },
  ]
  for (const { name, metadata, isKnown } of cases) {
    test(name, async () => {
      const [head] = await serve(corefile(metadata)).ask('www.example.org A')
      assert.equal(head, isKnown ? 'NOERROR aa rd' : 'REFUSED rd')
    })
  }

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'has no options',
      directives: [directive('metadata', 'foo')],
      problem: 'Corefile:3:5: "metadata" has no options; remove "foo"',
    },
    {
      name: 'may appear once in a block',
      directives: ['metadata', 'metadata'],
      problem: 'Corefile:3:3: "metadata" appears twice in this server block; remove one',
    },
    {
      name: 'has names for zones',
      directives: ['metadata a..b'],
      problem: 'Corefile:2:12: "a..b" is not a domain name',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
