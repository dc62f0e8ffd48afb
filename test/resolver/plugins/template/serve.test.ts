import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, serve } from '../../../ask.ts'
import { expectedFor, NEXT, nextUpstream } from '../../../next-upstream.ts'

const template = (head: string, ...options: readonly string[]): string =>
  directive(`template ${head}`, ...options)
const A = 'answer "{{ .Name }} 60 IN A 192.0.2.1"'
const FORWARD = 'forward . 192.0.2.53'

type Case = {
  readonly name: string
  readonly directives: readonly string[]
  readonly ask?: string
  readonly reply: readonly string[]
}

function testCases(cases: readonly Case[]): void {
  for (const { name, directives, ask = 'www.example.org A', reply } of cases) {
    test(name, async () => {
      const server = serve(block(...directives), { upstream: nextUpstream })
      assert.deepEqual(await server.ask(ask), expectedFor(ask, reply))
    })
  }
}

const ANSWERED = ['NOERROR aa rd', 'www.example.org. 60 IN A 192.0.2.1']

describe('template', () => {
  testCases([
    { name: 'answers with a record', directives: [template('IN A', A)], reply: ANSWERED },
    { name: 'answers without one', directives: ['template IN A'], reply: ['NOERROR aa rd'] },
    {
      name: 'answers with records of all sections',
      directives: [
        template(
          'IN MX',
          'answer "{{ .Name }} 60 IN MX 1 m" "{{ .Name }} 60 IN MX 2 n"',
          'authority "{{ .Zone }} 60 IN NS ns"',
          'additional "m 60 IN A 192.0.2.1"',
        ),
      ],
      ask: 'www.example.org MX',
      reply: [
        'NOERROR aa rd',
        'www.example.org. 60 IN MX 1 m.',
        'www.example.org. 60 IN MX 2 n.',
        'authority: . 60 IN NS ns.',
        'additional: m. 60 IN A 192.0.2.1',
      ],
    },
    {
      name: 'reads records as zone files have them',
      directives: [
        template(
          'ANY ANY',
          'answer "{{ .Zone }} {{ .Class }} SOA ns h (1 1h 60 ; comment\n 60 60)"',
        ),
      ],
      ask: 'www.example.org A',
      reply: ['NOERROR aa rd', '. 3600 IN SOA ns. h. 1 3600 60 60 60'],
    },
    {
      name: 'answers with a response code',
      directives: [template('IN A', 'rcode NXDOMAIN', 'authority "org 60 IN SOA a b 1 2 3 4 5"')],
      reply: ['NXDOMAIN aa rd', 'authority: org. 60 IN SOA a. b. 1 2 3 4 5'],
    },
    {
      name: 'fails when configured so, with nothing else',
      directives: [template('IN A', 'rcode SERVFAIL', A)],
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'says why by an extended error',
      directives: [template('IN A', 'rcode NXDOMAIN', 'ederror 21 "not here"')],
      ask: 'www.example.org A +edns',
      reply: ['NXDOMAIN aa rd', 'edns: 1232 do', 'ede: 21 not here'],
    },
    {
      name: 'fails when a template makes no record',
      directives: [template('IN A', 'answer "{{ .Name }} 60 IN A nowhere"')],
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'fails when a template makes nothing',
      directives: [template('IN A', 'answer "{{ if false }}x{{ end }}"')],
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'fails when a template fails',
      directives: [template('IN A', 'answer "{{ index .Match 7 }}"')],
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'knows names in lower case',
      directives: [
        template('IN TXT', 'match ^www[.]', 'answer "a 1 IN TXT {{ .Name }} {{ .Question.Name }}"'),
      ],
      ask: 'WWW.Example.org TXT',
      reply: ['NOERROR aa rd', 'a. 1 IN TXT "www.example.org." "WWW.Example.org."'],
    },
    {
      name: 'knows groups by number and by name',
      directives: [
        template(
          'IN A',
          'match ^(?P<a>[0-9]+)-(?P<b>[0-9]+)(x)?[.]',
          'answer "{{ .Name }} 60 IN A 10.{{ .Group.a }}.{{ index .Match 2 }}.{{ len (index .Match 3) }}"',
        ),
      ],
      ask: '1-2.example.org A',
      reply: ['NOERROR aa rd', '1-2.example.org. 60 IN A 10.1.2.0'],
    },
    {
      name: 'takes the first expression that matches',
      directives: [
        template(
          'IN TXT',
          'match ^(b)[.] ^(a)[.]',
          'match ^(.)[.]',
          'answer "a 1 IN TXT \\"{{ .Regex }}\\""',
        ),
      ],
      ask: 'a.example.org TXT',
      reply: ['NOERROR aa rd', 'a. 1 IN TXT "^(a)[.]"'],
    },
    {
      name: 'gives its own type to a client that requests any',
      directives: [template('IN TXT', 'answer "a 1 IN TXT {{ .Type }} {{ .Class }}"')],
      ask: 'www.example.org ANY',
      reply: ['NOERROR aa rd', 'a. 1 IN TXT "TXT" "IN"'],
    },
    {
      name: 'has no mnemonic for types that have only a number',
      directives: [template('IN ANY', 'answer "a 1 IN TXT \\"{{ .Type }}\\""')],
      ask: 'www.example.org TYPE65280',
      reply: ['NOERROR aa rd', 'a. 1 IN TXT ""'],
    },
    {
      name: 'has the mnemonics that CoreDNS has for the reserved types',
      directives: [template('IN ANY', 'answer "a 1 IN TXT {{ .Type }}"')],
      ask: 'www.example.org TYPE65535',
      reply: ['NOERROR aa rd', 'a. 1 IN TXT "Reserved"'],
    },
    {
      name: 'reads the first record only, and none after a blank',
      directives: [
        template('IN A a.org', 'answer "{{ .Name }} 1 IN A 192.0.2.1\nx y z"'),
        template('IN A b.org', 'answer " {{ .Name }} 1 IN A 192.0.2.1"'),
      ],
      ask: 'a.org A',
      reply: ['NOERROR aa rd', 'a.org. 1 IN A 192.0.2.1'],
    },
    {
      name: 'has the longest of its zones',
      directives: [template('IN A org example.org', 'answer "{{ .Zone }} 60 IN A 192.0.2.1"')],
      reply: ['NOERROR aa rd', 'example.org. 60 IN A 192.0.2.1'],
    },
  ])
})

