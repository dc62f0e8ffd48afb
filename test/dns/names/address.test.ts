import assert from 'node:assert/strict'
import { isIPv4, isIPv6 } from 'node:net'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatHex } from '../../../src/dns/bytes/bytes.ts'
import {
  formatAddress,
  hasIPv6Form,
  IN_ADDR_ARPA,
  IP6_ARPA,
  parseAddress,
  parseIPv4,
  parseIPv6,
  reverseName,
} from '../../../src/dns/names/address.ts'
import { formatName, nameOf } from '../../../src/dns/names/name.ts'

describe('parseAddress', () => {
  const good: { text: string; wire: string }[] = [
    { text: '0.0.0.0', wire: '00000000' },
    { text: '192.0.2.1', wire: 'c0000201' },
    { text: '255.255.255.255', wire: 'ffffffff' },
    { text: '::', wire: '00000000000000000000000000000000' },
    { text: '::1', wire: '00000000000000000000000000000001' },
    { text: '1::', wire: '00010000000000000000000000000000' },
    { text: '2001:db8::1', wire: '20010db8000000000000000000000001' },
    { text: '2001:DB8::aBcD', wire: '20010db800000000000000000000abcd' },
    { text: '2001:0db8:0000:0000:0000:0000:0000:0001', wire: '20010db8000000000000000000000001' },
    { text: '1:2:3:4:5:6:7:8', wire: '00010002000300040005000600070008' },
    { text: '1:2:3:4:5:6:7::', wire: '00010002000300040005000600070000' },
    { text: '::2:3:4:5:6:7:8', wire: '00000002000300040005000600070008' },
    { text: '1::3:4:5:6:7:8', wire: '00010000000300040005000600070008' },
    { text: '::ffff:192.0.2.1', wire: '00000000000000000000ffffc0000201' },
    { text: '64:ff9b::192.0.2.33', wire: '0064ff9b0000000000000000c0000221' },
    { text: '::192.0.2.1', wire: '000000000000000000000000c0000201' },
    { text: '1:2:3:4:5:6:192.0.2.1', wire: '000100020003000400050006c0000201' },
    { text: '1:2:3:4:5::192.0.2.1', wire: '000100020003000400050000c0000201' },
  ]
  for (const { text, wire } of good) {
    test(`takes ${text}`, () => {
      const address = parseAddress(text)
      assert.equal(address && formatHex(address), wire)
    })
  }

  const bad: { name: string; text: string }[] = [
    { name: 'nothing', text: '' },
    { name: 'a blank before it', text: ' 192.0.2.1' },
    { name: 'a line feed after it', text: '192.0.2.1\n' },
    { name: 'three numbers', text: '192.0.2' },
    { name: 'five numbers', text: '192.0.2.1.5' },
    { name: 'a final dot', text: '192.0.2.1.' },
    { name: 'a number left out', text: '192..2.1' },
    { name: 'a number over 255', text: '192.0.2.256' },
    { name: 'a leading zero, which others take as octal', text: '192.0.2.01' },
    { name: 'two zeros', text: '00.0.2.1' },
    { name: 'hexadecimal numbers', text: '0x7f.0.0.1' },
    { name: 'a sign', text: '+1.0.2.1' },
    { name: 'an exponent', text: '1e1.0.2.1' },
    { name: 'digits of another script', text: '١٩٢.0.2.1' },
    { name: 'one number', text: '3221225985' },
    { name: 'a prefix length', text: '192.0.2.0/24' },
    { name: 'a hostname', text: 'localhost' },
    { name: 'one colon', text: ':' },
    { name: 'three colons', text: ':::' },
    { name: 'a leading colon', text: ':1:2:3:4:5:6:7' },
    { name: 'a final colon', text: '1:2:3:4:5:6:7:' },
    { name: 'seven groups', text: '1:2:3:4:5:6:7' },
    { name: 'nine groups', text: '1:2:3:4:5:6:7:8:9' },
    { name: ':: for no group', text: '1:2:3:4::5:6:7:8' },
    { name: ':: after eight groups', text: '1:2:3:4:5:6:7:8::' },
    { name: ':: twice', text: '1::2::3' },
    { name: 'five digits in a group', text: '2001:db8::00001' },
    { name: 'a digit beyond f', text: '2001:db8::g' },
    { name: 'a zone', text: 'fe80::1%eth0' },
    { name: 'brackets', text: '[::1]' },
    { name: 'IPv4 form in front', text: '192.0.2.1::' },
    { name: 'IPv4 form in the middle', text: '::192.0.2.1:1' },
    { name: 'IPv4 form after seven groups', text: '1:2:3:4:5:6:7:192.0.2.1' },
    { name: 'IPv4 form with a leading zero', text: '::192.0.2.01' },
    { name: 'IPv4 form of three numbers', text: '::192.0.2' },
  ]
  for (const { name, text } of bad) {
    test(`refuses ${name}`, () => {
      assert.equal(parseAddress(text), undefined)
    })
  }

  test('keeps the families apart', () => {
    assert.equal(parseIPv4('::1'), undefined)
    assert.equal(parseIPv6('192.0.2.1'), undefined)
    assert.equal(parseIPv6(''), undefined)
  })

  test('agrees with Node', () => {
    const part = fc.constantFrom('0', '1', '01', '9', '255', '256', 'a', 'ffff', '12345', '')
    const glue = fc.constantFrom('.', ':', '::')
    const text = fc
      .array(fc.tuple(part, glue), { minLength: 1, maxLength: 9 })
      .map((parts) => parts.flat().slice(0, -1).join(''))
    fc.assert(
      fc.property(fc.oneof(text, fc.ipV4(), fc.ipV6()), (candidate) => {
        assert.equal(parseIPv4(candidate) !== undefined, isIPv4(candidate), candidate)
        assert.equal(parseIPv6(candidate) !== undefined, isIPv6(candidate), candidate)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('formatAddress', () => {
  const cases: { name: string; from: string; to: string }[] = [
    { name: 'writes IPv4', from: '192.0.2.1', to: '192.0.2.1' },
    { name: 'leaves out leading zeros', from: '2001:0db8::0001', to: '2001:db8::1' },
    { name: 'writes small letters', from: '2001:DB8::ABCD', to: '2001:db8::abcd' },
    { name: 'writes ::ff00 as no mapped address', from: '::ff00:c000:201', to: '::ff00:c000:201' },
    { name: 'writes ::ff as no mapped address', from: '::ff:c000:201', to: '::ff:c000:201' },
    {
      name: 'writes no address with more in front as mapped',
      from: '100::ffff:c000:201',
      to: '100::ffff:c000:201',
    },
    { name: 'shortens all zeros', from: '0:0:0:0:0:0:0:0', to: '::' },
    { name: 'shortens zeros at the end', from: '2001:db8:0:0:0:0:0:0', to: '2001:db8::' },
    { name: 'does not shorten one group', from: '2001:db8::1:1:1:1:1', to: '2001:db8:0:1:1:1:1:1' },
    { name: 'shortens the longest run', from: '2001:0:0:1:0:0:0:1', to: '2001:0:0:1::1' },
    { name: 'shortens the first of two', from: '2001:db8:0:0:1:0:0:1', to: '2001:db8::1:0:0:1' },
    {
      name: 'writes a mapped address in both forms',
      from: '::ffff:c000:201',
      to: '::ffff:192.0.2.1',
    },
    {
      name: 'writes other prefixes without dots',
      from: '64:ff9b::192.0.2.1',
      to: '64:ff9b::c000:201',
    },
  ]
  for (const { name, from, to } of cases) {
    test(name, () => {
      const address = parseAddress(from)
      assert.equal(address && formatAddress(address), to)
    })
  }

  test('writes the format of URLs, and parseAddress parses it', () => {
    const group = fc.oneof(fc.constant(0), fc.nat(0xffff))
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const bytes = Uint8Array.from(groups.flatMap((value) => [value >> 8, value & 255]))
        const text = formatAddress(bytes)
        assert.deepEqual(parseAddress(text), bytes)
        if (!text.includes('.')) assert.equal(new URL(`http://[${text}]`).hostname, `[${text}]`)
      }),
    )
  })

  test('reads IPv4 back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 4, maxLength: 4 }), (bytes) => {
        assert.deepEqual(parseAddress(formatAddress(bytes)), bytes)
      }),
    )
  })

  for (const length of [0, 3, 5, 15, 17]) {
    test(`throws on ${length} bytes`, () => {
      assert.throws(() => formatAddress(new Uint8Array(length)), RangeError)
    })
  }
})

describe('reverseName', () => {
  const cases: { address: string; name: string }[] = [
    { address: '192.0.2.10', name: '10.2.0.192.in-addr.arpa.' },
    {
      address: '2001:db8::567:89ab',
      name: 'b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.',
    },
  ]
  for (const { address, name } of cases) {
    test(`names ${address} as the RFCs do`, () => {
      const bytes = parseAddress(address)
      assert.equal(bytes && formatName(reverseName(bytes)), name)
    })
  }

  test('is below the tree of its family', () => {
    assert.deepEqual(IN_ADDR_ARPA, nameOf('in-addr.arpa.'))
    assert.deepEqual(IP6_ARPA, nameOf('ip6.arpa.'))
  })
})

describe('hasIPv6Form', () => {
  for (const text of ['::1', '2001:db8::1', 'fe80::1%eth0', '::ffff:192.0.2.1']) {
    test(`returns true for ${text}`, () => {
      assert.equal(hasIPv6Form(text), true)
    })
  }
  for (const text of ['192.0.2.1', '', 'localhost:53']) {
    test(`returns false for "${text}"`, () => {
      assert.equal(hasIPv6Form(text), false)
    })
  }
})
