import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { nameOf, ROOT } from '../../../src/dns/names/name.ts'
import { CLASS } from '../../../src/dns/names/rr-class.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import type { ResourceRecord } from '../../../src/dns/wire/message.ts'
import { formatRecord, parseFirstRecord } from '../../../src/snapshot/records/zone-text.ts'
import { wireName } from '../../generators.ts'
import { parseRecord } from '../../parse-record.ts'

const origin = nameOf('example.org')

describe('reading a line and writing it', () => {
  const cases: { name: string; line: string; text: string | undefined }[] = [
    {
      name: 'takes owner, TTL, class, type and rdata',
      line: 'www.example.org. 300 IN A 192.0.2.1',
      text: 'www.example.org. 300 IN A 192.0.2.1',
    },
    {
      name: 'takes IN for a class that is left out',
      line: 'www.example.org. 300 A 192.0.2.1',
      text: 'www.example.org. 300 IN A 192.0.2.1',
    },
    {
      name: 'puts relative names below the origin, in the owner and in rdata',
      line: 'www 300 CNAME web.shop',
      text: 'www.example.org. 300 IN CNAME web.shop.example.org.',
    },
    {
      name: 'takes @ for the origin',
      line: '@ 300 MX 10 @',
      text: 'example.org. 300 IN MX 10 example.org.',
    },
    { name: 'takes the root', line: '. 300 NS .', text: '. 300 IN NS .' },
    {
      name: 'takes mnemonics in any letter case and keeps that of names',
      line: 'WWW.example.org. 300 in aaaa 2001:DB8::1',
      text: 'WWW.example.org. 300 IN AAAA 2001:db8::1',
    },
    {
      name: 'takes any white space between words and round them',
      line: ' \t www  300\tIN   A\t192.0.2.1 ',
      text: 'www.example.org. 300 IN A 192.0.2.1',
    },
    {
      name: 'ends at a comment',
      line: 'www 300 A 192.0.2.1 ; the "server"',
      text: 'www.example.org. 300 IN A 192.0.2.1',
    },
    {
      name: 'ends at a comment that touches the last word',
      line: 'www 300 A 192.0.2.1;x',
      text: 'www.example.org. 300 IN A 192.0.2.1',
    },
    {
      name: 'takes no comment out of a string or an escape',
      line: 't 300 TXT "a ; b" c\\;d',
      text: 't.example.org. 300 IN TXT "a ; b" "c;d"',
    },
    {
      name: 'takes quotes, blanks and backslashes in strings',
      line: 't 300 TXT "say \\"yes\\"" "" "\\\\" \\065\\ b',
      text: 't.example.org. 300 IN TXT "say \\"yes\\"" "" "\\\\" "A b"',
    },
    {
      name: 'takes escapes in names',
      line: 'a\\.b\\032c 300 NS d\\;\\"e.',
      text: 'a\\.b\\032c.example.org. 300 IN NS d\\;\\"e.',
    },
    {
      name: 'takes the class of other networks',
      line: 'version 0 CH TXT "1"',
      text: 'version.example.org. 0 CH TXT "1"',
    },
    {
      name: 'takes classes and types by number',
      line: 'x 1 CLASS254 TYPE65280 \\# 2 0aFf',
      text: 'x.example.org. 1 NONE TYPE65280 \\# 2 0aff',
    },
    {
      name: 'takes known rdata in hexadecimal digits',
      line: 'x 1 A \\# 4 c0 00 02 01',
      text: 'x.example.org. 1 IN A 192.0.2.1',
    },
    {
      name: 'takes rdata of no bytes',
      line: 'x 1 TYPE65280 \\# 0',
      text: 'x.example.org. 1 IN TYPE65280 \\# 0',
    },
    {
      name: 'takes the greatest TTL',
      line: 'x 2147483647 A 192.0.2.1',
      text: 'x.example.org. 2147483647 IN A 192.0.2.1',
    },
    { name: 'refuses a greater TTL', line: 'x 2147483648 A 192.0.2.1', text: undefined },
    { name: 'refuses a TTL beyond 32 bits', line: 'x 4294967297 A 192.0.2.1', text: undefined },
    { name: 'refuses a negative TTL', line: 'x -1 A 192.0.2.1', text: undefined },
    {
      name: 'takes a TTL with units',
      line: 'x 1h5m A 192.0.2.1',
      text: 'x.example.org. 3900 IN A 192.0.2.1',
    },
    {
      name: 'takes an hour for a TTL that is left out',
      line: 'x IN A 192.0.2.1',
      text: 'x.example.org. 3600 IN A 192.0.2.1',
    },
    {
      name: 'takes the class before the TTL',
      line: 'x IN 300 A 192.0.2.1',
      text: 'x.example.org. 300 IN A 192.0.2.1',
    },
    {
      name: 'takes lines within parentheses',
      line: 'x 300 MX ( 10 ; preference\n mail )',
      text: 'x.example.org. 300 IN MX 10 mail.example.org.',
    },
    {
      name: 'takes the bytes of characters beyond ASCII',
      line: 'x 300 TXT "é"',
      text: 'x.example.org. 300 IN TXT "\\195\\169"',
    },
    {
      name: 'takes parameters in quotes',
      line: 'x 300 HTTPS 1 . alpn="h2,h3"',
      text: 'x.example.org. 300 IN HTTPS 1 . alpn="h2,h3"',
    },
    { name: 'refuses two records', line: 'x A 192.0.2.1\ny A 192.0.2.2', text: undefined },
    { name: 'refuses a line without a type', line: 'x 300 IN', text: undefined },
    { name: 'refuses an invalid type', line: 'x 300 IN AAAAA 192.0.2.1', text: undefined },
    { name: 'refuses an invalid class', line: 'x 300 ON A 192.0.2.1', text: undefined },
    { name: 'refuses missing rdata', line: 'x 300 IN A', text: undefined },
    { name: 'refuses a surplus word', line: 'x 300 IN A 192.0.2.1 192.0.2.2', text: undefined },
    { name: 'refuses rdata of another type', line: 'x 300 IN A 2001:db8::1', text: undefined },
    { name: 'refuses an owner that is not a name', line: 'a..b 300 A 192.0.2.1', text: undefined },
    {
      name: 'refuses an owner over 255 bytes below the origin',
      line: `${'a.'.repeat(122)}a 300 A 192.0.2.1`,
      text: undefined,
    },
    { name: 'refuses a string that is left open', line: 'x 300 TXT "a b', text: undefined },
    { name: 'refuses an empty line', line: '', text: undefined },
    { name: 'refuses a comment', line: '; x 300 A 192.0.2.1', text: undefined },
    { name: 'refuses a directive', line: '$TTL 300', text: undefined },
  ]
  for (const { name, line, text } of cases) {
    test(name, () => {
      const record = parseRecord(line, origin)
      assert.equal(record && formatRecord(record), text)
    })
  }
})

