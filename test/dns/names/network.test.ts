import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { byteAt, EMPTY } from '../../../src/dns/bytes/bytes.ts'
import { formatAddress, parseAddress } from '../../../src/dns/names/address.ts'
import {
  clientNetwork,
  isInNetwork,
  isSameAddress,
  NetworkIndex,
  parseClientAddress,
  parseNetwork,
} from '../../../src/dns/names/network.ts'

const addresses = fc.oneof(
  fc.uint8Array({ minLength: 4, maxLength: 4 }),
  fc.uint8Array({ minLength: 16, maxLength: 16 }),
)

function isIn(address: string, network: string): boolean {
  const parsed = parseNetwork(network)
  assert.ok(parsed !== undefined, network)
  return isInNetwork(parseAddress(address) ?? EMPTY, parsed)
}

describe('parseNetwork', () => {
  for (const text of ['192.0.2.0/24', '192.0.2.1/32', '0.0.0.0/0', '::/0', '2001:db8::/32']) {
    test(`reads ${text}`, () => {
      const { address = EMPTY, prefixBits } = parseNetwork(text) ?? {}
      assert.equal(`${formatAddress(address)}/${prefixBits}`, text)
    })
  }
  const refused =
    '192.0.2.1 192.0.2.0/33 192.0.2.0/ 192.0.2.0/-1 192.0.2.0/8/8 ::/129 /8 a/8 192.0.2/24 ' +
    'fe80::1%eth0/64 192.0.2.0/x'
  for (const text of refused.split(' ')) {
    test(`refuses ${text}`, () => {
      assert.equal(parseNetwork(text), undefined)
    })
  }

  test('takes a block of IPv4 addresses written as IPv6 for one of IPv4', () => {
    const expected = { address: Uint8Array.of(192, 0, 2, 0), prefixBits: 24 }
    assert.deepEqual(parseNetwork('::ffff:192.0.2.0/120'), expected)
  })
})

describe('isInNetwork', () => {
  const cases: readonly [address: string, network: string, expected: boolean][] = [
    ['192.0.2.1', '192.0.2.0/24', true],
    ['192.0.3.1', '192.0.2.0/24', false],
    ['192.0.3.1', '192.0.2.0/23', true],
    ['192.0.2.1', '192.0.2.77/24', true],
    ['198.51.100.7', '0.0.0.0/0', true],
    ['198.51.100.7', '::/0', false],
    ['2001:db8::1', '0.0.0.0/0', false],
    ['2001:db8::1', '2001:db8::/127', true],
    ['2001:db8::2', '2001:db8::/127', false],
    ['2001:db8::2', '2001:db8::2/128', true],
  ]
  for (const [address, network, expected] of cases) {
    test(`${address} is ${expected ? '' : 'not '}in ${network}`, () => {
      assert.equal(isIn(address, network), expected)
    })
  }

  test('compares only the bits of the prefix', () => {
    fc.assert(
      fc.property(addresses, fc.nat(127), fc.nat(127), (address, prefix, flipped) => {
        const bits = 8 * address.length
        const network = { address, prefixBits: prefix % (bits + 1) }
        const at = flipped % bits
        const other = address.slice()
        other[at >>> 3] = byteAt(other, at >>> 3) ^ (0x80 >>> (at & 7))
        assert.equal(isInNetwork(other, network), at >= network.prefixBits)
      }),
    )
  })
})

describe('parseClientAddress', () => {
  const cases: readonly [text: string, expected: string][] = [
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8::1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
  ]
  for (const [text, expected] of cases) {
    test(`reads ${text}`, () => {
      assert.equal(formatAddress(parseClientAddress(text) ?? EMPTY), expected)
    })
  }

  test('rejects other text', () => {
    assert.equal(parseClientAddress(''), undefined)
    assert.equal(parseClientAddress('localhost'), undefined)
  })
})

describe('NetworkIndex', () => {
  test('finds the networks that contain an address, of both families', () => {
    const network = addresses.chain((address) =>
      fc.nat({ max: 8 * address.length }).map((prefixBits) => ({ address, prefixBits })),
    )
    const near = (address: Uint8Array): fc.Arbitrary<Uint8Array> =>
      fc.nat({ max: 8 * address.length - 1 }).map((bit) => {
        const changed = address.slice()
        changed[bit >>> 3] = (changed[bit >>> 3] ?? 0) ^ (0x80 >>> (bit & 7))
        return changed
      })
    const place = fc.array(network, { minLength: 1, maxLength: 20 }).chain((networks) =>
      fc.tuple(
        fc.constant(networks),
        fc.oneof(
          addresses,
          fc.constantFrom(...networks).chain(({ address }) => near(address)),
        ),
      ),
    )
    fc.assert(
      fc.property(place, ([networks, address]) => {
        const index = new NetworkIndex()
        for (const [number, one] of networks.entries()) index.add(one, number)
        const expected = networks.flatMap((one, i) => (isInNetwork(address, one) ? [i] : []))
        assert.deepEqual(
          index.find(address).sort((a, b) => a - b),
          expected,
        )
      }),
      { numRuns: 1000 },
    )
  })
})

describe('isSameAddress', () => {
  const cases: { a: string; b: string; is: boolean }[] = [
    { a: '192.0.2.1', b: '192.0.2.1', is: true },
    { a: '192.0.2.1', b: '192.0.2.2', is: false },
    { a: '2001:db8:0::1', b: '2001:DB8::1', is: true },
    { a: 'fe80::1%eth0', b: 'fe80::1', is: true },
    { a: '::ffff:192.0.2.1', b: '192.0.2.1', is: true },
    { a: '192.0.2.1', b: '2001:db8::1', is: false },
    { a: 'x', b: 'x', is: false },
  ]
  for (const { a, b, is } of cases) {
    test(`${a} is ${is ? '' : 'not '}${b}`, () => {
      assert.equal(isSameAddress(a, b), is)
    })
  }
})

describe('clientNetwork', () => {
  const cases: readonly [address: string, network: string][] = [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8::1', '20010db800000000/64'],
    ['2001:db8:0:0:1:2:3:4', '20010db800000000/64'],
    ['2001:DB8::1:2:3:4', '20010db800000000/64'],
    ['2001:db8:0:1::1', '20010db800000001/64'],
    ['2001:db8:1::', '20010db800010000/64'],
    ['::1', '0000000000000000/64'],
    ['fe80::1%eth0', 'fe80000000000000/64'],
    ['nothing', 'nothing'],
    ['not:an:address', 'not:an:address'],
  ]
  for (const [address, network] of cases) {
    test(`of ${address} is ${network}`, () => {
      assert.equal(clientNetwork(address), network)
    })
  }
})
