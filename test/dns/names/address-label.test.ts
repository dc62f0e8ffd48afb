import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatAddress, parseAddress, parseIPv4 } from '../../../src/dns/names/address.ts'
import { parseAddressLabel } from '../../../src/dns/names/address-label.ts'
import { nameOf } from '../../../src/dns/names/name.ts'

/** The address that the first label of a name below `cluster.local` spells. */
function addressOf(label: string): Uint8Array | undefined {
  const into = new Uint8Array(16).fill(0xee)
  const size = parseAddressLabel(nameOf(`${label}.ns.pod.cluster.local`), 0, into)
  assert.ok([0, 4, 16].includes(size), `${size} bytes`)
  return size === 0 ? undefined : into.slice(0, size)
}

describe('parseAddressLabel', () => {
  const cases: { label: string; address: string | undefined }[] = [
    { label: '10-244-1-5', address: '10.244.1.5' },
    { label: '0-0-0-0', address: '0.0.0.0' },
    { label: '255-255-255-255', address: '255.255.255.255' },
    { label: '256-0-0-1', address: undefined },
    { label: '1000-0-0-1', address: undefined },
    { label: '01-2-3-4', address: undefined },
    { label: '00-2-3-4', address: undefined },
    { label: '1-2-3', address: undefined },
    { label: '1-2-3-4-5', address: undefined },
    { label: '-1-2-3', address: undefined },
    { label: '1-2-3-', address: undefined },
    { label: '1-2-3-x', address: undefined },
    { label: '1-2-3-4\\.5', address: undefined },
    { label: '--', address: '::' },
    { label: '--1', address: '::1' },
    { label: 'fd00--', address: 'fd00::' },
    { label: '2001-db8--1', address: '2001:db8::1' },
    { label: '2001-db8---1', address: undefined },
    { label: '2001-db8-0-0-0-0-0-1', address: '2001:db8::1' },
    { label: '1-2-3-4-5-6-7--', address: '1:2:3:4:5:6:7:0' },
    { label: '--2-3-4-5-6-7-8', address: '0:2:3:4:5:6:7:8' },
    { label: '1-2-3-4-5-6-7-8--', address: undefined },
    { label: '1-2-3-4--5-6-7-8', address: undefined },
    { label: '1-2-3-4-5-6-7-8-9', address: undefined },
    { label: '1-2-3-4-5-6-7', address: undefined },
    { label: '1-2-3-4-5-6-7-', address: undefined },
    { label: '-1-2-3-4-5-6-7', address: undefined },
    { label: '1--2--3', address: undefined },
    { label: '2001-db8--00001', address: undefined },
    { label: '2001-db8--g', address: undefined },
    // Three dashes make it IPv4, whatever else it might be.
    { label: 'fd00-1-2-3', address: undefined },
    { label: '--ffff-c000-201', address: '192.0.2.1' },
    { label: '0-0-0-0-0-ffff-c000-201', address: '192.0.2.1' },
    { label: '--fffe-c000-201', address: '::fffe:c000:201' },
    { label: '--ff00-c000-201', address: '::ff00:c000:201' },
    { label: '--ff-c000-201', address: '::ff:c000:201' },
    { label: '100--ffff-c000-201', address: '100::ffff:c000:201' },
    { label: '--9', address: '::9' },
    { label: '--\\058', address: undefined },
    { label: '--\\047', address: undefined },
    { label: '-', address: undefined },
    { label: '---', address: undefined },
    { label: '----', address: undefined },
    { label: 'web', address: undefined },
    { label: 'abcd', address: undefined },
  ]
  for (const { label, address } of cases) {
    test(address === undefined ? `finds no address in ${label}` : `finds ${label}`, () => {
      const found = addressOf(label)
      assert.deepEqual(found, address === undefined ? undefined : parseAddress(address))
    })
  }

  test('finds none in the root', () => {
    assert.equal(parseAddressLabel(Uint8Array.of(0), 0, new Uint8Array(16)), 0)
  })

  test('reads the label it is pointed to, and no further', () => {
    const into = new Uint8Array(16)
    const name = nameOf('x.192-0-2-1.5.org')
    assert.equal(parseAddressLabel(name, 2, into), 4)
    assert.equal(formatAddress(into.subarray(0, 4)), '192.0.2.1')
  })

  test('agrees with CoreDNS: three separate dashes are dots, others are colons', () => {
    const piece = fc.constantFrom('0', '1', '12', '255', '300', 'a', 'ffff', '12345', '', 'g')
    const label = fc
      .array(piece, { minLength: 1, maxLength: 10 })
      .map((pieces) => pieces.join('-'))
      .filter((text) => text !== '' && text.length <= 63)
    fc.assert(
      fc.property(label, (text) => {
        const isIPv4 = text.split('-').length === 4 && !text.includes('--')
        const plain = text.replaceAll('-', isIPv4 ? '.' : ':')
        const mapped = parseAddress(plain)
        const short = mapped && /^::ffff:(.*\..*)$/.exec(formatAddress(mapped))?.[1]
        assert.deepEqual(addressOf(text), short === undefined ? mapped : parseIPv4(short), text)
      }),
      { numRuns: 3000 },
    )
  })
})
