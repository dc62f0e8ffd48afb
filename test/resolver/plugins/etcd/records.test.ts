import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatName, nameOf } from '../../../../src/dns/names/name.ts'
import {
  addressRecord,
  mxRecord,
  srvRecord,
  stripLabels,
  txtRecord,
} from '../../../../src/resolver/plugins/etcd/records.ts'
import { formatRecord } from '../../../../src/snapshot/records/zone-text.ts'
import { serviceOf } from './service-of.ts'

const NAME = nameOf('www.example.org')

describe('records of a service', () => {
  test('have its TTL and its numbers, within 16 bits', () => {
    const service = serviceOf({ ttl: 7, port: 65_537, priority: 65_538 })
    const target = nameOf('a.example.net')
    assert.deepEqual(
      [
        srvRecord(NAME, { service, target, weight: 3 }),
        mxRecord(NAME, target, service),
        addressRecord(NAME, Uint8Array.of(192, 0, 2, 1), service),
        addressRecord(NAME, new Uint8Array(16), service),
      ].map(formatRecord),
      [
        'www.example.org. 7 IN SRV 2 3 1 a.example.net.',
        'www.example.org. 7 IN MX 2 a.example.net.',
        'www.example.org. 7 IN A 192.0.2.1',
        'www.example.org. 7 IN AAAA ::',
      ],
    )
  })
})

describe('txtRecord', () => {
  const cases: { name: string; text: string; strings: string }[] = [
    { name: 'is one string', text: 'a b', strings: '"a b"' },
    {
      name: 'cuts at 255 bytes',
      text: 'x'.repeat(300),
      strings: `"${'x'.repeat(255)}" "${'x'.repeat(45)}"`,
    },
    {
      name: 'ends in an empty string after 255',
      text: 'x'.repeat(255),
      strings: `"${'x'.repeat(255)}" ""`,
    },
    { name: 'takes escapes', text: 'a\\"b\\\\c\\065\\', strings: '"a\\"b\\\\cA"' },
    { name: 'is in UTF-8', text: 'ü', strings: '"\\195\\188"' },
  ]
  for (const { name, text, strings } of cases) {
    test(name, () => {
      const line = formatRecord(txtRecord(NAME, serviceOf({ text })))
      assert.equal(line, `www.example.org. 0 IN TXT ${strings}`)
    })
  }
})

test('stripLabels leaves a name whole that would lose all', () => {
  const stripped = [-1, 0, 1, 2, 3, 9].map((count) => formatName(stripLabels(NAME, count)))
  const whole = 'www.example.org.'
  assert.deepEqual(stripped, [whole, whole, 'example.org.', 'org.', whole, whole])
})
