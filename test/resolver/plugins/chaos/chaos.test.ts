import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { VERSION } from '../../../../src/dns/telemetry/version.ts'
import { block, directive, problemsOf, serve } from '../../../ask.ts'

describe('chaos', () => {
  const cases: { name: string; line: string; ask: string; reply: string[] }[] = [
    {
      name: 'reports its version',
      line: 'chaos CoreDNS-001 info@example.test',
      ask: 'version.bind CH TXT',
      reply: ['NOERROR rd', 'version.bind. 0 CH TXT "CoreDNS-001"'],
    },
    {
      name: 'reports its version by the other name, letter case kept',
      line: 'chaos CoreDNS-001',
      ask: 'Version.SERVER CH TXT',
      reply: ['NOERROR rd', 'Version.SERVER. 0 CH TXT "CoreDNS-001"'],
    },
    {
      name: 'reports what it is when the Corefile says nothing',
      line: 'chaos',
      ask: 'version.bind CH TXT',
      reply: ['NOERROR rd', `version.bind. 0 CH TXT "kubedoh-${VERSION}"`],
    },
    {
      name: 'reports its authors',
      line: 'chaos v info@example.test',
      ask: 'authors.bind CH TXT',
      reply: ['NOERROR rd', 'authors.bind. 0 CH TXT "info@example.test"'],
    },
    {
      name: 'has authors when the Corefile names none',
      line: 'chaos v',
      ask: 'authors.bind CH TXT',
      reply: ['NOERROR rd', 'authors.bind. 0 CH TXT "the kubedoh authors"'],
    },
    {
      name: 'returns the name of its machine',
      line: 'chaos',
      ask: 'hostname.bind CH TXT',
      reply: ['NOERROR rd', 'hostname.bind. 0 CH TXT "ns1.example.org"'],
    },
    {
      name: 'returns the name of its machine by the name of RFC 4892',
      line: 'chaos',
      ask: 'id.server CH TXT',
      reply: ['NOERROR rd', 'id.server. 0 CH TXT "ns1.example.org"'],
    },
    {
      name: 'knows no other name',
      line: 'chaos',
      ask: 'other.bind CH TXT',
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'knows no other type',
      line: 'chaos',
      ask: 'version.bind CH ANY',
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'knows no other class',
      line: 'chaos',
      ask: 'version.bind IN TXT',
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'cuts what is too long for a string',
      line: `chaos ${'x'.repeat(300)}`,
      ask: 'version.bind CH TXT',
      reply: ['NOERROR rd', `version.bind. 0 CH TXT "${'x'.repeat(255)}"`],
    },
  ]
  for (const { name, line, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serve(block(line)).ask(ask), reply)
    })
  }

  test('names each author once, in any order', async () => {
    const seen = new Set<string>()
    for (let seed = 0; seed < 100; seed++) {
      const server = serve(block('chaos v a b b'), { seed: seed * 7919 })
      const lines = await server.ask('authors.bind CH TXT')
      seen.add(lines.slice(1).join())
    }
    const [a, b] = ['authors.bind. 0 CH TXT "a"', 'authors.bind. 0 CH TXT "b"']
    assert.deepEqual([...seen].toSorted(), [`${a},${b}`, `${b},${a}`])
  })

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'has no options',
      directives: [directive('chaos', 'version v')],
      problem: 'Corefile:3:5: "chaos" has no options; remove "version"',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
