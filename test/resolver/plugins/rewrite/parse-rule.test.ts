import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { parseRule } from '../../../../src/resolver/plugins/rewrite/parse-rule.ts'
import { block, directive, parseDirective, problemsOf, serve } from '../../../ask.ts'
import { checkRewrite, problemsOfRule } from './rules.ts'

describe('parseRule', () => {
  const modes: { rule: string; isLast: boolean }[] = [
    { rule: 'name a b', isLast: true },
    { rule: 'stop name a b', isLast: true },
    { rule: 'continue name a b', isLast: false },
    { rule: 'CONTINUE Name a b', isLast: false },
  ]
  for (const { rule, isLast } of modes) {
    test(`takes "${rule}" for ${isLast ? 'the last' : 'one of several'}`, () => {
      assert.equal(parseRule(parseDirective(`rewrite ${rule}`), () => undefined).isLast, isLast)
    })
  }

  const blocks: { name: string; rule: string }[] = [
    {
      name: 'takes lines in braces for one',
      rule: directive(
        'stop',
        'name regex (.*)\\.a\\.org {1}.b.org',
        'answer name (.*)\\.b\\.org {1}.c.org',
      ),
    },
    {
      name: 'takes a whole rule in braces',
      rule: directive(
        '',
        'stop',
        'name',
        'suffix .a.org .b.org answer',
        'name (.*)\\.b\\.org',
        '{1}.c.org',
      ),
    },
  ]
  for (const { name, rule } of blocks) {
    test(name, () =>
      checkRewrite({
        name,
        rules: [rule],
        ask: 'www.a.org A',
        asks: 'www.b.org. IN A rd',
        upstream: ['NOERROR ra', 'www.b.org. 60 IN A 192.0.2.1'],
        reply: ['NOERROR rd ra', 'www.c.org. 60 IN A 192.0.2.1'],
      }),
    )
  }

  const kinds = 'name, type, class, edns0, ttl, cname, rcode'
  const problems: { name: string; rule: string; problem: string }[] = [
    { name: 'needs a field', rule: '', problem: `2:3: "rewrite" needs a field: ${kinds}` },
    {
      name: 'needs a field after stop',
      rule: 'stop',
      problem: `2:3: "rewrite" needs a field: ${kinds}`,
    },
    {
      name: 'knows seven fields',
      rule: 'opcode 1 2',
      problem: `2:11: "opcode" cannot be rewritten: ${kinds}`,
    },
    {
      name: 'has no answer without a name',
      rule: 'continue answer auto',
      problem: '2:20: "answer" may only follow a name rule',
    },
    {
      name: 'has a rule on one line or in braces',
      rule: directive('name a b', 'answer auto'),
      problem: '3:5: put the rule on one line, or all of it in braces',
    },
    {
      name: 'has no braces within braces',
      rule: directive('stop', 'name a b {', 'answer auto', '}'),
      problem: '4:5: a rule cannot have nested braces',
    },
  ]
  for (const { name, rule, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOfRule(rule), [`Corefile:${problem}`])
    })
  }

  test('takes any words for a rule or for an error, and follows every rule', async () => {
    const odd = fc.stringMatching(/^[!#-z|~]{1,8}$/).map((text) => text.replaceAll('\\', ''))
    const oneOf = (words: string): fc.Arbitrary<string> =>
      fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...words.split(' ')) }, odd)
    const words = (...parts: readonly string[]): fc.Arbitrary<readonly string[]> =>
      fc.tuple(...parts.map(oneOf))
    const kind = 'exact prefix suffix substring regex'
    const from = 'a.org .org. www. . .*\\.org ([aw]+)\\.(.*) (.*) ^x'
    const to = 'b.org {1}.net {2}.{1} .net. www. . a..b'
    const rule = fc.oneof(
      words('name', kind, from, to),
      words('name', kind, from, to, 'answer', 'auto'),
      words('name', kind, from, to, 'answer', 'name value', from, to, 'value', from, to),
      words('type', 'A TXT ANY', 'A AAAA TXT'),
      words('class', 'IN CH', 'IN HS'),
      words('ttl', kind, from, '5 5-10 -7 7-'),
      words('rcode', kind, from, 'NOERROR SERVFAIL 3', 'NXDOMAIN 5 23'),
      words('cname', kind, from, to),
      words('edns0', 'local', 'set append replace', '0xffee 10 3', 'abc 0x61 {qname} {a/b}'),
      words('edns0', 'nsid subnet', 'set append unset', '24', '56', 'revert'),
    )
    const mode = fc.constantFrom('', 'stop ', 'continue ', 'continue ')
    const rules = fc.array(
      fc.tuple(mode, rule).map(([first, all]) => {
        const quoted = all.map((one) => `"${one.replaceAll('"', '')}"`)
        return `rewrite ${first}${quoted.join(' ')}`
      }),
      { minLength: 1, maxLength: 4 },
    )
    const hosts = directive('hosts none', '192.0.2.1 www.a.org a.net', 'fallthrough')
    const property = fc.asyncProperty(rules, async (lines) => {
      const right = lines.filter((line) => problemsOf(block(line)).length === 0)
      const server = serve(block(...right, hosts), { files: { none: '' } })
      for (const question of ['Www.a.org A +edns', 'a.net TXT']) {
        const reply = await server.askBytes(question)
        assert.ok(reply, right.join('; '))
      }
      assert.deepEqual(server.host.events, [], right.join('; '))
    })
    await fc.assert(property, { numRuns: 300 })
  })
})
