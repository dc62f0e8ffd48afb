import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { readProxyHeader } from '../../../src/dns/wire/proxy-header.ts'
import { flipped } from '../../generators.ts'
import { ENDS, KIND, LOCAL, SIGNATURE, v1, v2, withTlvs } from '../../proxy-headers.ts'

/** Returns a header's source and size, or why there is none. */
function read(bytes: Uint8Array): string {
  const header = readProxyHeader(bytes)
  if (typeof header === 'string') return header
  const { ends, size, fitsDatagram } = header
  const source =
    ends === undefined
      ? 'own'
      : `${ends.address} ${ends.port} ${ends.localAddress} ${ends.localPort}`
  return `${source}, ${size} bytes${fitsDatagram ? ', UDP' : ''}`
}

const IPV4 = '192.0.2.7 4711 198.51.100.1 53'
const IPV6 = '2001:db8::7 4711 2001:db8::1 53'
const LONG = `UNKNOWN ${'f'.repeat(107 - 16)}`

describe('a header of version 1', () => {
  const cases: readonly { text: string; is: string }[] = [
    { text: 'TCP4 192.0.2.7 198.51.100.1 4711 53', is: `${IPV4}, 43 bytes` },
    { text: 'TCP6 2001:db8::7 2001:DB8::1 4711 53', is: `${IPV6}, 44 bytes` },
    { text: 'TCP6 ::ffff:192.0.2.7 ::1 0 65535', is: '192.0.2.7 0 ::1 65535, 41 bytes' },
    { text: 'UNKNOWN', is: 'own, 15 bytes' },
    { text: 'UNKNOWN a b c', is: 'own, 21 bytes' },
    { text: LONG, is: 'own, 107 bytes' },
    { text: `${LONG}f`, is: 'malformed' },
    { text: 'TCP4 192.0.2.7 198.51.100.1 4711', is: 'malformed' },
    { text: 'TCP4 192.0.2.7 198.51.100.1 4711 53 1', is: 'malformed' },
    { text: 'TCP4  192.0.2.7 198.51.100.1 4711 53', is: 'malformed' },
    { text: 'TCP4 192.0.2.7 198.51.100.1 4711 65536', is: 'malformed' },
    { text: 'TCP4 192.0.2.7 198.51.100.1 04711 53', is: 'malformed' },
    { text: 'TCP4 192.0.2.7 198.51.100.1 +1 53', is: 'malformed' },
    { text: 'TCP4 192.0.2.07 198.51.100.1 1 53', is: 'malformed' },
    { text: 'TCP4 2001:db8::7 2001:db8::1 4711 53', is: 'malformed' },
    { text: 'TCP6 192.0.2.7 198.51.100.1 4711 53', is: 'malformed' },
    { text: 'TCP6 fe80::1%eth0 ::1 1 2', is: 'malformed' },
    { text: 'UDP4 192.0.2.7 198.51.100.1 4711 53', is: 'malformed' },
    { text: 'tcp4 192.0.2.7 198.51.100.1 4711 53', is: 'malformed' },
    { text: '', is: 'malformed' },
  ]
  for (const { text, is } of cases) test(text, () => assert.equal(read(v1(text)), is))

  test('needs CR and LF', () => {
    assert.equal(read(Buffer.from('PROXY UNKNOWN\n')), 'malformed')
    assert.equal(read(Buffer.from('PROXYX UNKNOWN\r\n')), 'malformed')
    assert.equal(read(Buffer.from(`PROXY ${'x'.repeat(100)}`)), 'cut')
    assert.equal(read(Buffer.from(`PROXY ${'x'.repeat(101)}`)), 'malformed')
  })
})

