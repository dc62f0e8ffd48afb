import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatName, nameOf } from '../../../../src/dns/names/name.ts'
import {
  mayTransfer,
  parseRule,
  type TransferRule,
} from '../../../../src/resolver/plugins/transfer/options.ts'
import { block, directive, parseDirective, problemsOf } from '../../../ask.ts'

function rule(head: string, ...lines: string[]): TransferRule {
  return parseRule(parseDirective(directive(head, ...lines)), [nameOf('example.org')])
}

describe('transfer takes', () => {
  test('everybody, for the zones of the server block', () => {
    const { zones, ...rest } = rule('transfer', 'to *')
    assert.deepEqual(
      zones.map((zone) => formatName(zone)),
      ['example.org.'],
    )
    assert.deepEqual(rest, { isOpen: true, secondaries: [], sourceAddress: undefined })
  })

  test('addresses with ports and without, and other zones', () => {
    const lines = [
      'to 192.0.2.1 192.0.2.2:5353',
      'to * [2001:db8::1]:54 2001:db8::2',
      'source 192.0.2.9',
    ]
    const { zones, ...rest } = rule('transfer a.test b.test', ...lines)
    assert.deepEqual(
      zones.map((zone) => formatName(zone)),
      ['a.test.', 'b.test.'],
    )
    assert.deepEqual(rest, {
      isOpen: true,
      secondaries: [
        { address: '192.0.2.1', port: 53 },
        { address: '192.0.2.2', port: 5353 },
        { address: '2001:db8::1', port: 54 },
        { address: '2001:db8::2', port: 53 },
      ],
      sourceAddress: '192.0.2.9',
    })
  })
})

describe('transfer refuses', () => {
  const cases: { name: string; line: string; problem: string }[] = [
    {
      name: 'to are alone',
      line: 'transfer',
      problem: 'Corefile:2:3: "transfer" needs "to" with addresses, or "to *" for any client',
    },
    {
      name: '"to" without addresses',
      line: directive('transfer', 'to'),
      problem: 'Corefile:3:5: "to" needs addresses or * for any client',
    },
    {
      name: 'what is not an address',
      line: directive('transfer', 'to ns.example.org'),
      problem: 'Corefile:3:8: "ns.example.org" is not an address, ADDRESS:PORT nor *',
    },
    {
      name: 'an invalid source',
      line: directive('transfer', 'to *', 'source eth0'),
      problem: 'Corefile:4:12: "eth0" is not an address',
    },
    {
      name: 'two sources in a line',
      line: directive('transfer', 'to *', 'source 192.0.2.1 192.0.2.2'),
      problem: 'Corefile:4:5: "source" takes 1 argument(s), got 2',
    },
    {
      name: 'two sources',
      line: directive('transfer', 'to *', 'source 192.0.2.1', 'source 192.0.2.1'),
      problem: 'Corefile:5:5: "source" appears twice; remove one',
    },
    {
      name: 'too many addresses',
      line: directive(
        'transfer',
        `to ${Array.from({ length: 257 }, (_, i) => `10.0.${i >> 8}.${i & 255}`).join(' ')}`,
      ),
      problem: 'Corefile:2:3: "transfer" takes at most 256 addresses',
    },
    {
      name: 'other options',
      line: directive('transfer', 'from *'),
      problem: 'Corefile:3:5: "transfer" has no option "from"; it has to, source',
    },
  ]
  for (const { name, line, problem } of cases) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(line)), [problem])
    })
  }
})

describe('mayTransfer', () => {
  const cases: { name: string; to: string; client: string; is: boolean }[] = [
    { name: 'lets everybody', to: '*', client: '192.0.2.1', is: true },
    {
      name: 'lets a client that is named, from any port',
      to: '192.0.2.1:5353',
      client: '192.0.2.1',
      is: true,
    },
    { name: 'lets nobody else', to: '192.0.2.1', client: '192.0.2.2', is: false },
    {
      name: 'lets an IPv6 address however it is written',
      to: '2001:db8:0::1',
      client: '2001:db8::1',
      is: true,
    },
    { name: 'lets an address with its interface', to: 'fe80::1', client: 'fe80::1%eth0', is: true },
  ]
  for (const { name, to, client, is } of cases) {
    test(name, () => {
      assert.equal(mayTransfer(rule('transfer', `to ${to}`), client), is)
    })
  }
})
