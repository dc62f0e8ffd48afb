import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { finish } from '../../../../src/dns/bytes/steps.ts'
import { formatName, nameOf } from '../../../../src/dns/names/name.ts'
import { TYPE } from '../../../../src/dns/names/rr-type.ts'
import { ZoneBuilder } from '../../../../src/resolver/plugins/file/zone-data.ts'
import { formatRecord } from '../../../../src/snapshot/records/zone-text.ts'
import { zoneOf } from './zones.ts'

/** The records of a type at a name, as text. */
function recordsAt(lines: readonly string[], name: string, type: number): string[] {
  const sets = zoneOf(lines).nodes.get(nameOf(name))?.sets
  return (sets?.get(type) ?? []).map(formatRecord)
}

describe('a zone', () => {
  test('keeps SOA and NS records of its apex apart', () => {
    const zone = zoneOf([
      '@ A 192.0.2.1',
      '@ RRSIG SOA 13 2 1 2 1 1 @ AQPS',
      '@ RRSIG NS 13 2 1 2 1 1 @ AQPS',
    ])
    const apex = zone.nodes.get(zone.origin)
    assert.deepEqual([...(apex?.sets.keys() ?? [])], [TYPE.A])
    assert.equal(
      formatRecord(zone.soa),
      'example.org. 3600 IN SOA ns.example.org. host.example.org. 7 3600 600 86400 300',
    )
    assert.deepEqual(zone.nameservers.map(formatRecord), [
      'example.org. 3600 IN NS ns.example.org.',
    ])
    assert.equal(zone.soaSignatures.length, 1)
    assert.equal(zone.nsSignatures.length, 1)
  })

  test('has the names above its names, without records', () => {
    const { nodes } = zoneOf(['a.b.c A 192.0.2.1'])
    assert.deepEqual(
      [...nodes.values()].map(({ owner, sets }) => `${formatName(owner)} ${sets.size}`).sort(),
      ['a.b.c.example.org. 1', 'b.c.example.org. 0', 'c.example.org. 0', 'example.org. 0'],
    )
  })

  test('has its apex even if it is empty', () => {
    const zone = zoneOf([])
    assert.equal(zone.nodes.get(zone.origin)?.sets.size, 0)
  })

  test('leaves out what is outside of it', () => {
    const zone = zoneOf([
      'a.example.net. A 192.0.2.1',
      'org. A 192.0.2.1',
      'aexample.org. A 192.0.2.1',
    ])
    assert.equal(zone.outsideCount, 3)
    assert.equal(zone.nodes.size, 1)
  })

  test('takes any SOA record, the last of them', () => {
    const zone = zoneOf(['other.test. SOA a. b. 1 1 1 1 1'])
    assert.equal(formatRecord(zone.soa), 'other.test. 3600 IN SOA a. b. 1 1 1 1 1')
  })

  test('is none without one', () => {
    assert.equal(finish(new ZoneBuilder(nameOf('example.org')).finish()), undefined)
  })

  test('has a record once, however often it is said (RFC 2181 §5)', () => {
    const twice = ['a A 192.0.2.1', 'A 1 A 192.0.2.1', 'a A 192.0.2.2']
    assert.deepEqual(recordsAt(twice, 'a.example.org', TYPE.A), [
      'a.example.org. 3600 IN A 192.0.2.1',
      'a.example.org. 3600 IN A 192.0.2.2',
    ])
    const many = Array.from({ length: 100 }, (_, i) => `m TXT "${i % 40}"`)
    assert.equal(recordsAt(many, 'm.example.org', TYPE.TXT).length, 40)
  })

  const folded: { line: string; type: number; is: string }[] = [
    {
      line: 'WwW CNAME Web',
      type: TYPE.CNAME,
      is: 'www.example.org. 3600 IN CNAME web.example.org.',
    },
    {
      line: 'www NS Ns.Example.Net.',
      type: TYPE.NS,
      is: 'www.example.org. 3600 IN NS ns.example.net.',
    },
    { line: 'www MX 5 Mail', type: TYPE.MX, is: 'www.example.org. 3600 IN MX 5 mail.example.org.' },
    {
      line: 'www HTTPS 1 Web port=1',
      type: TYPE.HTTPS,
      is: 'www.example.org. 3600 IN HTTPS 1 web.example.org. port="1"',
    },
    {
      line: 'WwW SRV 1 2 3 Web',
      type: TYPE.SRV,
      is: 'WwW.example.org. 3600 IN SRV 1 2 3 Web.example.org.',
    },
    { line: 'www PTR Web', type: TYPE.PTR, is: 'www.example.org. 3600 IN PTR Web.example.org.' },
    { line: 'www TXT "Text"', type: TYPE.TXT, is: 'www.example.org. 3600 IN TXT "Text"' },
  ]
  for (const { line, type, is } of folded) {
    test(`has the letter case that CoreDNS gives "${line}"`, () => {
      assert.deepEqual(recordsAt([line], 'www.example.org', type), [is])
    })
  }

  test('folds the names of its SOA record', () => {
    const builder = zoneOf(['@ SOA Ns.Example.Net. Host 1 2 3 4 5'])
    assert.match(formatRecord(builder.soa), /SOA ns\.example\.net\. host\.example\.org\. 1/)
  })
})
