import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { ROOT } from '../../../../src/dns/names/name.ts'
import type { Network } from '../../../../src/dns/names/network.ts'
import { parseNetwork } from '../../../../src/dns/names/network.ts'
import type { ResourceRecord } from '../../../../src/dns/wire/message.ts'
import {
  preferred,
  rotated,
  shuffled,
  weighted,
} from '../../../../src/resolver/plugins/loadbalance/order.ts'
import { formatRecord } from '../../../../src/snapshot/records/zone-text.ts'
import { parseRecord } from '../../../parse-record.ts'

const LINES = [
  'www.example.org. 60 IN CNAME b.example.org.',
  'b.example.org. 60 IN TXT "one"',
  'b.example.org. 60 IN TXT "two"',
  'b.example.org. 60 IN MX 10 mx.example.org.',
  'b.example.org. 60 IN A 192.0.2.1',
  'b.example.org. 60 IN A 192.0.2.2',
  'b.example.org. 60 IN A 192.0.2.3',
  'b.example.org. 60 IN AAAA 2001:db8::1',
]

function records(lines: readonly string[]): ResourceRecord[] {
  return lines.flatMap((line) => parseRecord(line, ROOT) ?? [])
}

function networks(...texts: readonly string[]): Network[] {
  return texts.flatMap((text) => parseNetwork(text) ?? [])
}

const orders: readonly [name: string, order: typeof shuffled][] = [
  ['shuffled', shuffled],
  ['rotated', (given, random16) => rotated(given, random16())],
  ['weighted', (given, random16) => weighted(given, new Map(), random16)],
  ['preferred', (given) => preferred(given, networks('192.0.2.2/31'))],
]
for (const [name, order] of orders) {
  describe(name, () => {
    test('keeps each record once', () => {
      fc.assert(
        fc.property(fc.shuffledSubarray(LINES), fc.nat(0xffff), (lines, chance) => {
          const ordered = order(records(lines), () => chance).map(formatRecord)
          assert.deepEqual(ordered.toSorted(), lines.toSorted())
        }),
      )
    })

    test('puts CNAMEs first', () => {
      const ordered = order(records(LINES.toReversed()), () => 1).map(formatRecord)
      if (name !== 'rotated') assert.equal(ordered[0], LINES[0])
    })
  })
}

describe('weighted', () => {
  test('exchanges the first address and the chosen one', () => {
    const ordered = weighted(records(LINES.slice(4, 7)), new Map(), () => 2).map(formatRecord)
    const chosen = (0x20000 + 2) % 3
    assert.equal(ordered[0], LINES[4 + chosen])
    assert.equal(ordered[chosen], LINES[4])
  })

  test('leaves what has no address as it came', () => {
    const lines = LINES.slice(0, 4).toReversed()
    assert.deepEqual(weighted(records(lines), new Map(), () => 2).map(formatRecord), lines)
  })
})

describe('preferred', () => {
  test('goes by the order of networks, then by that in which addresses came', () => {
    const wanted = networks('2001:db8::/32', '192.0.2.3/32')
    assert.deepEqual(preferred(records(LINES), wanted).map(formatRecord), [
      LINES[0],
      LINES[7],
      LINES[6],
      LINES[4],
      LINES[5],
      LINES[3],
      LINES[1],
      LINES[2],
    ])
  })
})
