import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { concatBytes } from '../../../src/dns/bytes/bytes.ts'
import { formatAddress, parseAddress, reverseName } from '../../../src/dns/names/address.ts'
import { nameOf } from '../../../src/dns/names/name.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import type { Query } from '../../../src/dns/wire/query.ts'
import { ReverseAddress, readReverseName } from '../../../src/dns/wire/reverse-name.ts'
import { writeQuery } from '../../../src/dns/wire/write-query.ts'
import { wireName } from '../../generators.ts'
import { accepted } from './messages.ts'

function queryName(name: Uint8Array): Query {
  return accepted(writeQuery({ name, type: TYPE.PTR }))
}

/** What a name stands for, as `address/bits`. The buffer has been used before. */
function read(name: string, surplusMax = 0): string | undefined {
  const into = new ReverseAddress()
  into.bytes.fill(0xee)
  if (!readReverseName(queryName(nameOf(name)), into, surplusMax)) return undefined
  return `${formatAddress(into.bytes.slice(0, into.addressBytes))}/${into.bitCount}`
}

const nibbles = '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2'

describe('readReverseName', () => {
  const cases: { name: string; is: string | undefined; surplus?: number }[] = [
    { name: '1.2.0.192.in-addr.arpa', is: '192.0.2.1/32' },
    { name: '2.0.192.in-addr.arpa', is: '192.0.2.0/24' },
    { name: '192.in-addr.arpa', is: '192.0.0.0/8' },
    { name: 'in-addr.arpa', is: '0.0.0.0/0' },
    { name: '255.255.255.255.in-addr.arpa', is: '255.255.255.255/32' },
    { name: '9.1.2.0.192.in-addr.arpa', is: undefined },
    { name: '256.0.0.10.in-addr.arpa', is: undefined },
    { name: '01.0.0.10.in-addr.arpa', is: undefined },
    { name: '00.0.0.10.in-addr.arpa', is: undefined },
    { name: '0001.0.0.10.in-addr.arpa', is: undefined },
    { name: 'a.0.0.10.in-addr.arpa', is: undefined },
    { name: '\\058.0.0.10.in-addr.arpa', is: undefined },
    { name: '\\047.0.0.10.in-addr.arpa', is: undefined },
    { name: '-1.0.0.10.in-addr.arpa', is: undefined },
    { name: '0/25.2.0.192.in-addr.arpa', is: undefined },
    { name: `${nibbles}.ip6.arpa`, is: '2001:db8::1/128' },
    { name: '8.b.d.0.1.0.0.2.ip6.arpa', is: '2001:db8::/32' },
    { name: '5.8.b.d.0.1.0.0.2.ip6.arpa', is: '2001:db8:5000::/36' },
    { name: 'ip6.arpa', is: '::/0' },
    { name: 'g.ip6.arpa', is: undefined },
    { name: '\\058.ip6.arpa', is: undefined },
    { name: '1.ip7.arpa', is: undefined },
    { name: '1.in-addr.arpb', is: undefined },
    { name: '10.ip6.arpa', is: undefined },
    { name: `x.${nibbles}.ip6.arpa`, is: undefined },
    { name: `x.${nibbles}.ip6.arpa`, is: '2001:db8::1/128', surplus: 1 },
    { name: `x.y.${nibbles}.ip6.arpa`, is: undefined, surplus: 1 },
    { name: `x.y.z.${nibbles}.ip6.arpa`, is: '2001:db8::1/128', surplus: 3 },
    { name: '9.1.2.0.192.in-addr.arpa', is: undefined, surplus: 3 },
    { name: 'arpa', is: undefined },
    { name: '.', is: undefined },
    { name: '1.2.0.192.in-addr.arpa.example.org', is: undefined },
    { name: '1.2.0.192.xin-addr.arpa', is: undefined },
    // The tree's bytes stand at the end of these, but within a label.
    { name: '1.2.0.192.x\\007in-addr.arpa', is: undefined },
    { name: 'x\\003ip6.arpa', is: undefined },
  ]
  for (const { name, is, surplus = 0 } of cases) {
    test(`${name}, ${surplus} labels to pass over: ${is ?? 'no address'}`, () => {
      assert.equal(read(name, surplus), is)
    })
  }

  test('parses what reverseName writes, also after other labels', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const address = parseAddress(text)
        assert.ok(address)
        const into = new ReverseAddress()
        assert.ok(readReverseName(queryName(reverseName(address)), into, 0))
        assert.deepEqual(into.bytes.slice(0, into.addressBytes), address)
        assert.deepEqual([into.addressBytes, into.bitCount], [address.length, 8 * address.length])
      }),
    )
  })

  test('never throws, and returns at most the bits of an address', () => {
    const tree = fc.constantFrom(nameOf('in-addr.arpa'), nameOf('ip6.arpa'))
    fc.assert(
      fc.property(wireName({ bytesMax: 230 }), tree, (head, tail) => {
        const into = new ReverseAddress()
        readReverseName(queryName(concatBytes(head.subarray(0, -1), tail)), into, 3)
        assert.ok(into.bitCount <= 8 * into.addressBytes)
      }),
    )
  })
})
