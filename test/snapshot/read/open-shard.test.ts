import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { SnapshotError } from '../../../src/snapshot/format/layout.ts'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import type { Shard } from '../../../src/snapshot/read/shard.ts'
import { buildShards } from '../../../src/snapshot/write/build-shards.ts'
import {
  addressNames,
  existingName,
  labels,
  podAddress,
  pointer,
  relativeName,
  rrset,
  zoneEntry,
} from '../entries.ts'
import { lookUpEverything } from '../look-ups.ts'
import { EXAMPLE, PATCHES, type Patch, patchedShard } from '../shard-patches.ts'

/** One of everything. */
const ENTRIES = [
  existingName('svc'),
  addressNames('shop.pod', 'shop'),
  rrset('web.shop.svc 5 IN A 192.0.2.1\nweb.shop.svc 5 IN A 192.0.2.2', 'shop'),
  rrset('web.shop.svc 5 IN AAAA 2001:db8::1', 'shop'),
  rrset(
    `_http._tcp.web.shop.svc 5 IN SRV 0 50 80 web.shop.svc
     _http._tcp.web.shop.svc 5 IN SRV 0 50 81 svc`,
    'shop',
  ),
  rrset('far.shop.svc 5 IN SRV 0 50 80 www.example.org.', 'shop'),
  rrset('out.shop.svc 5 IN CNAME www.example.org.', 'shop'),
  rrset('mail.shop.svc 5 IN MX 10 web.shop.svc', 'shop'),
  rrset('text.shop.svc 5 IN TXT "one" "two"', 'shop'),
  rrset('new.shop.svc 5 IN TYPE65280 \\# 3 010203', 'shop'),
  pointer([192, 0, 2, 1], 'web.shop.svc', { namespace: 'shop' }),
  pointer([192, 0, 2, 1], 'web.blog.svc', { namespace: 'blog' }),
  pointer([192, 0, 2, 9], 'web.shop.svc', { namespace: 'shop' }),
  podAddress([192, 0, 2, 9], 'shop'),
  podAddress([192, 0, 2, 10], 'shop'),
  pointer([0x20, 1, 0xd, 0xb8, ...Array<number>(11).fill(0), 1], 'web.shop.svc'),
]
const ASKED = {
  names: ['', 'svc', 'web.shop.svc', '_http._tcp.web.shop.svc', 'none.svc'].map(labels),
  addresses: [Uint8Array.of(192, 0, 2, 1), Uint8Array.of(0, 0, 0, 0), new Uint8Array(16).fill(255)],
}

function wholeShard(): Uint8Array {
  return buildShards(ENTRIES)[0] ?? new Uint8Array(0)
}

/** Opens bytes that may be anything; `undefined` when they are refused as they should be. */
function tryOpen(bytes: Uint8Array): Shard | undefined {
  try {
    return openShard(bytes)
  } catch (error) {
    assert.ok(error instanceof SnapshotError, String(error))
    return undefined
  }
}

function openAndLookUp(bytes: Uint8Array): boolean {
  const shard = tryOpen(bytes)
  if (shard !== undefined) lookUpEverything(shard, ASKED)
  return shard !== undefined
}

const SILENT: Patch = {
  name: 'an address without names, of no Pod',
  base: EXAMPLE,
  change: (view) => view.setBigUint64(0x78, 0x1_0000_0000n, true),
  message: 'an address has neither names nor a Pod',
}

/** Its reference is at 0x54: types without a form of their own could be taken for a node's mark. */
const NODE_AS_SET: readonly Patch[] = [0, 1].map((type) => ({
  name: `a node as a set of type ${type}`,
  base: EXAMPLE,
  change: (view) => {
    view.setUint32(0x54, 0x10000 | type, true)
    view.setUint32(0x58, 0x50, true)
  },
  message: 'the set at 80 is used in two ways',
}))

