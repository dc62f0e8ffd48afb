import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { parseType } from '../../../../src/dns/names/rr-type.ts'
import { nsecRecord } from '../../../../src/resolver/plugins/dnssec/sign-reply.ts'
import { formatRecord } from '../../../../src/snapshot/records/zone-text.ts'

function deny(name: string, type: string, isDelegation = false): string | undefined {
  const record = nsecRecord({
    name: nameOf(name),
    type: parseType(type) ?? 0,
    zone: nameOf('example.org'),
    ttlSeconds: 60,
    isDelegation,
  })
  return record && formatRecord(record)
}

const REST = 'LOC SRV CERT SSHFP RRSIG NSEC'
const LAST = 'TLSA HIP OPENPGPKEY SPF'

describe('denialRecord', () => {
  const cases: { name: string; type: string; isDelegation?: true; is: string }[] = [
    {
      name: 'a.example.org',
      type: 'A',
      is: `a.example.org. 60 IN NSEC \\000.a.example.org. HINFO TXT AAAA ${REST} ${LAST}`,
    },
    {
      name: 'A.Example.org',
      type: 'MX',
      is: `A.Example.org. 60 IN NSEC \\000.A.Example.org. A HINFO TXT AAAA ${REST} ${LAST}`,
    },
    {
      name: 'a.example.org',
      type: 'NSEC',
      is: `a.example.org. 60 IN NSEC \\000.a.example.org. A HINFO TXT AAAA ${REST} ${LAST}`,
    },
    {
      name: 'a.example.org',
      type: 'RRSIG',
      is: `a.example.org. 60 IN NSEC \\000.a.example.org. A HINFO TXT AAAA ${REST.replace('RRSIG ', '')} ${LAST}`,
    },
    {
      name: 'example.ORG',
      type: 'TXT',
      is: `example.ORG. 60 IN NSEC \\000.example.ORG. A NS SOA HINFO MX AAAA ${REST} DNSKEY ${LAST}`,
    },
    {
      name: 'example.org',
      type: 'DS',
      is: `example.org. 60 IN NSEC \\000.example.org. A NS SOA HINFO MX TXT AAAA ${REST} DNSKEY ${LAST}`,
    },
    {
      name: 'cut.example.org',
      type: 'DS',
      is: `cut.example.org. 60 IN NSEC \\000.cut.example.org. A NS HINFO TXT AAAA ${REST} ${LAST}`,
    },
    {
      name: 'cut.example.org',
      type: 'A',
      isDelegation: true,
      is: `cut.example.org. 60 IN NSEC cut\\000.example.org. A NS HINFO TXT AAAA ${REST} ${LAST}`,
    },
  ]
  for (const { name, type, isDelegation = false, is } of cases) {
    test(`denies ${type} of ${name}${isDelegation ? ' at a cut' : ''}`, () => {
      assert.equal(deny(name, type, isDelegation), is)
    })
  }

  const label = 'x'.repeat(63)
  const longest = [...Array.from({ length: 3 }, () => label), 'y'.repeat(49), 'example.org']
  test('has a next name of 255 bytes', () => {
    const name = [...longest.slice(0, 3), 'y'.repeat(47), 'example.org'].join('.')
    assert.equal(nameOf(name).length, 253)
    assert.match(deny(name, 'A') ?? '', / NSEC \\000\.x/)
  })

  const none: { name: string; asked: string; isDelegation?: true }[] = [
    { name: 'the name below is too long', asked: longest.join('.') },
    { name: 'the name beside is too long', asked: longest.join('.'), isDelegation: true },
    { name: 'a label has no room', asked: `${label}.example.org`, isDelegation: true },
  ]
  for (const { name, asked, isDelegation = false } of none) {
    test(`is none when ${name}`, () => {
      assert.equal(deny(asked, 'A', isDelegation), undefined)
    })
  }
})
