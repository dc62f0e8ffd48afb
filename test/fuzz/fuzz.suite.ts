/**
 * `npm run test:fuzz`: a million shards and as many manifests, each changed somewhere. Whatever
 * comes of it is refused by the error that says so, or opens and can be read from end to end. Then
 * ten thousand stores that misbehave under a gateway: of a cluster's names, of labels that views go
 * by, and of clusters that answer together. And 200,000 damaged packets through a UDP server, in
 * batches and one by one. `FUZZ_RUNS` and `FUZZ_SEED` in the environment change how many and which.
 * @module
 */
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { randomFrom } from '../../bench/cluster-objects.ts'
import { parseHex } from '../../src/dns/bytes/bytes.ts'
import { openMmsg } from '../../src/server/sockets/mmsg.ts'
import { SnapshotError } from '../../src/snapshot/format/layout.ts'
import {
  formatManifest,
  MANIFEST_VERSION,
  parseManifest,
} from '../../src/snapshot/format/manifest.ts'
import { openShard } from '../../src/snapshot/read/open-shard.ts'
import type { Shard } from '../../src/snapshot/read/shard.ts'
import { shardRecords } from '../../src/snapshot/read/shard-records.ts'
import { buildShards } from '../../src/snapshot/write/build-shards.ts'
import { describeUnless } from '../describe-unless.ts'
import { askFaultyClusters, askFaultyLabels, askFaultyStores } from '../gateway/faulty-stores.ts'
import { existingName, labels, ORIGIN, pointer, rrset } from '../snapshot/entries.ts'
import { lookUpEverything } from '../snapshot/look-ups.ts'
import { compareUdpWays } from './udp-ways.ts'

const RUNS = Number(process.env.FUZZ_RUNS ?? 1_000_000)
const STORES = Math.min(RUNS, 10_000)
const PACKETS = Math.min(RUNS, 200_000)
const SEED = Number(process.env.FUZZ_SEED ?? 1)
const mmsg = openMmsg()
/** Of shards that open, each so many is looked up in with every read watched, which takes long. */
const WATCHED_EVERY = 64

const SHARDS: readonly Uint8Array[] = [
  ...buildShards([
    existingName('svc'),
    rrset('web.shop.svc 5 IN A 192.0.2.1\nweb.shop.svc 5 IN A 192.0.2.2', 'shop'),
    rrset('web.shop.svc 5 IN AAAA 2001:db8::1', 'shop'),
    rrset('_http._tcp.web.shop.svc 5 IN SRV 0 50 80 web.shop.svc', 'shop'),
    rrset('out.shop.svc 5 IN CNAME www.example.org.', 'shop'),
    rrset('text.shop.svc 5 IN TXT "one" "two"', 'shop'),
    pointer([192, 0, 2, 1], 'web.shop.svc', { namespace: 'shop' }),
    pointer([0x20, 1, 0xd, 0xb8, ...Array<number>(11).fill(0), 1], 'web.shop.svc'),
  ]),
  ...buildShards([rrset('a 5 IN A 192.0.2.1')]),
]
const ASKED = {
  names: ['', 'svc', 'web.shop.svc', '_http._tcp.web.shop.svc', 'none.svc'].map(labels),
  addresses: [Uint8Array.of(192, 0, 2, 1), new Uint8Array(16).fill(255)],
}
const MANIFEST = formatManifest({
  version: MANIFEST_VERSION,
  cluster: 'shop',
  generation: 7,
  time: '2026-01-01T00:00:00.000Z',
  origins: ['cluster.local.'],
  ttlSeconds: 5,
  records: 9,
  sources: { services: '4711' },
  shards: [1, 2, 3, 4].map((bytes) => ({ sha256: '0123456789abcdef'.repeat(4), bytes })),
})
/** Numbers that mean something somewhere. */
const VALUES = [0, 1, 2, 3, 4, 12, 0x7f, 0x80, 0xff, 0xffff, 0x10000, 0x7fffffff, 0xffffffff]
const WORDS = ['0', '-1', '1e999', 'null', '[]', '{}', '"', '\\u0000', ',', '4294967296', '=']

type Random = () => number

