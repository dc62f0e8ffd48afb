import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatServiceParams, parseServiceParams } from '../../../src/dns/rdata/service-params.ts'
import { serviceParams } from '../wire/arbitraries.ts'
import { hex } from '../wire/messages.ts'

/** Words and bytes of RFC 9460 appendix D.2, and a few of our own. */
const VECTORS: { name: string; words: string[]; wire: string }[] = [
  { name: 'nothing (figure 3)', words: [], wire: '' },
  { name: 'a port (figure 4)', words: ['port=53'], wire: '0003 0002 0035' },
  { name: 'a key by its number (figure 5)', words: ['key667=hello'], wire: '029b 0005 68656c6c6f' },
  {
    name: 'an escaped byte (figure 6)',
    words: ['key667="hello\\210qoo"'],
    wire: '029b 0009 68656c6c6fd2716f6f',
  },
  {
    name: 'two IPv6 hints (figure 7)',
    words: ['ipv6hint="2001:db8::1,2001:db8::53:1"'],
    wire: '0006 0020 20010db8000000000000000000000001 20010db8000000000000000000530001',
  },
  {
    name: 'an IPv6 hint in IPv4 form (figure 8)',
    words: ['ipv6hint="2001:db8:122:344::192.0.2.33"'],
    wire: '0006 0010 20010db80122034400000000c0000221',
  },
  {
    name: 'keys, and keys as a value, in any order (figure 9)',
    words: ['alpn=h2,h3-19', 'mandatory=ipv4hint,alpn', 'ipv4hint=192.0.2.1'],
    wire: '0000 0004 0001 0004  0001 0009 026832 0568332d3139  0004 0004 c0000201',
  },
  {
    name: 'an escaped comma and backslash, quoted (figure 10)',
    words: ['alpn="f\\\\\\\\oo\\\\,bar,h2"'],
    wire: '0001 000c 08665c6f6f2c626172 026832',
  },
  {
    name: 'an escaped comma and backslash in numbers (figure 10)',
    words: ['alpn=f\\\\\\092oo\\092,bar,h2'],
    wire: '0001 000c 08665c6f6f2c626172 026832',
  },
  { name: 'a port of one digit', words: ['port=7'], wire: '0003 0002 0007' },
  {
    name: 'a list item of 255 bytes',
    words: [`alpn=${'a'.repeat(255)}`],
    wire: `0001 0100 ff${'61'.repeat(255)}`,
  },
  { name: 'a flag', words: ['no-default-alpn', 'alpn=h2'], wire: '0001 0003 026832 0002 0000' },
  {
    name: 'two IPv4 hints',
    words: ['ipv4hint=192.0.2.1,192.0.2.2'],
    wire: '0004 0008 c0000201 c0000202',
  },
  { name: 'bytes in base64', words: ['ech="AEP+DQ=="'], wire: '0005 0004 0043fe0d' },
  {
    name: 'a template (RFC 9461 §5)',
    words: ['dohpath=/dns-query{?dns}'],
    wire: '0007 0010 2f646e732d71756572797b3f646e737d',
  },
  { name: 'a key without a value', words: ['key65534'], wire: 'fffe 0000' },
  { name: 'an empty value', words: ['key9=""'], wire: '0009 0000' },
  { name: 'an escaped quote', words: ['key9="a\\"b"'], wire: '0009 0003 612262' },
  {
    name: 'a known key by its number, as bytes (§2.1)',
    words: ['key3="\\002S"'],
    wire: '0003 0002 0253',
  },
]