describe('what template passes on', () => {
  const only = (...options: readonly string[]): string =>
    template('IN A example.org', 'match ^only[.]', A, ...options)
  testCases([
    {
      name: 'fails for names that do not match',
      directives: [only(), FORWARD],
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'passes them on with fallthrough',
      directives: [only('fallthrough'), FORWARD],
      reply: NEXT,
    },
    {
      name: 'passes them on within the zones of fallthrough',
      directives: [only('fallthrough a.org www.example.org'), FORWARD],
      reply: NEXT,
    },
    {
      name: 'fails outside of the zones of fallthrough',
      directives: [only('fallthrough a.org'), FORWARD],
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'passes on other types',
      directives: [only(), FORWARD],
      ask: 'www.example.org MX',
      reply: NEXT,
    },
    {
      name: 'passes on other classes',
      directives: [template('CH A', A), FORWARD],
      reply: NEXT,
    },
    {
      name: 'passes on other zones',
      directives: [only(), FORWARD],
      ask: 'www.example.net A',
      reply: NEXT,
    },
    {
      name: 'goes from rule to rule',
      directives: [only('fallthrough'), template('IN MX'), template('IN A', A)],
      reply: ANSWERED,
    },
    {
      name: 'fails where nothing follows',
      directives: [only('fallthrough')],
      reply: ['SERVFAIL rd'],
    },
  ])
})

