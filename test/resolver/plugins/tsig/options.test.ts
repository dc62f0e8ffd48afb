import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatProblem } from '../../../../src/corefile/problem.ts'
import { formatName, nameOf } from '../../../../src/dns/names/name.ts'
import {
  parseTsig,
  type Required,
  type TsigOptions,
} from '../../../../src/resolver/plugins/tsig/options.ts'
import { block, directive, parseDirective, problemsOf } from '../../../ask.ts'

const FILES: Readonly<Record<string, string>> = {
  keys: 'key "file.key" {\n  secret "YWJj";\n};\nkey other {\n  secret YWJk\n}\n',
  empty: 'key a {\n};\n',
  twice: 'key a {\nsecret YQ==\n}\nkey A. {\nsecret YQ==\n}\n',
  odd: 'key a {\nsecret "?"\n}\n',
}
const SECRET = 'NoTCJU+DMqFWywaPyxSijrDEA/eC3nK0xi3AMEZuPVk='

function parse(head: string, ...lines: string[]): TsigOptions {
  const parsed = parseDirective(lines.length === 0 ? head : directive(head, ...lines))
  return parseTsig([parsed], [nameOf('example.org')], (path) => FILES[path])
}

function listed(required: Required): readonly number[] | 'all' {
  return required === 'all' ? 'all' : [...required]
}

describe('tsig', () => {
  test('has the zones of the block, no secrets, and asks for nothing', () => {
    const { zones, secrets, types, operations } = parse('tsig')
    assert.deepEqual(
      zones.map((zone) => formatName(zone)),
      ['example.org.'],
    )
    assert.deepEqual([secrets.size, listed(types), listed(operations)], [0, [], []])
  })

  test('takes zones of its own', () => {
    const { zones } = parse('tsig A.test b.test.')
    assert.deepEqual(
      zones.map((zone) => formatName(zone)),
      ['a.test.', 'b.test.'],
    )
  })

  test('takes secrets, also from files', () => {
    const { secrets } = parse('tsig', `secret Some.key ${SECRET}`, 'secrets keys')
    const shown = [...secrets].map(([key, secret]) => [key, secret.length])
    assert.deepEqual(shown, [
      ['\x04some\x03key\x00', 32],
      ['\x04file\x03key\x00', 3],
      ['\x05other\x00', 3],
    ])
  })

  const requirements: { lines: string[]; types?: Required; operations?: Required }[] = [
    { lines: ['require AXFR IXFR'], types: new Set([252, 251]) },
    { lines: ['require A', 'require TXT'], types: new Set([16]) },
    { lines: ['require A', 'require none'] },
    { lines: ['require all'], types: 'all' },
    { lines: ['require all', 'require A'], types: 'all' },
    { lines: ['require all', 'require none'], types: 'all' },
    { lines: ['require_opcode NOTIFY query'], operations: new Set([4, 0]) },
    { lines: ['require_opcode all'], operations: 'all' },
    { lines: ['require_opcode UPDATE', 'require_opcode none'] },
  ]
  for (const { lines, types = new Set(), operations = new Set() } of requirements) {
    test(`reads ${lines.join(', ')}`, () => {
      const options = parse('tsig', ...lines)
      assert.deepEqual([options.types, options.operations], [types, operations])
    })
  }

  test('reports what is ignored', () => {
    const { notices } = parse('tsig', 'require all A', 'require_opcode none QUERY')
    assert.deepEqual(notices.map(formatProblem), [
      'Corefile:3:17: "A" after "all" is ignored',
      'Corefile:4:25: "QUERY" after "none" is ignored',
    ])
  })

  const bad: { name: string; lines: string[]; problem: string }[] = [
    {
      name: 'an option that it does not have',
      lines: ['secre a b'],
      problem: 'Corefile:3:5: "tsig" has no option "secre"; did you mean "secret"?',
    },
    {
      name: 'a secret without a name',
      lines: [`secret ${SECRET}`],
      problem: 'Corefile:3:5: "secret" takes 2 argument(s), got 1',
    },
    {
      name: 'an invalid name',
      lines: [`secret a..b ${SECRET}`],
      problem: 'Corefile:3:12: "a..b" is not a key name',
    },
    {
      name: 'a secret that is not base64',
      lines: ['secret a pass-word'],
      problem:
        'Corefile:3:14: the secret of key "a" is not base64; make one with "tsig-keygen" or ' +
        '"openssl rand -base64 32"',
    },
    {
      name: 'a key that appears twice, in whatever letter case',
      lines: [`secret a.key ${SECRET}`, `secret A.KEY. ${SECRET}`],
      problem: 'Corefile:4:12: key "A.KEY." appears twice; remove one',
    },
    {
      name: 'no file',
      lines: ['secrets'],
      problem: 'Corefile:3:5: "secrets" takes 1 argument(s), got 0',
    },
    {
      name: 'a missing file',
      lines: ['secrets x'],
      problem: 'Corefile:3:13: cannot read "x"',
    },
    {
      name: 'a file with a wrong line',
      lines: ['secrets empty'],
      problem: 'empty:1:1: key "a" has no "secret"',
    },
    {
      name: 'a file with a key twice',
      lines: ['secrets twice'],
      problem: 'twice:4:1: key "A." appears twice; remove one',
    },
    {
      name: 'a file with a secret that is not base64',
      lines: ['secrets odd'],
      problem:
        'odd:1:1: the secret of key "a" is not base64; make one with "tsig-keygen" or ' +
        '"openssl rand -base64 32"',
    },
    {
      name: 'no type',
      lines: ['require'],
      problem: 'Corefile:3:5: "require" takes 1 or more argument(s), got 0',
    },
    {
      name: 'an invalid type',
      lines: ['require A every'],
      problem: 'Corefile:3:15: "every" is not a query type such as AXFR, nor "all" or "none"',
    },
    {
      name: 'an invalid operation',
      lines: ['require_opcode DSO'],
      problem:
        'Corefile:3:20: "DSO" is not one of QUERY, IQUERY, STATUS, NOTIFY, UPDATE, all, none',
    },
  ]
  for (const { name, lines, problem } of bad) {
    test(`refuses ${name}`, () => {
      assert.deepEqual(problemsOf(block(directive('tsig', ...lines)), { files: FILES }), [problem])
    })
  }

  test('stands once in a block', () => {
    assert.deepEqual(problemsOf(block('tsig', 'tsig')), [
      'Corefile:3:3: "tsig" appears twice in this server block; remove one',
    ])
  })
})
