/**
 * Valid and invalid DNSRecords, for the parser and for a real API server with the schema.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

const CRDS = join(import.meta.dirname, '../../deploy/crds/templates')

/** The custom resource definition. */
export const DEFINITION: unknown = parse(
  readFileSync(join(CRDS, 'dnsrecords.kubedoh.dev.yaml'), 'utf8'),
)

/** A spec and, if it is valid, the lines of its records in the zone a.test. */
export type RecordCase = { readonly spec: unknown; readonly lines: readonly string[] }

function specOf(type: string, ...values: readonly string[]): Record<string, unknown> {
  return { zone: 'a.test', name: 'x', type, values }
}

const L63 = 'l'.repeat(63)
/** The first 241 characters and `.a.test` are 248. */
const LONGEST = `${L63}.${L63}.${L63}.${'l'.repeat(60)}`

/** Specs that both accept. */
export const VALID: readonly RecordCase[] = [
  { spec: specOf('A', '203.0.113.1'), lines: ['x.a.test 60 A 203.0.113.1'] },
  {
    spec: { ...specOf('A', '0.0.0.0', '255.255.255.255'), ttl: 0 },
    lines: ['x.a.test 0 A 0.0.0.0', 'x.a.test 0 A 255.255.255.255'],
  },
  { spec: specOf('AAAA', '2001:DB8::1'), lines: ['x.a.test 60 AAAA 2001:db8::1'] },
  { spec: specOf('AAAA', '::'), lines: ['x.a.test 60 AAAA ::'] },
  { spec: specOf('AAAA', '1:2:3:4:5:6:7::'), lines: ['x.a.test 60 AAAA 1:2:3:4:5:6:7:0'] },
  { spec: specOf('AAAA', '::2:3:4:5:6:7:8'), lines: ['x.a.test 60 AAAA 0:2:3:4:5:6:7:8'] },
  { spec: specOf('CNAME', 'Web.Example.net.'), lines: ['x.a.test 60 CNAME Web.Example.net.'] },
  { spec: specOf('TXT', 'v=spf1 "-all" \\'), lines: ['x.a.test 60 TXT "v=spf1 \\"-all\\" \\\\"'] },
  {
    spec: specOf('TXT', 't'.repeat(1024)),
    lines: [
      `x.a.test 60 TXT ${[255, 255, 255, 255, 4].map((n) => `"${'t'.repeat(n)}"`).join(' ')}`,
    ],
  },
  {
    spec: { ...specOf('SRV', '0 65535 443 web.a.test'), name: '_sip._tcp', ttl: 604_800 },
    lines: ['_sip._tcp.a.test 604800 SRV 0 65535 443 web.a.test.'],
  },
  { spec: specOf('SRV', '0 0 0 .'), lines: ['x.a.test 60 SRV 0 0 0 .'] },
  {
    spec: { ...specOf('MX', '10 mx1.a.test', '20 mx2.a.test.'), name: '@' },
    lines: ['a.test 60 MX 10 mx1.a.test.', 'a.test 60 MX 20 mx2.a.test.'],
  },
  { spec: specOf('MX', '0 .'), lines: ['x.a.test 60 MX 0 .'] },
  {
    spec: specOf('CAA', '128 issue "ca.example.net; policy=ev"'),
    lines: ['x.a.test 60 CAA 128 issue "ca.example.net; policy=ev"'],
  },
  { spec: specOf('CAA', '0 issuewild ""'), lines: ['x.a.test 60 CAA 0 issuewild ""'] },
  { spec: specOf('HTTPS', '0 web.a.test'), lines: ['x.a.test 60 HTTPS 0 web.a.test.'] },
  {
    spec: specOf(
      'HTTPS',
      '1 . alpn=h2,http/1.1 no-default-alpn port=8443 ipv4hint=203.0.113.1 ipv6hint=2001:db8::1,::1',
    ),
    lines: [
      'x.a.test 60 HTTPS 1 . alpn="h2,http/1.1" no-default-alpn port="8443"' +
        ' ipv4hint="203.0.113.1" ipv6hint="2001:db8::1,::1"',
    ],
  },
  { spec: { ...specOf('A', '203.0.113.1'), name: '*.x' }, lines: ['*.x.a.test 60 A 203.0.113.1'] },
  {
    spec: { ...specOf('A', '203.0.113.1'), zone: 'shop.a.test' },
    lines: ['x.shop.a.test 60 A 203.0.113.1'],
  },
  {
    spec: { ...specOf('A', '203.0.113.1'), name: LONGEST.slice(0, 241) },
    lines: [`${LONGEST.slice(0, 241)}.a.test 60 A 203.0.113.1`],
  },
]

