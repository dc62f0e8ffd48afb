import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { EMPTY } from '../../../../src/dns/bytes/bytes.ts'
import { parseAddress } from '../../../../src/dns/names/address.ts'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { parseWeights, weightOf } from '../../../../src/resolver/plugins/loadbalance/order.ts'

const FILE = `
# the two of us
www.example.org
  192.0.2.1   3
  2001:DB8::1 255

API.example.org.
192.0.2.1 7
192.0.2.1 8
www.example.org.
192.0.2.2 4
`

describe('parseWeights', () => {
  const cases: readonly [name: string, address: string, weight: number][] = [
    ['www.example.org', '192.0.2.1', 3],
    ['WWW.example.org', '2001:db8::1', 255],
    ['www.example.org', '192.0.2.2', 4],
    ['www.example.org', '192.0.2.3', 1],
    ['api.example.org', '192.0.2.1', 7],
    ['nosuch.example.org', '192.0.2.1', 1],
  ]
  for (const [name, address, weight] of cases) {
    test(`${address} of ${name} has ${weight}`, () => {
      const weights = parseWeights(FILE)
      assert.ok(!('line' in weights))
      assert.equal(weightOf(weights, nameOf(name), parseAddress(address) ?? EMPTY), weight)
    })
  }

  const problems: readonly [text: string, line: number, message: string][] = [
    ['\n192.0.2.1', 2, '"192.0.2.1" is not a name; if it is an address, add a weight'],
    ['a..b', 1, '"a..b" is not a name; if it is an address, add a weight'],
    ['a\nb 1', 2, '"b" is not an address'],
    ['a\n192.0.2.1 0', 2, '"0" is not a weight from 1 to 255'],
    ['a\n192.0.2.1 256', 2, '"256" is not a weight from 1 to 255'],
    ['a\n192.0.2.1 +1', 2, '"+1" is not a weight from 1 to 255'],
    ['192.0.2.1 1', 1, 'an address precedes the first name'],
    ['a\n192.0.2.1 1 #', 2, '"192.0.2.1 1 #" is neither a name nor an address with a weight'],
    ['a\n'.repeat(100_001), 100_001, 'over 100000 lines'],
  ]
  for (const [text, line, message] of problems) {
    test(`refuses line ${line} of ${JSON.stringify(text.slice(0, 20))}`, () => {
      assert.deepEqual(parseWeights(text), { line, message })
    })
  }

  test('reads or refuses any text', () => {
    const words = fc.constantFrom('a.test', '192.0.2.1', '::1', '7', '300', '#', '\n', ' ', '..')
    fc.assert(
      fc.property(fc.array(words), (parts) => {
        const read = parseWeights(parts.join(' '))
        assert.ok('line' in read ? read.line > 0 : read instanceof Map)
      }),
    )
  })
})
