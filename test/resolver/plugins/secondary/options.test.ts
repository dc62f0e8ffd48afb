import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatName, nameOf } from '../../../../src/dns/names/name.ts'
import { parseSecondary } from '../../../../src/resolver/plugins/secondary/options.ts'
import { block, directive, parseDirective, problemsOf } from '../../../ask.ts'

function parsed(...lines: string[]): unknown {
  const names = (zones: readonly Uint8Array[] | undefined): string | undefined =>
    zones?.map((zone) => formatName(zone)).join(' ')
  const { rules, fallthrough } = parseSecondary(lines.map(parseDirective), [nameOf('example.org')])
  return [
    ...rules.map(({ zones, primaries, members }) => {
      const from = primaries.map(({ address, port }) => `${address} ${port}`)
      return [names(zones), from.join(', '), names(members)]
    }),
    names(fallthrough),
  ]
}

describe('secondary takes', () => {
  const from = 'transfer from 192.0.2.1'
  const cases: { name: string; lines: string[]; is: unknown[] }[] = [
    {
      name: 'primaries, for the zones of the block',
      lines: [directive('secondary', 'transfer from 192.0.2.1 [2001:db8::1]:54', from)],
      is: [['example.org.', '192.0.2.1 53, 2001:db8::1 54, 192.0.2.1 53', undefined], undefined],
    },
    {
      name: 'zones, and where unknown names go on',
      lines: [directive('secondary a.test b.test', from, 'fallthrough x.a.test')],
      is: [['a.test. b.test.', '192.0.2.1 53', undefined], 'x.a.test.'],
    },
    {
      name: 'several directives, where `fallthrough` holds for all',
      lines: [
        directive('secondary a.test', from, 'fallthrough'),
        directive('secondary b.test', 'transfer from 192.0.2.2'),
      ],
      is: [['a.test.', '192.0.2.1 53', undefined], ['b.test.', '192.0.2.2 53', undefined], '.'],
    },
    {
      name: 'catalogs of any zones',
      lines: [directive('secondary', from, 'catalog')],
      is: [['example.org.', '192.0.2.1 53', ''], undefined],
    },
    {
      name: 'catalogs of some zones',
      lines: [directive('secondary', from, 'catalog a.test', 'catalog b.test')],
      is: [['example.org.', '192.0.2.1 53', 'a.test. b.test.'], undefined],
    },
    {
      name: 'catalogs of any zones when one line says so',
      lines: [directive('secondary', from, 'catalog', 'catalog b.test')],
      is: [['example.org.', '192.0.2.1 53', ''], undefined],
    },
  ]
  for (const { name, lines, is } of cases) {
    test(name, () => {
      assert.deepEqual(parsed(...lines), is)
    })
  }
})

describe('secondary refuses', () => {
  const cases: { name: string; line: string; problem: string }[] = [
    {
      name: 'no primaries',
      line: 'secondary',
      problem: 'Corefile:2:3: "secondary" needs "transfer from" with the addresses of primaries',
    },
    {
      name: 'a transfer of another kind',
      line: directive('secondary', 'transfer by 192.0.2.1'),
      problem: 'Corefile:3:14: "transfer" needs "from" and addresses',
    },
    {
      name: 'a transfer from nowhere',
      line: directive('secondary', 'transfer from'),
      problem: 'Corefile:3:14: "transfer" needs "from" and addresses',
    },
    {
      name: 'a transfer from everywhere',
      line: directive('secondary', 'transfer from *'),
      problem: 'Corefile:3:19: "*" is not an address or ADDRESS:PORT of a primary',
    },
    {
      name: 'too many primaries',
      line: directive('secondary', `transfer from ${'192.0.2.1 '.repeat(65)}`),
      problem: 'Corefile:2:3: "secondary" takes at most 64 primaries',
    },
    {
      name: 'an invalid member zone',
      line: directive('secondary', 'transfer from 192.0.2.1', 'catalog a..b'),
      problem: 'Corefile:4:13: "a..b" is not a domain name',
    },
    {
      name: 'a member zone that is a colon',
      line: directive('secondary', 'transfer from 192.0.2.1', 'catalog :'),
      problem: 'Corefile:4:13: ":" is not a domain name',
    },
    {
      name: 'other options',
      line: directive('secondary', 'tsig key'),
      problem:
        'Corefile:3:5: "secondary" has no option "tsig"; it has transfer, catalog, fallthrough, answers',
    },
  ]
  for (const { name, line, problem } of cases) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(line)), [problem])
    })
  }
})
