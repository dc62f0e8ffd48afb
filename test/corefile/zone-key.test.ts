import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { ConfigError } from '../../src/corefile/problem.ts'
import { parseZoneKey, parseZones } from '../../src/corefile/zone-key.ts'
import { IN_ADDR_ARPA, IP6_ARPA } from '../../src/dns/names/address.ts'
import { formatName, isSubdomain } from '../../src/dns/names/name.ts'
import { outlineKey, problemsOf } from './source.ts'

const AT = { file: 'Corefile', line: 1, column: 2 }

describe('parseZoneKey takes', () => {
  const cases: { name: string; text: string; keys: readonly string[] }[] = [
    { name: 'the root', text: '.', keys: ['.'] },
    { name: 'a zone', text: 'example.org', keys: ['example.org.'] },
    { name: 'a zone with its final dot', text: 'example.org.', keys: ['example.org.'] },
    { name: 'a zone in capitals', text: 'Example.ORG', keys: ['example.org.'] },
    { name: 'a zone of one label', text: 'local', keys: ['local.'] },
    { name: 'a zone with an escaped dot', text: 'a\\.b.org', keys: ['a\\.b.org.'] },
    { name: 'a port', text: '.:53', keys: ['.:53'] },
    { name: 'the lowest port, which the system chooses', text: '.:0', keys: ['.:0'] },
    { name: 'the highest port', text: '.:65535', keys: ['.:65535'] },
    { name: 'a port with leading zeros', text: '.:0053', keys: ['.:53'] },
    { name: 'dns://', text: 'dns://example.org:5353', keys: ['example.org.:5353'] },
    { name: 'tls://', text: 'tls://example.org', keys: ['tls://example.org.'] },
    { name: 'https://', text: 'https://.:443', keys: ['https://.:443'] },
    {
      name: 'a scheme in capitals as a name, as CoreDNS does',
      text: 'TLS://a.b',
      keys: ['tls://a.b.'],
    },
    { name: 'gRPC', text: 'grpc://a:8443', keys: ['grpc://a.:8443'] },
    {
      name: 'what is not a number after a colon as a name, as CoreDNS does',
      text: 'a:b',
      keys: ['a:b.'],
    },
    { name: 'a reverse zone', text: '2.0.192.in-addr.arpa', keys: ['2.0.192.in-addr.arpa.'] },
    {
      name: 'a reverse zone of RFC 2317',
      text: '0/25.2.0.192.in-addr.arpa',
      keys: ['0/25.2.0.192.in-addr.arpa.'],
    },
    { name: 'a block on the byte border', text: '192.0.2.0/24', keys: ['2.0.192.in-addr.arpa.'] },
    { name: 'a block with a port', text: '192.0.2.0/24:53', keys: ['2.0.192.in-addr.arpa.:53'] },
    {
      name: 'a block with a scheme',
      text: 'tls://10.0.0.0/8',
      keys: ['tls://10.in-addr.arpa.'],
    },
    {
      name: 'a single address as a block',
      text: '192.0.2.1/32',
      keys: ['1.2.0.192.in-addr.arpa.'],
    },
    { name: 'a block of all addresses', text: '0.0.0.0/0', keys: ['in-addr.arpa.'] },
    {
      name: 'a block whose address has further bits',
      text: '10.1.2.3/8',
      keys: ['10.in-addr.arpa.'],
    },
    {
      name: 'a block off the byte border',
      text: '10.128.0.0/10:53',
      keys: Array.from({ length: 64 }, (_, i) => `${128 + i}.10.in-addr.arpa.:53`),
    },
    {
      name: 'a block one bit off the byte border',
      text: '192.0.2.0/23',
      keys: ['2.0.192.in-addr.arpa.', '3.0.192.in-addr.arpa.'],
    },
    {
      name: 'a block of a few addresses',
      text: '192.0.2.4/31',
      keys: ['4.2.0.192.in-addr.arpa.', '5.2.0.192.in-addr.arpa.'],
    },
    { name: 'an IPv6 block', text: '2001:db8::/32', keys: ['8.b.d.0.1.0.0.2.ip6.arpa.'] },
    {
      name: 'an IPv6 block with a port',
      text: '2001:db8::/32:53',
      keys: ['8.b.d.0.1.0.0.2.ip6.arpa.:53'],
    },
    {
      name: 'an IPv6 block off the nibble border',
      text: '2001:db8:c::/47',
      keys: ['c.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.', 'd.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.'],
    },
    { name: 'all IPv6 addresses', text: '::/0', keys: ['ip6.arpa.'] },
    {
      name: 'half of all IPv6 addresses',
      text: '8000::/1',
      keys: [...'89abcdef'].map((digit) => `${digit}.ip6.arpa.`),
    },
    {
      name: 'a block of more bits than exist as a name',
      text: '192.0.2.0/33',
      keys: ['192.0.2.0/33.'],
    },
    { name: 'a block of no address as a name', text: '192.0.2/24', keys: ['192.0.2/24.'] },
    { name: 'an address alone as a name', text: '192.0.2.1', keys: ['192.0.2.1.'] },
  ]
  for (const { name, text, keys } of cases) {
    test(`${name}: ${text}`, () => {
      assert.deepEqual(parseZoneKey(text, AT).map(outlineKey), keys)
    })
  }

  test('the given position', () => {
    const word = { ...AT, text: 'a' }
    const [key] = parseZoneKey('a', word)
    const { file, line, column } = key ?? assert.fail()
    assert.deepEqual({ file, line, column }, AT)
    assert.ok(!Object.hasOwn(key ?? {}, 'text'))
  })
})