describe('a header of version 2', () => {
  const cases: readonly { name: string; bytes: Uint8Array; is: string }[] = [
    { name: 'TCP over IPv4', bytes: v2(), is: `${IPV4}, 28 bytes` },
    { name: 'UDP over IPv4', bytes: v2({ kind: KIND.UDP4 }), is: `${IPV4}, 28 bytes, UDP` },
    {
      name: 'TCP over IPv6',
      bytes: v2({ kind: KIND.TCP6, body: ENDS.IPv6 }),
      is: `${IPV6}, 52 bytes`,
    },
    {
      name: 'UDP over IPv6',
      bytes: v2({ kind: KIND.UDP6, body: ENDS.IPv6 }),
      is: `${IPV6}, 52 bytes, UDP`,
    },
    {
      name: 'of a machine',
      bytes: v2({ kind: KIND.STREAM, body: ENDS.UNIX }),
      is: 'own, 232 bytes',
    },
    {
      name: 'of datagrams of a machine',
      bytes: v2({ kind: KIND.DATAGRAM, body: ENDS.UNIX }),
      is: 'own, 232 bytes',
    },
    {
      name: 'LOCAL',
      bytes: v2({ command: LOCAL, kind: KIND.UNSPEC, body: Buffer.alloc(0) }),
      is: 'own, 16 bytes, UDP',
    },
    { name: 'LOCAL with ends', bytes: v2({ command: LOCAL }), is: 'own, 28 bytes, UDP' },
    {
      name: 'LOCAL with too few bytes',
      bytes: v2({ command: LOCAL, body: Buffer.alloc(3) }),
      is: 'own, 19 bytes, UDP',
    },
    { name: 'with TLVs', bytes: v2({ body: withTlvs(400) }), is: `${IPV4}, 428 bytes` },
    { name: 'with the most TLVs', bytes: v2({ body: withTlvs(4084) }), is: `${IPV4}, 4112 bytes` },
    { name: 'with too many TLVs', bytes: v2({ body: withTlvs(4085) }), is: 'malformed' },
    { name: 'with TLVs without end', bytes: v2({ length: 0xffff }), is: 'malformed' },
    {
      name: 'LOCAL without end',
      bytes: v2({ command: LOCAL, length: 4097 }),
      is: 'malformed',
    },
    { name: 'shorter than its length', bytes: v2({ length: 13 }), is: 'cut' },
    { name: 'with too short a length', bytes: v2({ length: 11 }), is: 'malformed' },
    { name: 'IPv6 with the length of IPv4', bytes: v2({ kind: KIND.TCP6 }), is: 'malformed' },
    { name: 'a path with the length of IPv4', bytes: v2({ kind: KIND.STREAM }), is: 'malformed' },
    { name: 'of no family', bytes: v2({ kind: KIND.UNSPEC }), is: 'malformed' },
    { name: 'of no protocol', bytes: v2({ kind: 0x10 }), is: 'malformed' },
    { name: 'of an unknown protocol', bytes: v2({ kind: 0x13 }), is: 'malformed' },
    { name: 'of an unknown family', bytes: v2({ kind: 0x41 }), is: 'malformed' },
    {
      name: 'LOCAL of an unknown family',
      bytes: v2({ command: LOCAL, kind: 0x41 }),
      is: 'malformed',
    },
    { name: 'of an unknown command', bytes: v2({ command: 0x22 }), is: 'malformed' },
    { name: 'of version 3', bytes: v2({ command: 0x31 }), is: 'malformed' },
    { name: 'that has begun', bytes: SIGNATURE, is: 'cut' },
    { name: 'that has hardly begun', bytes: Buffer.from('\r\n'), is: 'cut' },
    { name: 'that never begins', bytes: Buffer.alloc(0), is: 'cut' },
    { name: 'with a wrong signature', bytes: v2().fill(0, 11, 12), is: 'none' },
    { name: 'after something', bytes: Buffer.concat([Buffer.of(0), v2()]), is: 'none' },
    { name: 'in place of which TLS begins', bytes: Buffer.from('160301', 'hex'), is: 'none' },
  ]
  for (const { name, bytes, is } of cases) test(name, () => assert.equal(read(bytes), is))
})

const whole = fc.constantFrom(
  v1(),
  v1('UNKNOWN'),
  v2(),
  v2({ kind: KIND.UDP6, body: ENDS.IPv6 }),
  v2({ kind: KIND.STREAM, body: ENDS.UNIX }),
  v2({ body: withTlvs(40) }),
)

test('each part of a header is cut', () => {
  const parts = whole.chain((bytes) => fc.tuple(fc.constant(bytes), fc.nat(bytes.length - 1)))
  fc.assert(fc.property(parts, ([bytes, size]) => read(bytes.subarray(0, size)) === 'cut'))
})

test('what follows a header changes nothing', () => {
  fc.assert(
    fc.property(whole, fc.uint8Array(), (bytes, rest) => {
      assert.equal(read(Buffer.concat([bytes, rest])), read(bytes))
    }),
  )
})

test('no bytes make it throw, or read beyond them', () => {
  const damaged = whole.chain((bytes) => flipped(bytes))
  fc.assert(
    fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 300 })), (bytes) => {
      const header = readProxyHeader(bytes)
      assert.ok(typeof header === 'string' || header.size <= bytes.length)
    }),
  )
})
