import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatAddress, parseAddress, reverseName } from '../../../../src/dns/names/address.ts'
import { nameOf, ROOT } from '../../../../src/dns/names/name.ts'
import { TYPE } from '../../../../src/dns/names/rr-type.ts'
import { parseQuery, type Query } from '../../../../src/dns/wire/query.ts'
import { writeQuery } from '../../../../src/dns/wire/write-query.ts'
import {
  type HostsOptions,
  HostsTable,
  readHosts,
} from '../../../../src/resolver/plugins/hosts/hosts-table.ts'

const ALL = { zones: [ROOT], hasReverse: true }

function queryFor(name: Uint8Array): Query {
  const query = parseQuery(writeQuery({ name, type: TYPE.A }))
  return query.kind === 'query' ? query : assert.fail('a query')
}

function tableOf(lines: readonly string[], options: HostsOptions = ALL): HostsTable {
  const table = new HostsTable(options)
  for (const line of lines) table.add(line)
  return table
}

async function read(text: string): Promise<{ table: HostsTable; longLines: number }> {
  return readHosts(new TextEncoder().encode(text), ALL, () => undefined)
}

describe('HostsTable', () => {
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
      const table = tableOf(lines)
      const name = nameOf(of)
      const found = of.startsWith('*.') ? table.wildcardAddressesOf(name) : table.addressesOf(name)
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
      const table = tableOf(lines, { ...ALL, ...options })
      assert.deepEqual(
        table.namesOf(reverseName(parseAddress(of) ?? assert.fail(of))),
        names.map((text) => nameOf(text)),
      )
    })
  }

  test('never throws, whatever the text', () => {
    const word = fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.domain())
    const line = fc.array(word, { maxLength: 4 }).map((words) => words.join(' '))
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const { entryCount } = tableOf(lines)
        assert.ok(entryCount >= 0)
      }),
    )
  })

  test('has the names of queries, one label before wildcards, and reverse names', () => {
    const table = tableOf(['192.0.2.1 www.test *.wild.test'])
    const has = (name: string): boolean => table.has(queryFor(nameOf(name)))
    for (const name of ['WWW.test', 'A.Wild.test', '1.2.0.192.in-addr.arpa']) assert.ok(has(name))
    for (const name of ['.', 'test', 'wild.test', 'a.b.wild.test']) assert.ok(!has(name), name)
  })
})

describe('readHosts', () => {
  test('reads the lines of a file, the last one too', async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `192.0.2.${i % 256} h${i}.test`)
    const { table, longLines } = await read(lines.join('\n'))
    assert.deepEqual([table.entryCount, longLines], [40_000, 0])
    assert.equal(table.addressesOf(nameOf('h19999.test')).length, 1)
  })

  test('passes over a line that is too long only', async () => {
    const long = `192.0.2.1 ${'x '.repeat(40_000)}`
    for (const text of [`192.0.2.1 a\n${long}\n192.0.2.1 b\n`, `${long}\n192.0.2.1 a b`]) {
      const { table, longLines } = await read(text)
      assert.deepEqual([table.entryCount, longLines], [4, 1])
    }
  })

  test('reads characters of several bytes wherever a piece ends', async () => {
    const line = `# ${'\u00fc'.repeat(997)}\n192.0.2.1 a\n`
    const { table } = await read(line.repeat(200))
    assert.equal(table.addressesOf(nameOf('a')).length, 200)
  })

  test('pauses between lines', async () => {
    let pauses = 0
    const pause = async (): Promise<void> => void pauses++
    await readHosts(new TextEncoder().encode('192.0.2.1 a\n192.0.2.1 b'), ALL, pause)
    assert.equal(pauses, 2)
  })
})