describe(`${RUNS.toLocaleString('en-US')} of each, from seed ${SEED}`, () => {
  it('changed shards are refused, or read without a read out of bounds', async (t) => {
    const random = randomFrom(SEED)
    let opened = 0
    for (let run = 0; run < RUNS; run++) {
      const shard = attempt(() => openShard(mutatedShard(random)))
      if (shard === undefined) continue
      if (opened++ % WATCHED_EVERY === 0) lookUpEverything(shard, ASKED)
      else readAll(shard)
    }
    await t.annotate(`${opened} opened`)
    assert.ok(opened > RUNS / 100 && opened < RUNS, `${opened} opened`)
  })

  it('changed manifests are refused, or are manifests', () => {
    const random = randomFrom(SEED)
    let read = 0
    for (let run = 0; run < RUNS; run++) {
      const manifest = attempt(() => parseManifest(mutatedManifest(random)))
      if (manifest === undefined) continue
      read++
      for (const { sha256 } of manifest.shards) assert.equal(parseHex(sha256)?.length, 32)
      assert.ok(manifest.generation > 0 && !Number.isNaN(Date.parse(manifest.time)))
    }
    assert.ok(read > RUNS / 100 && read < RUNS, `${read} read`)
  })
})

/** What it gives, or `undefined` when it is refused as it should be. */
function attempt<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch (error) {
    if (error instanceof SnapshotError) return undefined
    throw error
  }
}

function readAll(shard: Shard): void {
  for (const { owner, rdata } of shardRecords(shard, ORIGIN)) {
    assert.ok(owner.length > 0 && rdata.length < 65_536)
  }
}

function pick<T>(items: readonly T[], random: Random): T {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new RangeError('Nothing to pick from')
  return item
}

function mutatedShard(random: Random): Uint8Array {
  const bytes = pick(SHARDS, random).slice()
  const view = new DataView(bytes.buffer)
  for (let left = 1 + Math.floor(random() ** 2 * 4); left > 0; left--) {
    const at = Math.floor(random() * bytes.length)
    const word = at & ~3
    switch (Math.floor(random() * 4)) {
      case 0:
        bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8))
        break
      case 1:
        view.setUint32(word, pick(VALUES, random), true)
        break
      case 2:
        view.setUint32(word, view.getUint32(word, true) + Math.floor(random() * 33) - 16, true)
        break
      default:
        view.setUint32(word, view.getUint32(Math.floor(random() * bytes.length) & ~3), true)
    }
  }
  return random() < 0.02 ? bytes.slice(0, Math.floor(random() * bytes.length)) : bytes
}

function mutatedManifest(random: Random): Uint8Array {
  const bytes = MANIFEST.slice()
  const at = Math.floor(random() * bytes.length)
  if (random() < 0.5) {
    bytes[at] = Math.floor(random() * 256)
    return bytes
  }
  const end = Math.min(bytes.length, at + Math.floor(random() * 8))
  const word = new TextEncoder().encode(pick(WORDS, random))
  return Uint8Array.from([...bytes.subarray(0, at), ...word, ...bytes.subarray(end)])
}

describeUnless(mmsg === undefined && 'no node:ffi or no recvmmsg', 'packets over UDP', () => {
  it('get the same responses in batches as one by one', async (t) => {
    assert.ok(mmsg)
    const { packets, responses, batched } = await compareUdpWays(mmsg, PACKETS, randomFrom(SEED))
    await t.annotate(`${packets} packets, ${batched} of them in batches, ${responses} responses`)
    assert.ok(batched > packets / 2 && responses > packets / 2)
  })
})

describe(`${STORES} stores that misbehave never make wrong`, () => {
  const seeds = Array.from({ length: STORES }, (_, i) => SEED + i)
  for (const [what, ask] of [
    ['an answer', askFaultyStores],
    ['what a token sees by labels', askFaultyLabels],
    ['what clusters have together', askFaultyClusters],
  ] as const) {
    it(what, async (t) => {
      const { newest, older, failures, hidden } = await ask(seeds)
      await t.annotate(`${newest} newest, ${older} older, ${failures} failures, ${hidden} hidden`)
      assert.ok(newest > 0 && older > 0)
    })
  }
})