describe('parseZoneKey refuses', () => {
  const cases: { name: string; text: string; message: string }[] = [
    { name: 'nothing', text: '', message: '"" is not a domain name; the root is "."' },
    {
      name: 'a port without a zone',
      text: ':53',
      message: '":53" has no zone before the colon; did you mean ".:53"?',
    },
    {
      name: 'a port without its colon',
      text: '.53',
      message: '".53" is not a domain name; did you mean ".:53"?',
    },
    {
      name: 'a surplus dot',
      text: '.a.org',
      message: '".a.org" is not a domain name; did you mean "a.org"?',
    },
    {
      name: 'a scheme without a zone',
      text: 'tls://',
      message: '"" is not a domain name; the root is "."',
    },
    { name: 'an empty label', text: 'a..b', message: '"a..b" is not a domain name' },
    {
      name: 'letters beyond ASCII',
      text: 'bücher.org',
      message: '"bücher.org" is not a domain name; in ASCII it is "xn--bcher-kva.org"',
    },
    {
      name: 'a label of 64 bytes',
      text: 'a'.repeat(64),
      message: `"${'a'.repeat(64)}" is not a domain name: a label has over 63 bytes`,
    },
    {
      name: 'a colon at the end',
      text: '.:',
      message: '".:" has no port from 0 to 65535 after the colon',
    },
    {
      name: 'a negative port',
      text: '.:-1',
      message: '".:-1" has no port from 0 to 65535 after the colon',
    },
    {
      name: 'port 65536',
      text: '.:65536',
      message: '".:65536" has no port from 0 to 65535 after the colon',
    },
    {
      name: 'QUIC',
      text: 'quic://.:853',
      message:
        '"quic://.:853": DNS over QUIC is not supported; ' +
        'put dnsdist in front of "tls://" (docs/fronts.md)',
    },
    {
      name: 'HTTP/3',
      text: 'https3://.',
      message:
        '"https3://.": HTTP/3 is not supported; ' +
        'put dnsdist in front of "https://" (docs/fronts.md)',
    },
    {
      name: 'another scheme',
      text: 'http://a',
      message: '"http://a": unknown scheme "http", expected dns, tls, https or grpc',
    },
    {
      name: "the names of an object's properties as schemes",
      text: 'constructor://a',
      message: '"constructor://a": unknown scheme "constructor", expected dns, tls, https or grpc',
    },
  ]
  for (const { name, text, message } of cases) {
    test(`${name}: ${text}`, () => {
      assert.throws(() => parseZoneKey(text, AT), {
        name: 'ConfigError',
        message: `Corefile:1:2: ${message}`,
      })
    })
  }
})

describe('parseZones', () => {
  const cases: readonly (readonly [text: string, zone: string])[] = [
    ['example.org:53', 'example.org.'],
    ['example.org:65536', 'example.org.'],
    ['dns://example.org:53', 'example.org.'],
    ['grpc://example.org', 'example.org.'],
    ['tls://10.0.0.0/8', '10.in-addr.arpa.'],
    ['2001:db8::/32:53', '8.b.d.0.1.0.0.2.ip6.arpa.'],
    ['foo://example.org', 'foo://example.org.'],
    ['a:b', 'a:b.'],
  ]
  for (const [text, zone] of cases) {
    test(`reads ${text} as ${zone}, as CoreDNS does`, () => {
      assert.deepEqual(
        parseZones(text, AT).map((one) => formatName(one)),
        [zone],
      )
    })
  }

  const refused: readonly (readonly [text: string, message: string])[] = [
    ['a..b', '"a..b" is not a domain name'],
    ['a.org:', '"a.org:" has nothing after the colon'],
    [':53', '"" is not a domain name; the root is "."'],
  ]
  for (const [text, message] of refused) {
    test(`refuses "${text}"`, () => {
      assert.deepEqual(
        problemsOf(() => parseZones(text, AT)),
        [`Corefile:1:2: ${message}`],
      )
    })
  }

  test('gives distinct reverse zones for a CIDR block', () => {
    const block = fc.oneof(
      fc.tuple(fc.ipV4(), fc.nat(32), fc.constant(8)),
      fc.tuple(fc.ipV6(), fc.nat(128), fc.constant(4)),
    )
    fc.assert(
      fc.property(block, ([address, bits, step]) => {
        const zones = parseZones(`${address}/${bits}`, AT)
        const tree = step === 8 ? IN_ADDR_ARPA : IP6_ARPA
        assert.equal(zones.length, 2 ** ((step - (bits % step)) % step))
        assert.equal(new Set(zones.map((zone) => formatName(zone))).size, zones.length)
        for (const zone of zones) assert.ok(isSubdomain(zone, tree))
      }),
    )
  })

  test('returns zones or throws a ConfigError for any text', () => {
    const pieces = fc
      .array(fc.constantFrom('a', '.', ':', '/', '53', '0', '10.0.0.0', '::', 'tls://', '\\', 'é'))
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.oneof(fc.string(), pieces), (text) => {
        try {
          for (const { zone } of parseZoneKey(text, AT)) assert.ok(zone.length <= 255)
        } catch (error) {
          assert.ok(error instanceof ConfigError)
        }
      }),
      { numRuns: 1000 },
    )
  })
})
