import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { byteAt, readUint16, readUint32 } from '../../../../src/dns/bytes/bytes.ts'
import { formatName, nameOf, ROOT } from '../../../../src/dns/names/name.ts'
import { Metrics } from '../../../../src/dns/telemetry/metrics.ts'
import type { ResourceRecord } from '../../../../src/dns/wire/message.ts'
import { type DnssecKey, readKey } from '../../../../src/resolver/plugins/dnssec/key-file.ts'
import {
  dnssecMetrics,
  type SignedRRset,
  Signer,
} from '../../../../src/resolver/plugins/dnssec/signer.ts'
import { openSigner } from '../../../../src/server/keys/open-signer.ts'
import { parseRecord } from '../../../parse-record.ts'
import { isSigned, newKeyFiles } from '../../../zone-keys.ts'

const ZONE = nameOf('Example.org')
const DAY_MS = 86_400_000

function key(flags: number): DnssecKey {
  const files = newKeyFiles('K', 'example.org.', { flags })
  return readKey('K', { readText: (path) => files[path], openSigner })
}

function record(text: string): ResourceRecord {
  const parsed = parseRecord(text, ROOT)
  assert.ok(parsed, text)
  return parsed
}

const A: SignedRRset = [
  record('Www.example.org. 60 A 192.0.2.1'),
  record('Www.example.org. 60 A 192.0.2.2'),
]
const KEYS: SignedRRset = [key(257).record]

function signerOf(...keys: DnssecKey[]): {
  signer: Signer
  clock: { ms: number }
  counts: () => number[]
} {
  const clock = { ms: 1_000_000_000_500 }
  const metrics = dnssecMetrics(new Metrics(), 'dns://:53')
  const signer = new Signer({ keys, capacity: 1, now: () => clock.ms, metrics })
  const { hits, misses, entries } = metrics
  return { signer, clock, counts: () => [hits.value, misses.value, entries.value] }
}

describe('Signer', () => {
  const [ksk, zsk, csk] = [key(257), key(256), key(257)]

  test('signs a set with every key', () => {
    const { signer } = signerOf(ksk, csk)
    const made = signer.sign(A, ZONE)
    assert.deepEqual(
      made.map(({ rdata }) => readUint16(rdata, 16)),
      [ksk.tag, csk.tag],
    )
    for (const one of made) assert.ok(isSigned(one, A, [ksk.record, csk.record]))
  })

  test('has the owner, class and TTL of the set, three hours before and eight days after', () => {
    const [made] = signerOf(csk).signer.sign(A, ZONE)
    assert.ok(made)
    const { owner, ttlSeconds, rdata } = made
    assert.deepEqual([formatName(owner), ttlSeconds, made.class], ['Www.example.org.', 60, 1])
    assert.deepEqual([readUint16(rdata, 0), byteAt(rdata, 2), byteAt(rdata, 3)], [1, 13, 3])
    assert.deepEqual(
      [4, 8, 12].map((at) => readUint32(rdata, at)),
      [3600, 1_000_000_000 + 8 * 86_400, 1_000_000_000 - 3 * 3600],
    )
    assert.equal(formatName(rdata, 18), 'example.org.')
  })

  const splits: { name: string; keys: DnssecKey[]; ofKeys: DnssecKey[]; ofOthers: DnssecKey[] }[] =
    [
      { name: 'no key', keys: [], ofKeys: [], ofOthers: [] },
      { name: 'one key signs all', keys: [csk], ofKeys: [csk], ofOthers: [csk] },
      { name: 'keys of zones alone sign all', keys: [zsk], ofKeys: [zsk], ofOthers: [zsk] },
      {
        name: 'keys of keys alone sign all',
        keys: [ksk, csk],
        ofKeys: [ksk, csk],
        ofOthers: [ksk, csk],
      },
      {
        name: 'both kinds split the work',
        keys: [zsk, ksk, csk],
        ofKeys: [ksk, csk],
        ofOthers: [zsk],
      },
      {
        name: 'what is no key of a zone does not take part in that',
        keys: [zsk, ksk, key(0)],
        ofKeys: [ksk],
        ofOthers: [zsk],
      },
    ]
  for (const { name, keys, ofKeys, ofOthers } of splits) {
    test(name, () => {
      const { signer } = signerOf(...keys)
      const tags = (set: SignedRRset): number[] =>
        signer.sign(set, ZONE).map(({ rdata }) => readUint16(rdata, 16))
      assert.deepEqual(
        tags(KEYS),
        ofKeys.map(({ tag }) => tag),
      )
      assert.deepEqual(
        tags(A),
        ofOthers.map(({ tag }) => tag),
      )
    })
  }

  test('keeps signatures, in whatever order and letter case and with whatever TTL a set comes', () => {
    const { signer, counts } = signerOf(csk)
    const [first] = signer.sign(A, ZONE)
    const [second] = signer.sign(
      [record('www.EXAMPLE.org. 9 A 192.0.2.2'), record('www.example.org. 9 A 192.0.2.1')],
      nameOf('example.org'),
    )
    assert.deepEqual(second?.rdata, first?.rdata)
    assert.deepEqual(
      [second && formatName(second.owner), second?.ttlSeconds],
      ['www.EXAMPLE.org.', 9],
    )
    assert.deepEqual(counts(), [1, 1, 1])
  })

  test('signs again what another zone signed, or has other records', () => {
    const { signer, counts } = signerOf(csk)
    signer.sign(A, ZONE)
    const [other] = signer.sign(A, nameOf('org'))
    assert.equal(other && formatName(other.rdata, 18), 'org.')
    signer.sign([A[0]], ZONE)
    assert.deepEqual(counts(), [0, 3, 3])
  })

  test('signs again when less than two days are left', () => {
    const { signer, clock, counts } = signerOf(csk)
    signer.sign(A, ZONE)
    clock.ms += 6 * DAY_MS - 1000
    signer.sign(A, ZONE)
    assert.deepEqual(counts(), [1, 1, 1])
    clock.ms += 1000
    const [made] = signer.sign(A, ZONE)
    assert.deepEqual(counts(), [1, 2, 1])
    assert.equal(made && readUint32(made.rdata, 8), Math.floor(clock.ms / 1000) + 8 * 86_400)
  })

  test('makes signatures again that a clock which was ahead made', () => {
    const { signer, clock } = signerOf(csk)
    clock.ms += 25 * 3_600_000
    signer.sign(A, ZONE)
    clock.ms -= 25 * 3_600_000
    const [made] = signer.sign(A, ZONE)
    assert.equal(made && readUint32(made.rdata, 12), Math.floor(clock.ms / 1000) - 3 * 3600)
  })
})
