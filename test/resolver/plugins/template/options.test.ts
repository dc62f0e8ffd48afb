import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ROOT } from '../../../../src/dns/names/name.ts'
import { parseRule } from '../../../../src/resolver/plugins/template/options.ts'
import { block, directive, parseDirective, problemsOf } from '../../../ask.ts'

describe('a rule of template', () => {
  test('has what its directive says', () => {
    const options = [
      'match a b',
      'match c',
      'var x 1',
      'expr x == 1',
      'answer "a. A 192.0.2.1" "b. A 192.0.2.2"',
      'authority "a. NS b."',
      'additional "b.  A  {{ .Remote }}"',
      'rcode NXDOMAIN',
      'ederror 21 "not here"',
      'fallthrough',
      'upstream 192.0.2.1',
    ]
    const rule = parseRule(parseDirective(directive('template IN ANY a.org', ...options)), [ROOT])
    assert.deepEqual([rule.class, rule.type, rule.rcode], [1, 255, 3])
    assert.deepEqual(
      rule.patterns.map(({ source }) => source),
      ['a', 'b', 'c'],
    )
    assert.deepEqual(
      rule.variables.map(({ name }) => name),
      ['x'],
    )
    assert.equal(rule.conditions.length, 1)
    assert.equal(rule.records.answer.length, 2)
    assert.deepEqual(
      rule.records.additional.map(({ text }) => text),
      ['b.  A  {{.Remote}}'],
    )
    assert.equal(rule.extendedErrors.length, 1)
    assert.deepEqual(rule.fallthrough, [ROOT])
  })

  const problems: { name: string; head?: string; options?: string[]; problem: string }[] = [
    {
      name: 'needs a class and a type',
      head: 'template IN',
      problem: '2:3: "template" takes a class and a type, such as "template IN A"',
    },
    { name: 'has a class', head: 'template X A', problem: '2:12: "X" is not a class' },
    {
      name: 'has its class in capitals',
      head: 'template in A',
      problem: '2:12: "in" is not a class; write capitals',
    },
    { name: 'has a type', head: 'template IN X', problem: '2:15: "X" is not a type' },
    {
      name: 'has no type by number',
      head: 'template IN TYPE65280',
      problem: '2:15: "TYPE65280" is not a type',
    },
    {
      name: 'has names for zones',
      head: 'template IN A a..b',
      problem: '2:17: "a..b" is not a domain name',
    },
    {
      name: 'knows its options',
      options: ['anser x'],
      problem: '3:5: "template" has no option "anser"; did you mean "answer"?',
    },
    {
      name: 'matches something',
      options: ['match'],
      problem: '3:5: "match" takes 1 or more argument(s), got 0',
    },
    {
      name: 'matches expressions of a bounded length',
      options: [`match ${'a'.repeat(10_001)}`],
      problem: '3:11: an expression may have at most 10000 characters',
    },
    {
      name: 'answers something',
      options: ['answer'],
      problem: '3:5: "answer" takes 1 or more argument(s), got 0',
    },
    {
      name: 'says what is wrong with a template',
      options: ['answer "{{ .Name }} 60 IN A {{ nosuch }}"'],
      problem: '3:12: not a template: there is no function "nosuch"',
    },
    {
      name: 'has a response code',
      options: ['rcode X'],
      problem: '3:11: "X" is not a response code',
    },
    ...[
      ['SUCCESS', 'NOERROR'],
      ['Success', 'NOERROR'],
      ['RcodeSuccess', 'NOERROR'],
      ['NOERR', 'NOERROR'],
      ['NODATA', 'NOERROR'],
      ['FORMAT_ERROR', 'FORMERR'],
      ['ServerFailure', 'SERVFAIL'],
      ['SERVERFAIL', 'SERVFAIL'],
      ['NAMEERROR', 'NXDOMAIN'],
      ['NXDOMIAN', 'NXDOMAIN'],
      ['nxdomain', 'NXDOMAIN'],
      ['NotImplemented', 'NOTIMP'],
      ['REFUSE', 'REFUSED'],
      ['3', 'NXDOMAIN'],
    ].map(([text = '', meant = '']) => ({
      name: `has a response code, not ${text}`,
      options: [`rcode ${text}`],
      problem: `3:11: "${text}" is not a response code; write ${meant}`,
    })),
    {
      name: 'has a response code, not 24',
      options: ['rcode 24'],
      problem: '3:11: "24" is not a response code',
    },
    {
      name: 'has one response code',
      options: ['rcode NXDOMAIN X'],
      problem: '3:5: "rcode" takes 1 argument(s), got 2',
    },
    {
      name: 'has a number for an extended error',
      options: ['ederror x'],
      problem: '3:13: "x" is not a number from 0 to 65535',
    },
    {
      name: 'has an extended error of 16 bits',
      options: ['ederror 65536'],
      problem: '3:13: "65536" is not a number from 0 to 65535',
    },
    {
      name: 'has one reason for it',
      options: ['ederror 1 a b'],
      problem: '3:5: "ederror" takes 1 to 2 argument(s), got 3',
    },
    {
      name: 'has a name for a variable',
      options: ['var'],
      problem: '3:5: "var" takes a name and an expression',
    },
    {
      name: 'has a value for a variable',
      options: ['var a'],
      problem: '3:5: expected a value or an operator, got the end of the expression',
    },
    {
      name: 'has names for variables that are names',
      options: ['var a-b 1'],
      problem: '3:9: "a-b" is already in use or not a valid variable name',
    },
    {
      name: 'has no variable by the name of a function',
      options: ['var group 1'],
      problem: '3:9: "group" is already in use or not a valid variable name',
    },
    {
      name: 'has each variable once',
      options: ['var a 1', 'var a 2'],
      problem: '4:9: "a" is already in use or not a valid variable name',
    },
    {
      name: 'knows variables from where they are',
      options: ['expr a == 1', 'var a 1'],
      problem: '3:10: unknown name "a"; put strings in quotes',
    },
    {
      name: 'knows the types of variables',
      options: ['var a 1', "expr a == 'x'"],
      problem: '4:12: "==" does not accept int and string',
    },
    {
      name: 'needs an expression',
      options: ['expr'],
      problem: '3:5: expected a value or an operator, got the end of the expression',
    },
  ]
  for (const { name, head = 'template IN A', options = [], problem } of problems) {
    test(name, () => {
      const line = options.length === 0 ? head : directive(head, ...options)
      assert.deepEqual(problemsOf(block(line)), [`Corefile:${problem}`])
    })
  }

  test('does not know what lists and nil in variables will hold', () => {
    const options = ['var a [1]', "expr a[0] + 'x' == 'x'", 'var b nil', 'expr b + 1 == 2']
    assert.deepEqual(problemsOf(block(directive('template IN A', ...options))), [])
  })
})
