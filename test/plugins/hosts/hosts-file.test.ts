import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatAddress, parseAddress, reverseName } from '../../../src/dns/address.ts'
import { nameKey, nameOf, ROOT } from '../../../src/dns/name.ts'
import { parseHosts } from '../../../src/plugins/hosts/hosts-file.ts'

const ALL = { zones: [ROOT], hasReverse: true }

describe('parseHosts', () => {
  const cases: { name: string; lines: string[]; of: string; addresses: string[] }[] = [
    {
      name: 'reads an address and its names',
      lines: ['192.0.2.1 a.example.org b.example.org'],
      of: 'b.example.org',
      addresses: ['192.0.2.1'],
    },
    {
      name: 'adds up the lines of a name in their order',
      lines: ['192.0.2.2 a', '2001:db8::1 a', '192.0.2.1 a'],
      of: 'a',
      addresses: ['192.0.2.2', '2001:db8::1', '192.0.2.1'],
    },
    {
      name: 'takes any blanks, and a carriage return at the end',
      lines: ['\t192.0.2.1  \t a \tb\r'],
      of: 'b',
      addresses: ['192.0.2.1'],
    },
    {
      name: 'ends a line at a comment',
      lines: ['192.0.2.1 a#b c', '# 192.0.2.2 c'],
      of: 'c',
      addresses: [],
    },
    {
      name: 'keeps the text before a comment',
      lines: ['192.0.2.1 a#b'],
      of: 'a',
      addresses: ['192.0.2.1'],
    },
    {
      name: 'folds letter case',
      lines: ['192.0.2.1 WWW.Example.org'],
      of: 'www.example.org',
      addresses: ['192.0.2.1'],
    },
    {
      name: 'cuts a zone identifier off',
      lines: ['fe80::1%eth0 a'],
      of: 'a',
      addresses: ['fe80::1'],
    },
    {
      name: 'takes a mapped IPv4 address for that',
      lines: ['::ffff:192.0.2.1 a'],
      of: 'a',
      addresses: ['192.0.2.1'],
    },
    {
      name: 'passes over a bad address',
      lines: ['192.0.2.256 a', '192.0.2 a'],
      of: 'a',
      addresses: [],
    },
    {
      name: 'passes over a bad name only',
      lines: [`192.0.2.1 ${'x'.repeat(64)} a`],
      of: 'a',
      addresses: ['192.0.2.1'],
    },
    {
      name: 'keeps a wildcard as a name',
      lines: ['192.0.2.1 *.a'],
      of: '*.a',
      addresses: ['192.0.2.1'],
    },
  ]
  for (const { name, lines, of, addresses } of cases) {
    test(name, () => {
      const found = parseHosts(lines, ALL).addresses.get(nameKey(nameOf(of))) ?? []
      assert.deepEqual(
        found.map((address) => formatAddress(address)),
        addresses,
      )
    })
  }

  const reverse: {
    name: string
    lines: string[]
    options?: object
    of: string
    names: string[]
  }[] = [
    {
      name: 'maps an address back to all of its names in their order',
      lines: ['192.0.2.1 b a', '192.0.2.1 c'],
      of: '192.0.2.1',
      names: ['b', 'a', 'c'],
    },
    {
      name: 'maps a mapped address back',
      lines: ['::ffff:192.0.2.1 a'],
      of: '192.0.2.1',
      names: ['a'],
    },
    {
      name: 'maps no address back to a wildcard',
      lines: ['192.0.2.1 *.a b'],
      of: '192.0.2.1',
      names: ['b'],
    },
    {
      name: 'maps no address back when configured not to',
      lines: ['192.0.2.1 a'],
      options: { hasReverse: false },
      of: '192.0.2.1',
      names: [],
    },
    {
      name: 'passes over names outside of the zones',
      lines: ['192.0.2.1 a.example.org a.example.net'],
      options: { zones: [nameOf('example.net')] },
      of: '192.0.2.1',
      names: ['a.example.net'],
    },
  ]
  for (const { name, lines, options, of, names } of reverse) {
    test(name, () => {
      const table = parseHosts(lines, { ...ALL, ...options })
      const key = nameKey(reverseName(parseAddress(of) ?? assert.fail(of)))
      assert.deepEqual(
        table.names.get(key) ?? [],
        names.map((text) => nameOf(text)),
      )
    })
  }

  test('never throws, and gives addresses only, whatever the text', () => {
    const word = fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.domain())
    const line = fc.array(word, { maxLength: 4 }).map((words) => words.join(' '))
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        for (const addresses of parseHosts(lines, ALL).addresses.values()) {
          for (const { length } of addresses) assert.ok(length === 4 || length === 16)
        }
      }),
    )
  })
})