describe('expressions in template', () => {
  const rule = (...options: readonly string[]): string =>
    template(
      'IN A',
      'match ^(?P<ip>[0-9-]+)[.]',
      ...options,
      'answer "{{ .Name }} 60 IN A {{ .Var.ip }}"',
      'fallthrough',
    )
  const variable = "var ip replace(group('ip'), '-', '.')"
  testCases([
    {
      name: 'make variables, and conditions that have to be met',
      directives: [rule(variable, "expr incidr(ip, '10.0.0.0/8')")],
      ask: '10-1-1-1.example.org A',
      reply: ['NOERROR aa rd', '10-1-1-1.example.org. 60 IN A 10.1.1.1'],
    },
    {
      name: 'pass on what does not meet them, as if nothing had matched',
      directives: [rule(variable, "expr incidr(ip, '10.0.0.0/8')"), FORWARD],
      ask: '11-1-1-1.example.org A',
      reply: NEXT,
    },
    {
      name: 'fail when they cannot be evaluated, also with fallthrough',
      directives: [rule(variable, "expr incidr(ip, '10.0.0.0/8')"), FORWARD],
      ask: '10-1.example.org A',
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'know groups by number, and no group as nothing',
      directives: [
        rule("var ip group(1) == group('ip') && group(9) + group(true) == '' ? '192.0.2.9' : ''"),
      ],
      ask: '1.example.org A',
      reply: ['NOERROR aa rd', '1.example.org. 60 IN A 192.0.2.9'],
    },
    {
      name: 'may use variables before them',
      directives: [rule("var a '192.0.2.'", "var ip a + '7'")],
      ask: '1.example.org A',
      reply: ['NOERROR aa rd', '1.example.org. 60 IN A 192.0.2.7'],
    },
  ])
})

describe('CNAMEs from template', () => {
  const alias = template('IN ANY alias.org', 'answer "{{ .Name }} 60 IN CNAME next.example.org"')
  testCases([
    {
      name: 'are followed for addresses',
      directives: [alias, FORWARD],
      ask: 'www.alias.org A',
      reply: [
        'NOERROR aa rd',
        'www.alias.org. 60 IN CNAME next.example.org.',
        'next.example.org. 60 IN A 192.0.2.80',
      ],
    },
    {
      name: 'are not followed for other types',
      directives: [alias, FORWARD],
      ask: 'www.alias.org MX',
      reply: ['NOERROR aa rd', 'www.alias.org. 60 IN CNAME next.example.org.'],
    },
    {
      name: 'are alone when they point nowhere',
      directives: [alias],
      ask: 'www.alias.org A',
      reply: ['NOERROR aa rd', 'www.alias.org. 60 IN CNAME next.example.org.'],
    },
    {
      name: 'are not followed without end',
      directives: [template('IN A', 'answer "{{ .Name }} 60 IN CNAME x.{{ .Name }}"')],
      ask: 'a.org A',
      reply: [
        'NOERROR aa rd',
        ...Array.from({ length: 11 }, (_, i) => {
          const owner = `${'x.'.repeat(i)}a.org.`
          return `${owner} 60 IN CNAME x.${owner}`
        }),
      ],
    },
  ])
})

describe('the metrics of template', () => {
  const labels = 'server="dns://:53",zone=".",view="",class="IN",type="A"'
  const cases: { name: string; option: string; line: string }[] = [
    { name: 'count matches', option: A, line: `coredns_template_matches_total{${labels}} 1` },
    {
      name: 'count templates that fail',
      option: 'additional "{{ index  .Match 7 }}"',
      line: `coredns_template_template_failures_total{${labels},section="additional",template="{{index .Match 7}}"} 1`,
    },
    {
      name: 'count records that are none',
      option: 'authority "{{ .Name }} nothing"',
      line: `coredns_template_rr_failures_total{${labels},section="authority",template="{{.Name}} nothing"} 1`,
    },
  ]
  for (const { name, option, line } of cases) {
    test(name, async () => {
      const server = serve(block(template('IN A', option)))
      await server.ask('www.example.org A')
      assert.ok(server.host.metrics.format().split('\n').includes(line), line)
    })
  }

  test('leave the reason to errors', async () => {
    const server = serve(block('errors', template('IN A', 'answer "{{ .Nosuch }}"')))
    await server.ask('www.example.org A')
    const messages = server.host.events.map(({ message }) => message)
    assert.deepEqual(messages, ['template.templateData has no field .Nosuch'])
  })
})