describe('parseServiceParams', () => {
  for (const { name, words, wire } of VECTORS) {
    test(`reads ${name}`, () => {
      assert.deepEqual(parseServiceParams(words), hex(wire))
    })
  }

  /** Appendix D.3 and what is like it. */
  const refused: { name: string; words: string[] }[] = [
    { name: 'a key twice', words: ['key123=abc', 'key123=def'] },
    { name: 'a key twice, once by its number', words: ['port=1', 'key3=ab'] },
    { name: 'mandatory without a value', words: ['mandatory'] },
    { name: 'alpn without a value', words: ['alpn'] },
    { name: 'port without a value', words: ['port'] },
    { name: 'ipv4hint without a value', words: ['ipv4hint'] },
    { name: 'ipv6hint without a value', words: ['ipv6hint'] },
    { name: 'no-default-alpn with a value', words: ['alpn=h2', 'no-default-alpn=abc'] },
    { name: 'a missing mandatory key', words: ['mandatory=key123'] },
    { name: 'mandatory as a mandatory key', words: ['mandatory=mandatory'] },
    { name: 'a mandatory key twice', words: ['mandatory=key123,key123', 'key123=abc'] },
    { name: 'an empty list item', words: ['alpn=h2,,h3'] },
    { name: 'a list that ends with a comma', words: ['alpn=h2,'] },
    { name: 'a list item over 255 bytes', words: [`alpn=${'a'.repeat(256)}`] },
    { name: 'a backslash before nothing that needs one', words: ['alpn=a\\\\b'] },
    { name: 'a port over 65535', words: ['port=65536'] },
    { name: 'two ports', words: ['port=1,2'] },
    { name: 'a port with a sign', words: ['port=+1'] },
    { name: 'an IPv6 address as an IPv4 hint', words: ['ipv4hint=2001:db8::1'] },
    { name: 'an IPv4 address as an IPv6 hint', words: ['ipv6hint=192.0.2.1'] },
    { name: 'something other than base64', words: ['ech=AEP-DQ'] },
    { name: 'a key in capitals', words: ['ALPN=h2'] },
    { name: 'a key over 65535', words: ['key65536=a'] },
    { name: 'a key with leading zeros', words: ['key0667=a'] },
    { name: 'a key that is unassigned', words: ['alpns=h2'] },
    { name: 'an empty key', words: ['=a'] },
    { name: 'an escape over 255', words: ['key9=\\256'] },
    { name: 'an escape of one digit', words: ['key9=\\1a'] },
    { name: 'a backslash at the end', words: ['key9=a\\'] },
    { name: 'a character over U+00FF', words: ['key9=\u0141'] },
    { name: 'what every object has', words: ['constructor=a'] },
  ]
  for (const { name, words } of refused) {
    test(`refuses ${name}`, () => {
      assert.equal(parseServiceParams(words), undefined)
    })
  }

  test('never throws', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '1', ',', '\\', '"', '=', '0', '.', ':') })
    const key = fc.constantFrom('alpn', 'mandatory', 'port', 'ipv4hint', 'ipv6hint', 'ech', 'key7')
    const word = fc.tuple(key, text).map(([name, value]) => `${name}=${value}`)
    fc.assert(
      fc.property(fc.array(fc.oneof(word, text)), (words) => {
        const wire = parseServiceParams(words)
        if (wire !== undefined) formatServiceParams(wire)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('formatServiceParams', () => {
  for (const { name, wire } of VECTORS) {
    test(`writes ${name}, so that it is read back`, () => {
      const text = formatServiceParams(hex(wire))
      assert.deepEqual(parseServiceParams(text === '' ? [] : text.split(' ')), hex(wire))
    })
  }

  const cases: { name: string; wire: string; text: string }[] = [
    {
      name: 'keys by name and values in quotes',
      wire: '0000 0002 0001  0001 0006 026832 026833  0003 0002 01bb  0004 0004 c0000201',
      text: 'mandatory=alpn alpn="h2,h3" port="443" ipv4hint="192.0.2.1"',
    },
    {
      name: 'a comma and a backslash in a list item, escaped for the list and for the line',
      wire: '0001 0006 05 612c625c63',
      text: 'alpn="a\\092\\044b\\092\\092c"',
    },
    { name: 'a list item of one byte', wire: '0001 0002 0161', text: 'alpn="a"' },
    { name: 'no mandatory keys', wire: '0000 0000', text: 'key0' },
    {
      name: 'only what is printed as it is',
      wire: '0009 0004 1f217e7f',
      text: 'key9="\\031!~\\127"',
    },
    { name: 'blanks and quotes as numbers', wire: '0009 0002 2022', text: 'key9="\\032\\034"' },
    { name: 'a known key without a value', wire: '0002 0000', text: 'no-default-alpn' },
    { name: 'an unknown key without a value', wire: '0009 0000', text: 'key9' },
    {
      name: 'a port of three bytes by the number of its key',
      wire: '0003 0003 303132',
      text: 'key3="012"',
    },
    { name: 'a port of none', wire: '0003 0000', text: 'key3' },
    { name: 'half an address', wire: '0004 0002 c000', text: 'key4="\\192\\000"' },
    { name: 'no address', wire: '0006 0000', text: 'key6' },
    { name: 'a list item that overruns', wire: '0001 0002 0568', text: 'key1="\\005h"' },
    { name: 'an empty list item', wire: '0001 0003 000161', text: 'key1="\\000\\001a"' },
    { name: 'a flag with a value', wire: '0002 0001 61', text: 'key2="a"' },
    {
      name: 'mandatory keys out of order',
      wire: '0000 0004 00040001',
      text: 'key0="\\000\\004\\000\\001"',
    },
    { name: 'a mandatory key of one byte', wire: '0000 0001 61', text: 'key0="a"' },
  ]
  for (const { name, wire, text } of cases) {
    test(`writes ${name}`, () => {
      assert.equal(formatServiceParams(hex(wire)), text)
    })
  }

  test('writes what parseServiceParams reads, for any values', () => {
    fc.assert(
      fc.property(serviceParams(), (wire) => {
        const text = formatServiceParams(wire)
        assert.deepEqual(parseServiceParams(text === '' ? [] : text.split(' ')), wire)
      }),
      { numRuns: 1000 },
    )
  })
})
