import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../src/dns/names/name.ts'
import { readRecord, type ZoneState } from '../../../src/snapshot/records/zone-record.ts'
import { ZoneFileError, ZoneScanner } from '../../../src/snapshot/records/zone-scanner.ts'
import { formatRecord } from '../../../src/snapshot/records/zone-text.ts'

/** Reads lines one after the other and formats their records; an error ends them. */
function read(text: string, ttl: Partial<ZoneState> = {}): string[] {
  const origin = nameOf('example.org')
  const fresh = { file: 'db', origin, owner: origin, ttlSeconds: undefined, isTtlFixed: false }
  const state: ZoneState = { ...fresh, ...ttl }
  const scanner = new ZoneScanner('db', text)
  const found: string[] = []
  try {
    for (let line = scanner.next(); line !== undefined; line = scanner.next()) {
      found.push(formatRecord(readRecord(line, state)))
    }
  } catch (error) {
    if (!(error instanceof ZoneFileError)) throw error
    found.push(error.message)
  }
  return found
}

const A = 'IN A 192.0.2.1'

describe('a record', () => {
  const cases: { name: string; text: string; is: string[]; ttl?: Partial<ZoneState> }[] = [
    {
      name: 'takes TTL and class in either order',
      text: 'a 1 IN A 192.0.2.1\nb IN 2 A 192.0.2.1\nc 3 A 192.0.2.1',
      is: [`a.example.org. 1 ${A}`, `b.example.org. 2 ${A}`, `c.example.org. 3 ${A}`],
    },
    {
      name: 'takes the owner before it for one that is left out',
      text: 'a 1 A 192.0.2.1\n A 192.0.2.1\n\t7 IN A 192.0.2.1',
      is: [`a.example.org. 1 ${A}`, `a.example.org. 1 ${A}`, `a.example.org. 7 ${A}`],
    },
    {
      name: 'takes the origin when there was no owner before',
      text: ' 1 A 192.0.2.1',
      is: [`example.org. 1 ${A}`],
    },
    {
      name: 'takes the TTL that was named last',
      text: 'a 1 A 192.0.2.1\nb A 192.0.2.1\nc 2 A 192.0.2.1\nd A 192.0.2.1',
      is: [1, 1, 2, 2].map((ttl, i) => `${'abcd'[i]}.example.org. ${ttl} ${A}`),
    },
    {
      name: 'takes the TTL of $TTL whatever was named since',
      text: 'a 1 A 192.0.2.1\nb A 192.0.2.1',
      ttl: { ttlSeconds: 9, isTtlFixed: true },
      is: [`a.example.org. 1 ${A}`, `b.example.org. 9 ${A}`],
    },
    {
      name: 'takes TTL 0 with a class, before any TTL was named',
      text: `a ${A}`,
      is: [`a.example.org. 0 ${A}`],
    },
    {
      name: 'needs a TTL or a class, before any TTL was named',
      text: 'a A 192.0.2.1',
      is: ['db:1:3: no TTL here nor in a line before; begin with "$TTL 1h"'],
    },
    {
      name: 'takes an owner that is called as a type',
      text: 'IN 1 A 192.0.2.1\nA A 192.0.2.1',
      is: [`IN.example.org. 1 ${A}`, `A.example.org. 1 ${A}`],
    },
    {
      name: 'refuses ANY for the class, as CoreDNS does',
      text: 'a 1 ANY A 192.0.2.1',
      is: ['db:1:9: a ANY record cannot have "A 192.0.2.1" for its data'],
    },
    {
      name: 'refuses two classes',
      text: 'a IN IN A 192.0.2.1',
      is: ['db:1:6: "IN" is no type, no class and no TTL of a record'],
    },
    {
      name: 'refuses two TTLs',
      text: 'a 1 2 A 192.0.2.1',
      is: ['db:1:5: "2" is no type, no class and no TTL of a record'],
    },
    {
      name: 'refuses what is no type',
      text: 'a 1 IN AA 192.0.2.1',
      is: ['db:1:8: "AA" is no type, no class and no TTL of a record'],
    },
    {
      name: 'refuses a TTL over 31 bits',
      text: 'a 2147483648 A 192.0.2.1',
      is: ['db:1:3: "2147483648" is not a TTL from 0 to 2147483647'],
    },
    {
      name: 'refuses an owner that is not a name',
      text: 'a..b 1 A 192.0.2.1',
      is: ['db:1:1: "a..b" is not a domain name'],
    },
    {
      name: 'refuses a line without a type',
      text: 'a 1 IN',
      is: ['db:1:5: the line ends before the type of a record'],
    },
    {
      name: 'refuses a type without data',
      text: 'a 1 IN A',
      is: ['db:1:1: a A record has no data'],
    },
    {
      name: 'refuses data of another type',
      text: 'a 1 A ( 2001:db8::1\n x )',
      is: ['db:1:9: the address of a A record is "2001:db8::1", expected an IPv4 address'],
    },
    {
      name: 'refuses one field, at its place',
      text: 'a 1 SOA ns admin (\n 1 7200\n 3600x ; retry\n 1209600 300 )',
      is: [
        'db:3:2: the retry of a SOA record is "3600x", expected seconds, or a time such as 1h30m',
      ],
    },
    {
      name: 'refuses a missing field, at the last word',
      text: 'a 1 MX 10',
      is: ['db:1:8: a MX record lacks its host, a domain name'],
    },
    {
      name: 'refuses a parameter with a quoted value',
      text: 'a 1 SVCB 1 . alpn="h2" port="x"',
      is: [
        'db:1:24: the parameters of a SVCB record is "port=x", expected a service parameter, each once',
      ],
    },
    {
      name: 'refuses a field of a location',
      text: 'a 1 LOC 42 21 54 N 71 06 18 X -24m',
      is: [
        'db:1:29: the longitude of a LOC record is "X", expected degrees to 180, minutes, seconds, and E or W',
      ],
    },
    {
      name: 'takes a parameter and its quoted value together',
      text: 'a 1 SVCB 1 . alpn="h2" port=1',
      is: ['a.example.org. 1 IN SVCB 1 . alpn="h2" port="1"'],
    },
    {
      name: 'takes strings that touch apart',
      text: 'a 1 TXT b="c""d"',
      is: ['a.example.org. 1 IN TXT "b=" "c" "d"'],
    },
  ]
  for (const { name, text, is, ttl } of cases) {
    test(name, () => {
      assert.deepEqual(read(text, ttl), is)
    })
  }

  test('is reported shortened when it is long and invalid', () => {
    const [message = ''] = read(`a 1 A ${'x'.repeat(500)}`)
    assert.equal(
      message,
      `db:1:7: the address of a A record is "${'x'.repeat(60)}…", expected an IPv4 address`,
    )
  })
})
