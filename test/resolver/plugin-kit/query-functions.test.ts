import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parseQuery } from '../../../src/dns/wire/query.ts'
import { compileExpression } from '../../../src/go/expression/expression.ts'
import { formatValue } from '../../../src/go/expression/value.ts'
import type { Client } from '../../../src/resolver/contract/client.ts'
import { queryFunctions } from '../../../src/resolver/plugin-kit/query-functions.ts'
import { parseQuestion } from '../../message-text.ts'

const CLIENT: Client = {
  address: '192.0.2.7',
  port: 4242,
  transport: 'udp',
  localAddress: '::',
  localPort: 53,
}

function evaluate(source: string, question: string, client: Client): string {
  const query = parseQuery(parseQuestion(question).message)
  if (query.kind === 'refusal') throw new TypeError('Not a query')
  const metadata = (label: string): string | undefined => (label === 'a/b' ? 'known' : undefined)
  const { evaluate: run } = compileExpression(source, queryFunctions())
  return formatValue(run({ query, client, metadata }))
}

describe('functions of queries', () => {
  const cases: readonly [source: string, question: string, value: string][] = [
    ['type()', 'a.org AAAA', 'AAAA'],
    ['type()', 'a.org TYPE65280', 'TYPE65280'],
    ['type()', 'a.org TYPE0', 'None'],
    ['type()', 'a.org TYPE65535', 'Reserved'],
    ['class()', 'a.org ANY A', 'CLASS255'],
    ['name()', 'WWW.Example.org A', 'www.example.org.'],
    ['name()', '. A', '.'],
    ['class()', 'a.org CH TXT', 'CH'],
    ['proto()', 'a.org A', 'udp'],
    ['size()', 'a.org A', '23'],
    ['client_ip()', 'a.org A', '192.0.2.7'],
    ['port()', 'a.org A', '4242'],
    ['id()', 'a.org A +id=7', '7'],
    ['opcode()', 'a.org A', '0'],
    ['do()', 'a.org A', 'false'],
    ['do()', 'a.org A +do', 'true'],
    ['bufsize()', 'a.org A', '512'],
    ['bufsize()', 'a.org A +edns=100', '512'],
    ['bufsize()', 'a.org A +edns=4096', '4096'],
    ['server_ip() + " " + server_port()', 'a.org A', ':: 53'],
    ["metadata('a/b')", 'a.org A', 'known'],
    ["metadata('a/c') == ''", 'a.org A', 'true'],
    ["incidr('10.1.2.3', '10.0.0.0/8')", 'a.org A', 'true'],
    ["incidr('11.1.2.3', '10.0.0.0/8')", 'a.org A', 'false'],
    ["incidr('::ffff:10.1.2.3', '10.0.0.0/8')", 'a.org A', 'true'],
    ["incidr('2001:db8::7', '2001:0DB8::/32')", 'a.org A', 'true'],
    ["incidr('2001:db8::7', '10.0.0.0/8')", 'a.org A', 'false'],
    ["any(['10.0.0.0/8', '192.0.2.0/24'], incidr(client_ip(), #))", 'a.org A', 'true'],
  ]
  for (const [source, question, value] of cases) {
    test(`make ${value} of ${source} for ${question}`, () => {
      assert.equal(evaluate(source, question, CLIENT), value)
    })
  }

  const over: Client = { address: '2001:db8::7', port: 1, transport: 'https' }
  const others: readonly [source: string, value: string][] = [
    ['proto()', 'tcp'],
    ['bufsize()', '65535'],
    ['client_ip()', '2001:db8::7'],
    ['server_ip() + server_port()', '0'],
  ]
  for (const [source, value] of others) {
    test(`make ${value} of ${source} for a client over HTTPS`, () => {
      assert.equal(evaluate(source, 'a.org A', over), value)
    })
  }

  const errors: readonly [source: string, message: RegExp][] = [
    ["incidr('x', '10.0.0.0/8')", /"x" is not an address/],
    ["incidr('fe80::1%eth0', 'fe80::/10')", /"fe80::1%eth0" is not an address/],
    ["incidr('10.0.0.1', '10.0.0.0')", /"10.0.0.0" is not a block of addresses/],
  ]
  for (const [source, message] of errors) {
    test(`have no value for ${source}`, () => {
      assert.throws(() => evaluate(source, 'a.org A', CLIENT), message)
    })
  }
})