describe('openShard refuses', () => {
  for (const patch of [...PATCHES, SILENT, ...NODE_AS_SET]) {
    test(patch.name, () => {
      assert.throws(
        () => openShard(patchedShard(patch)),
        (error) => {
          assert.ok(error instanceof SnapshotError)
          assert.match(error.message, /^Cannot open shard: /)
          assert.ok(error.message.includes(patch.message), error.message)
          return true
        },
      )
    })
  }

  const sizes: { name: string; bytes: Uint8Array; message: string }[] = [
    {
      name: 'nothing',
      bytes: new Uint8Array(0),
      message: 'Cannot open shard: 0 bytes are not a shard',
    },
    {
      name: 'less than a header',
      bytes: wholeShard().slice(0, 60),
      message: 'Cannot open shard: 60 bytes are not a shard',
    },
    {
      name: 'a header alone',
      bytes: wholeShard().slice(0, 64),
      message: `Cannot open shard: 64 bytes, header says ${wholeShard().length}`,
    },
    {
      name: 'half a word',
      bytes: wholeShard().slice(0, 134),
      message: 'Cannot open shard: 134 bytes are not a shard',
    },
  ]
  for (const { name, bytes, message } of sizes) {
    test(name, () => {
      assert.throws(() => openShard(bytes), { name: 'SnapshotError', message })
    })
  }

  test('a set that two nodes share only as long as they read it alike', () => {
    const [shard = new Uint8Array(0)] = buildShards([
      rrset('a.web.shop.svc 5 IN TXT x'),
      rrset('b.web.shop.svc 5 IN TXT x'),
    ])
    const opened = openShard(shard)
    const [a = 0, b = 0] = ['a', 'b'].map((name) => {
      const owner = labels(`${name}.web.shop.svc`)
      return opened.findNode(owner, owner.length)
    })
    assert.equal(opened.refSet(a + 4), opened.refSet(b + 4))
  })
})

describe('openShard', () => {
  const places: { name: string; offset: number }[] = [
    { name: 'in place at a multiple of four bytes', offset: 8 },
    { name: 'from a copy at any other byte', offset: 5 },
  ]
  for (const { name, offset } of places) {
    test(`opens a part of a Buffer ${name}`, () => {
      const bytes = wholeShard()
      const buffer = Buffer.from(new ArrayBuffer(bytes.length + 16))
      buffer.set(bytes, offset)
      const part = buffer.subarray(offset, offset + bytes.length)
      const shard = openShard(part)
      assert.equal(shard.bytes === part, offset % 4 === 0)
      assert.notEqual(shard.findNode(labels('web.shop.svc'), 13), 0)
    })
  }

  test('keeps every look-up within the bytes that buildShards wrote', () => {
    assert.ok(openAndLookUp(wholeShard()))
    fc.assert(
      fc.property(fc.array(zoneEntry(), { maxLength: 15 }), (entries) => {
        const [bytes = new Uint8Array(0)] = buildShards(entries)
        assert.ok(openAndLookUp(bytes))
      }),
    )
  })
})

describe('openShard, given bytes that were tampered with, refuses or opens safely', () => {
  const whole = wholeShard()
  const at = (): fc.Arbitrary<number> => fc.nat(whole.length - 1)

  test('bits that flipped', () => {
    const flips = fc.array(fc.tuple(at(), fc.nat(7)), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(flips, (bits) => {
        const bytes = whole.slice()
        for (const [offset, bit] of bits) bytes[offset] = (bytes[offset] ?? 0) ^ (1 << bit)
        openAndLookUp(bytes)
      }),
      { numRuns: 2000 },
    )
  })

  test('numbers that changed a little, or to a number from elsewhere', () => {
    const words = new Uint32Array(whole.buffer)
    const change = fc.record({
      index: fc.nat(words.length - 1),
      value: fc.oneof(
        fc.integer({ min: -8, max: 8 }).map((by) => ({ by })),
        fc.nat(words.length - 1).map((from) => ({ from })),
      ),
    })
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 2 }), (changes) => {
        const changed = words.slice()
        for (const { index, value } of changes) {
          changed[index] =
            'by' in value ? (changed[index] ?? 0) + value.by : (words[value.from] ?? 0)
        }
        openAndLookUp(new Uint8Array(changed.buffer))
      }),
      { numRuns: 2000 },
    )
  })

  test('truncated or added bytes, with any size in the header', () => {
    fc.assert(
      fc.property(at(), fc.uint8Array({ maxLength: 40 }), fc.boolean(), (size, more, isTold) => {
        for (const bytes of [whole.slice(0, size), Buffer.concat([whole, more])]) {
          if (isTold && bytes.length >= 12) {
            new DataView(bytes.buffer, bytes.byteOffset).setUint32(8, bytes.length, true)
          }
          openAndLookUp(bytes)
        }
      }),
      { numRuns: 1000 },
    )
  })

  test('anything after a valid header, and anything at all', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: whole.length }), (bytes) => {
        openAndLookUp(bytes)
        const headed = whole.slice()
        headed.set(bytes.subarray(0, whole.length - 64), 64)
        openAndLookUp(headed)
      }),
      { numRuns: 1000 },
    )
  })

  test('rdata and names of any bytes', () => {
    fc.assert(
      fc.property(relativeName(), fc.uint8Array({ maxLength: 12 }), (name, octets) => {
        const bytes = buildShards(EXAMPLE)[0]?.slice() ?? new Uint8Array(0)
        bytes.set(octets, 0x68)
        bytes.set(name.subarray(0, 4), 0x5c)
        openAndLookUp(bytes)
      }),
      { numRuns: 1000 },
    )
  })
})