const A = specOf('A', '203.0.113.1')

/** Specs that both refuse, with what the parser says of each. */
export const INVALID: readonly { readonly spec: unknown; readonly message: RegExp }[] = [
  { spec: undefined, message: /^spec.zone is missing/ },
  { spec: { ...A, zone: undefined }, message: /^spec.zone is missing/ },
  { spec: { ...A, name: undefined }, message: /^spec.name is missing/ },
  { spec: { ...A, type: undefined }, message: /^spec.type is "", expected one of A, AAAA/ },
  { spec: { ...A, values: undefined }, message: /^spec.values has 0/ },
  { spec: { ...A, zone: 'a.test.' }, message: /^spec.zone is "a.test."/ },
  { spec: { ...A, zone: '' }, message: /^spec.zone is ""/ },
  { spec: { ...A, name: 'X' }, message: /^spec.name is "X"/ },
  { spec: { ...A, name: 'x.*' }, message: /^spec.name/ },
  { spec: { ...A, name: '-x' }, message: /^spec.name/ },
  { spec: { ...A, name: 'l'.repeat(64) }, message: /^spec.name/ },
  { spec: { ...A, name: 'x..y' }, message: /^spec.name/ },
  { spec: { ...A, name: 7 }, message: /^spec.name is 7, expected text/ },
  { spec: { ...A, name: LONGEST.slice(0, 242) }, message: /^249 characters of name and zone/ },
  { spec: { ...A, ttl: -1 }, message: /^spec.ttl is -1/ },
  { spec: { ...A, ttl: 604_801 }, message: /^spec.ttl/ },
  { spec: { ...A, ttl: '60' }, message: /^spec.ttl is "60"/ },
  { spec: specOf('NS', 'ns.a.test'), message: /^spec.type is "NS"/ },
  { spec: { ...A, values: '203.0.113.1' }, message: /^spec.values/ },
  { spec: specOf('A'), message: /^spec.values has 0/ },
  { spec: specOf('A', '203.0.113.1', '203.0.113.1'), message: /1 to 16 different values/ },
  {
    spec: specOf('A', ...Array.from({ length: 17 }, (_, i) => `203.0.113.${i}`)),
    message: /^spec.values has 17/,
  },
  { spec: specOf('A', '203.0.113.256'), message: /^a A record cannot be "203.0.113.256"/ },
  { spec: specOf('A', '203.0.113.01'), message: /cannot be/ },
  { spec: specOf('A', '2001:db8::1'), message: /cannot be/ },
  { spec: specOf('AAAA', '203.0.113.1'), message: /cannot be/ },
  { spec: specOf('AAAA', '1:2:3:4:5:6:7:8:9'), message: /cannot be/ },
  { spec: specOf('AAAA', '1::2::3'), message: /cannot be/ },
  { spec: specOf('AAAA', '::ffff:203.0.113.1'), message: /cannot be/ },
  { spec: specOf('AAAA', 'fe80::1%eth0'), message: /cannot be/ },
  { spec: specOf('CNAME', 'a.test', 'b.test'), message: /1 to 1 different values/ },
  { spec: specOf('CNAME', `${'l'.repeat(64)}.test`), message: /cannot be/ },
  { spec: specOf('CNAME', `${LONGEST}.test.test`), message: /cannot be/ },
  { spec: specOf('TXT', ''), message: /cannot be ""/ },
  { spec: specOf('TXT', 'a\nb'), message: /cannot be/ },
  { spec: specOf('TXT', 't'.repeat(1025)), message: /cannot be/ },
  { spec: specOf('SRV', '0 0 65536 web.a.test'), message: /cannot be/ },
  { spec: specOf('SRV', '0 0 web.a.test'), message: /cannot be/ },
  { spec: specOf('MX', 'mx.a.test'), message: /cannot be/ },
  { spec: specOf('CAA', '1 issue "ca.example.net"'), message: /cannot be/ },
  { spec: specOf('CAA', '0 issue ca.example.net'), message: /cannot be/ },
  { spec: specOf('HTTPS', '0 web.a.test alpn=h2'), message: /cannot be/ },
  { spec: specOf('HTTPS', '1 . no-default-alpn'), message: /cannot be/ },
  { spec: specOf('HTTPS', '1 . port=443 alpn=h2'), message: /cannot be/ },
  { spec: specOf('HTTPS', '1 . key9=x'), message: /cannot be/ },
]