describe('any record', () => {
  const bytes = (maxLength: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ maxLength })
  const fixed = (length: number): fc.Arbitrary<Uint8Array> =>
    fc.uint8Array({ minLength: length, maxLength: length })
  const join = (...parts: readonly Uint8Array[]): Uint8Array =>
    Uint8Array.from(Buffer.concat(parts))
  const strings = fc
    .array(bytes(255), { minLength: 1, maxLength: 4 })
    .map((parts) => join(...parts.map((part) => Uint8Array.of(part.length, ...part))))
  const typed: fc.Arbitrary<Pick<ResourceRecord, 'type' | 'rdata'>> = fc.oneof(
    fc.record({ type: fc.constant(TYPE.A), rdata: fixed(4) }),
    fc.record({ type: fc.constant(TYPE.AAAA), rdata: fixed(16) }),
    fc.record({ type: fc.constantFrom(TYPE.NS, TYPE.CNAME, TYPE.PTR), rdata: wireName() }),
    fc.record({
      type: fc.constant(TYPE.SRV),
      rdata: fc.tuple(fixed(6), wireName()).map(([numbers, target]) => join(numbers, target)),
    }),
    fc.record({ type: fc.constant(TYPE.TXT), rdata: strings }),
    fc.record({ type: fc.integer({ min: 0xff00, max: 0xfffe }), rdata: bytes(40) }),
  )
  const record: fc.Arbitrary<ResourceRecord> = fc
    .record({
      owner: wireName(),
      ttlSeconds: fc.integer({ min: 0, max: 0x7fffffff }),
      class: fc.oneof(fc.constant(CLASS.IN), fc.integer({ min: 0, max: 65535 })),
      typed,
    })
    .map(({ typed, ...rest }) => ({ ...rest, ...typed }))

  test('is read back as it was written, whatever the origin', () => {
    fc.assert(
      fc.property(record, fc.constantFrom(ROOT, origin), (written, below) => {
        assert.deepEqual(parseRecord(formatRecord(written), below), written)
      }),
    )
  })

  test('takes one line of printable characters', () => {
    fc.assert(
      fc.property(record, (written) => {
        assert.match(formatRecord(written), /^[\x20-\x7e]+$/)
      }),
    )
  })
})

describe('the first record of a text', () => {
  const cases: readonly [text: string, record: string | undefined][] = [
    ['www A 192.0.2.1', 'www. 3600 IN A 192.0.2.1'],
    ['\n; comment\nwww 1h IN A 192.0.2.1\nnonsense', 'www. 3600 IN A 192.0.2.1'],
    ['www IN 5 TXT (a\n b)', 'www. 5 IN TXT "a" "b"'],
    [' www 5 A 192.0.2.1', undefined],
    ['www 5 A', undefined],
    ['www 5 TXT "open', undefined],
    ['', undefined],
  ]
  for (const [text, expected] of cases) {
    test(`of ${JSON.stringify(text)} is ${expected ?? 'not there'}`, () => {
      const record = parseFirstRecord(text)
      assert.equal(record && formatRecord(record), expected)
    })
  }
})

describe('any text', () => {
  test('is a record that can be written, or none', () => {
    const word = fc.oneof(
      fc.constantFrom('@', 'www', '300', 'IN', 'A', 'TXT', 'SRV', '192.0.2.1', '\\#', '1', '.'),
      fc.string({ unit: fc.constantFrom('"', '\\', ';', ' ', 'a', '.', '0', 'é'), maxLength: 8 }),
    )
    const line = fc.oneof(
      fc.string(),
      fc.array(word, { maxLength: 9 }).map((words) => words.join(' ')),
      fc.array(word, { maxLength: 5 }).map((words) => `x 300 TXT ${words.join(' ')}`),
    )
    fc.assert(
      fc.property(line, (text) => {
        const record = parseRecord(text, origin)
        if (record !== undefined) {
          assert.deepEqual(parseRecord(formatRecord(record), origin), record)
        }
      }),
      { numRuns: 1000 },
    )
  })
})
