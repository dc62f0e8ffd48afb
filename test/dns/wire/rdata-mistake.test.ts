import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ROOT } from '../../../src/dns/names/name.ts'
import { parseType } from '../../../src/dns/names/rr-type.ts'
import { findRdataMistake } from '../../../src/dns/wire/rdata-mistake.ts'
import { BAD_RDATA } from './rdata-cases.ts'

const SOA = 'ns.a. admin.a. 1 7200 3600 1209600 300'

describe('findRdataMistake names the field, and quotes it alone:', () => {
  const cases: readonly (readonly [type: string, text: string, index: number, message: string])[] =
    [
      [
        'A',
        '192.0.2.256',
        0,
        'the address of a A record is "192.0.2.256", expected an IPv4 address',
      ],
      ['A', '192.0.2.1 x', 1, 'a A record has "x" after its last field'],
      ['A', '', 0, 'a A record has no data'],
      ['NS', 'a..b.', 0, 'the name server of a NS record is "a..b.", expected a domain name'],
      ['MX', '10', 1, 'a MX record lacks its host, a domain name'],
      [
        'MX',
        '65536 a.',
        0,
        'the preference of a MX record is "65536", expected a number from 0 to 65535',
      ],
      [
        'SOA',
        SOA.replace('ns.a.', 'n..s'),
        0,
        'the primary of a SOA record is "n..s", expected a domain name',
      ],
      [
        'SOA',
        SOA.replace(' 1 ', ' 1h '),
        2,
        'the serial of a SOA record is "1h", expected a number from 0 to 4294967295',
      ],
      [
        'SOA',
        SOA.replace('7200', '2x'),
        3,
        'the refresh of a SOA record is "2x", expected seconds, or a time such as 1h30m',
      ],
      [
        'SOA',
        SOA.replace('3600', '-1'),
        4,
        'the retry of a SOA record is "-1", expected seconds, or a time such as 1h30m',
      ],
      [
        'SOA',
        SOA.replace('1209600', 'x'),
        5,
        'the expire of a SOA record is "x", expected seconds, or a time such as 1h30m',
      ],
      [
        'SOA',
        SOA.replace(' 300', ' x'),
        6,
        'the minimum of a SOA record is "x", expected seconds, or a time such as 1h30m',
      ],
      [
        'SOA',
        SOA.replace(' 300', ''),
        6,
        'a SOA record lacks its minimum, seconds, or a time such as 1h30m',
      ],
      ['SRV', '1 2 x a.', 2, 'the port of a SRV record is "x", expected a number from 0 to 65535'],
      ['CAA', '0 is-sue a', 1, 'the tag of a CAA record is "is-sue", expected letters and digits'],
      ['TXT', 'a b\\256 c', 1, 'the text of a TXT record is "b\\256", expected text'],
      [
        'DS',
        '1 1 1 ab xy 00',
        4,
        'the digest of a DS record is "xy", expected bytes in hexadecimal',
      ],
      [
        'DNSKEY',
        '256 3 NONE AQPS',
        2,
        'the algorithm of a DNSKEY record is "NONE", expected the number or the mnemonic of an algorithm',
      ],
      ['NSEC', 'a. A BB MX', 2, 'the types of a NSEC record is "BB", expected a type of records'],
      [
        'SVCB',
        '1 . alpn=h2 port=x',
        3,
        'the parameters of a SVCB record is "port=x", expected a service parameter, each once',
      ],
      [
        'HTTPS',
        '1 . port=1 port=2',
        3,
        'the parameters of a HTTPS record is "port=2", expected a service parameter, each once',
      ],
      ['WKS', '192.0.2.1 tcp', 0, 'a WKS record cannot have "192.0.2.1 tcp" for its data'],
      [
        'TYPE65280',
        '\\# 4 abcdef',
        1,
        'the length of the opaque data of a TYPE65280 record is 4, but it has 3 bytes',
      ],
      [
        'TYPE65280',
        '\\# 2 ab xx',
        3,
        'the opaque data of a TYPE65280 record has "xx", expected bytes in hexadecimal',
      ],
      [
        'TYPE65280',
        '\\#',
        1,
        'the length of the opaque data of a TYPE65280 record is "", expected a number',
      ],
      ['A', '\\# 3 c00002', 1, 'the opaque data of a A record is not valid for this type'],
    ]
  for (const [type, text, index, message] of cases) {
    test(`${type} ${text}`, () => {
      const words = text.split(' ').filter((word) => word !== '')
      assert.deepEqual(findRdataMistake(parseType(type) ?? 0, words, ROOT), { index, message })
    })
  }

  test('a long word, shortened', () => {
    const { message } = findRdataMistake(1, ['x'.repeat(500)], ROOT)
    assert.equal(
      message,
      `the address of a A record is "${'x'.repeat(60)}…", expected an IPv4 address`,
    )
  })

  for (const { name, type, text } of BAD_RDATA) {
    test(`one word at most, for ${name} (${type})`, () => {
      const words = text.split(' ').filter((word) => word !== '')
      const { index, message } = findRdataMistake(parseType(type) ?? 0, words, ROOT)
      assert.ok(index <= words.length)
      assert.ok(message.startsWith('a ') || message.startsWith('the '))
    })
  }
})
