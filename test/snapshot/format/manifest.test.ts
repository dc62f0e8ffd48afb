import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { SnapshotError } from '../../../src/snapshot/format/layout.ts'
import {
  allShards,
  CLUSTER_ID,
  formatManifest,
  MANIFEST_BYTES_MAX,
  MANIFEST_VERSION,
  type Manifest,
  parseManifest,
  SHARDS_MAX,
} from '../../../src/snapshot/format/manifest.ts'
import { RIGHTS_BYTES_MAX } from '../../../src/snapshot/format/rights-table.ts'
import type { ShardEntry } from '../../../src/snapshot/format/shard-list.ts'

const SHARD = { sha256: '0123456789abcdef'.repeat(4), bytes: 136 }
const MANIFEST: Manifest = {
  version: MANIFEST_VERSION,
  cluster: 'shop-1',
  generation: 1_753_000_000,
  time: '2026-07-20T08:26:40.000Z',
  origins: ['cluster.local.'],
  ttlSeconds: 5,
  records: 2,
  sources: { services: '4711', endpointslices: '4712' },
  shards: [SHARD],
}

/** The bytes of a manifest with some fields replaced; an `undefined` one is left out. */
function encode(fields: Readonly<Record<string, unknown>>): Uint8Array {
  return new TextEncoder().encode(
    JSON.stringify({ ...MANIFEST, shards: packed([SHARD]), ...fields }),
  )
}

/** Shards as the manifest has them. */
function packed(shards: readonly ShardEntry[]): string {
  const octets = shards.flatMap(({ sha256, bytes }) => {
    const size = Buffer.alloc(4)
    size.writeUInt32LE(bytes)
    return [Buffer.from(sha256, 'hex'), size]
  })
  return Buffer.concat(octets).toString('base64url')
}

type Refused = { fields: Readonly<Record<string, unknown>>; message: string }

function rightsCase(rights: unknown): Refused {
  return { fields: { rights }, message: `rights is ${JSON.stringify(rights).slice(0, 60)}` }
}

describe('parseManifest refuses', () => {
  const long = 'a'.repeat(64)
  const cases: Refused[] = [
    { fields: { trees: [] }, message: 'trees is []' },
    { fields: { tokenIssuer: 'a' }, message: 'tokenIssuer is "a"' },
    { fields: { tokenIssuer: { issuer: 'a', keys: [] } }, message: 'tokenIssuer is {"issuer"' },
    {
      fields: { tokenIssuer: { issuer: 'a', keys: Array(17).fill({ kty: 'RSA' }) } },
      message: 'tokenIssuer is {"issuer"',
    },
    ...[null, [], { ...SHARD, bytes: 0 }, { ...SHARD, bytes: RIGHTS_BYTES_MAX + 1 }].map(
      rightsCase,
    ),
    ...[
      { ...SHARD, bytes: 1.5 },
      { ...SHARD, sha256: 'A'.repeat(64) },
    ].map(rightsCase),
    { fields: { trees: {} }, message: 'trees is {}' },
    { fields: { trees: { 'a/b': {} } }, message: 'trees."a/b" is none' },
    { fields: { trees: { a: 1 } }, message: 'trees."a" is none' },
    {
      fields: { trees: { a: { ttlSeconds: 5, records: 0, shards: '' } } },
      message: '0 shards, expected a power of two up to 4096',
    },
    {
      fields: { trees: { a: { ttlSeconds: 5, shards: packed([SHARD]) } } },
      message: 'records is missing, expected 0 to 9007199254740991',
    },
    {
      fields: { trees: Object.fromEntries([...'abcdefghi'].map((name) => [name, {}])) },
      message: `trees is ${JSON.stringify(Object.fromEntries([...'abcdefghi'].map((name) => [name, {}]))).slice(0, 60)}`,
    },
    { fields: { version: undefined }, message: 'version is missing, this build reads 1' },
    { fields: { version: 2 }, message: 'version is 2, this build reads 1' },
    { fields: { version: '1' }, message: 'version is "1", this build reads 1' },
    { fields: { cluster: undefined }, message: 'cluster is missing' },
    { fields: { cluster: 1 }, message: 'cluster is 1' },
    { fields: { cluster: '' }, message: 'cluster is ""' },
    { fields: { cluster: 'Shop' }, message: 'cluster is "Shop"' },
    { fields: { cluster: '-a' }, message: 'cluster is "-a"' },
    { fields: { cluster: 'a-' }, message: 'cluster is "a-"' },
    { fields: { cluster: '../a' }, message: 'cluster is "../a"' },
    { fields: { cluster: long }, message: `cluster is "${long.slice(0, 59)}` },
    { fields: { generation: undefined }, message: 'generation is missing, expected 1 to' },
    { fields: { generation: 0 }, message: 'generation is 0, expected 1 to 4294967295' },
    { fields: { generation: 2 ** 32 }, message: 'generation is 4294967296, expected 1 to' },
    { fields: { generation: 1.5 }, message: 'generation is 1.5, expected' },
    { fields: { generation: '7' }, message: 'generation is "7", expected' },
    { fields: { time: undefined }, message: 'time is missing' },
    { fields: { time: 0 }, message: 'time is 0' },
    { fields: { time: 'yesterday' }, message: 'time is "yesterday"' },
    { fields: { confirmed: 'yesterday' }, message: 'confirmed is "yesterday"' },
    { fields: { time: '2026-13-01T00:00:00Z' }, message: 'time is "2026-13-01T00:00:00Z"' },
    { fields: { origins: undefined }, message: 'origins is missing, expected a list' },
    { fields: { origins: 'a' }, message: 'origins is "a", expected a list' },
    { fields: { origins: ['a', 'b..c'] }, message: 'origins[1] is "b..c"' },
    { fields: { origins: [null] }, message: 'origins[0] is null' },
    { fields: { ttlSeconds: undefined }, message: 'ttlSeconds is missing, expected 0 to 3600' },
    { fields: { ttlSeconds: 3601 }, message: 'ttlSeconds is 3601, expected 0 to 3600' },
    { fields: { ttlSeconds: -1 }, message: 'ttlSeconds is -1, expected' },
    { fields: { records: undefined }, message: 'records is missing, expected 0 to' },
    { fields: { records: -1 }, message: 'records is -1, expected' },
    { fields: { records: 2 ** 53 }, message: 'records is 9007199254740992, expected' },
    { fields: { records: [] }, message: 'records is [], expected' },
    { fields: { sources: undefined }, message: 'sources is missing' },
    { fields: { sources: [] }, message: 'sources is []' },
    { fields: { sources: null }, message: 'sources is null' },
    { fields: { sources: { pods: 1 } }, message: 'sources.pods is 1' },
    { fields: { shards: undefined }, message: 'shards is missing, expected 36 bytes each' },
    { fields: { shards: [SHARD] }, message: 'shards is [{"sha256":' },
    { fields: { shards: '' }, message: '0 shards, expected a power of two up to 4096' },
    { fields: { shards: packed(Array(3).fill(SHARD)) }, message: '3 shards, expected a power of' },
    {
      fields: { shards: packed(Array(8192).fill(SHARD)) },
      message: '8192 shards, expected a power',
    },
    { fields: { shards: packed([SHARD]).slice(0, -4) }, message: 'shards is "ASNF' },
    { fields: { shards: `${packed([SHARD])}=` }, message: 'shards is "ASNF' },
    {
      fields: { shards: packed([SHARD, { ...SHARD, bytes: 0 }]) },
      message: 'shards[1] has no bytes',
    },
  ]
  for (const { fields, message } of cases) {
    test(message, () => {
      assert.throws(
        () => parseManifest(encode(fields)),
        (error) => {
          assert.ok(error instanceof SnapshotError)
          assert.ok(error.message.startsWith(`Cannot read manifest: ${message}`), error.message)
          assert.ok(error.message.length < 200)
          return true
        },
      )
    })
  }

  const octets: { name: string; bytes: Uint8Array; message: string }[] = [
    { name: 'nothing', bytes: new Uint8Array(0), message: 'it is not JSON in UTF-8' },
    {
      name: 'what is not UTF-8',
      bytes: Uint8Array.of(0x22, 0xff, 0x22),
      message: 'it is not JSON in UTF-8',
    },
    {
      name: 'half of a manifest',
      bytes: encode({}).slice(0, 99),
      message: 'it is not JSON in UTF-8',
    },
    {
      name: 'a list',
      bytes: new TextEncoder().encode('[]'),
      message: 'it is not a JSON object',
    },
    {
      name: 'null',
      bytes: new TextEncoder().encode('null'),
      message: 'it is not a JSON object',
    },
    {
      name: 'more bytes than allowed',
      bytes: encode({ more: ' '.repeat(MANIFEST_BYTES_MAX) }),
      message: 'over 1048576 bytes',
    },
  ]
  for (const { name, bytes, message } of octets) {
    test(name, () => {
      assert.throws(() => parseManifest(bytes), {
        name: 'SnapshotError',
        message: `Cannot read manifest: ${message}`,
      })
    })
  }

  test('anything else, and never throws another error', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json().map((text) => Buffer.from(text)),
          fc.uint8Array(),
        ),
        (bytes) => {
          assert.throws(() => parseManifest(bytes), SnapshotError)
        },
      ),
    )
  })

  test('any value of the wrong kind, and never throws another error', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(MANIFEST)), fc.jsonValue(), (field, value) => {
        try {
          parseManifest(encode({ [field]: value }))
        } catch (error) {
          assert.ok(error instanceof SnapshotError)
          assert.ok(error.message.includes(field), error.message)
        }
      }),
      { numRuns: 1000 },
    )
  })
})

describe('parseManifest takes', () => {
  const cases: { name: string; fields: Partial<Manifest> }[] = [
    { name: 'a cluster of one letter', fields: { cluster: 'a' } },
    { name: 'a cluster of 63', fields: { cluster: `a${'-'.repeat(61)}0` } },
    { name: 'the greatest generation', fields: { generation: 0xffffffff } },
    { name: 'a time elsewhere', fields: { time: '2026-07-20T10:26:40+02:00' } },
    { name: 'no origin', fields: { origins: [] } },
    { name: 'the root as origin', fields: { origins: ['.'] } },
    { name: 'a TTL of 0', fields: { ttlSeconds: 0 } },
    { name: 'a TTL of an hour', fields: { ttlSeconds: 3600 } },
    { name: 'no records and no sources', fields: { records: 0, sources: {} } },
    { name: 'as many shards as allowed', fields: { shards: Array(SHARDS_MAX).fill(SHARD) } },
  ]
  for (const { name, fields } of cases) {
    test(name, () => {
      const { shards = [SHARD] } = fields
      const bytes = encode({ ...fields, shards: packed(shards) })
      assert.deepEqual(parseManifest(bytes), { ...MANIFEST, ...fields })
    })
  }

  test('as many bytes as allowed', () => {
    const bytes = new Uint8Array(MANIFEST_BYTES_MAX).fill(0x20)
    bytes.set(encode({}))
    assert.deepEqual(parseManifest(bytes), MANIFEST)
  })

  test('fields that it does not know, and leaves them out', () => {
    assert.deepEqual(parseManifest(encode({ more: 1 })), MANIFEST)
  })
})

describe('formatManifest', () => {
  test('is read back by parseManifest', () => {
    const letters = fc.stringMatching(/^[a-z]{1,20}$/)
    const shard = fc
      .tuple(fc.stringMatching(/^[0-9a-f]{64}$/), fc.integer({ min: 1, max: 2 ** 28 }))
      .map(([sha256, bytes]) => ({ sha256, bytes }))
    const fields = fc.record({
      version: fc.constant(MANIFEST_VERSION),
      cluster: fc.stringMatching(new RegExp(CLUSTER_ID.source)),
      generation: fc.integer({ min: 1, max: 0xffffffff }),
      time: fc.date({ noInvalidDate: true, min: new Date(0) }).map((date) => date.toISOString()),
      origins: fc.array(fc.domain()),
      ttlSeconds: fc.nat(3600),
      records: fc.maxSafeNat(),
      sources: fc.dictionary(letters, fc.string(), { noNullPrototype: true }),
      shards: fc
        .nat(4)
        .chain((bits) => fc.array(shard, { minLength: 2 ** bits, maxLength: 2 ** bits })),
    })
    fc.assert(
      fc.property(fields, (values) => {
        const manifest: Manifest = { ...values }
        assert.deepEqual(parseManifest(formatManifest(manifest)), manifest)
      }),
    )
  })

  test('gives the same bytes whatever order the fields are in', () => {
    const turned: Manifest = {
      shards: [{ bytes: SHARD.bytes, sha256: SHARD.sha256 }],
      sources: { endpointslices: '4712', services: '4711' },
      records: 2,
      ttlSeconds: 5,
      origins: ['cluster.local.'],
      time: MANIFEST.time,
      generation: MANIFEST.generation,
      cluster: 'shop-1',
      version: 1,
    }
    assert.deepEqual(formatManifest(turned), formatManifest(MANIFEST))
  })

  test('omits fields that a manifest does not have', () => {
    const more = { ...MANIFEST, more: 1 }
    assert.deepEqual(formatManifest(more), formatManifest(MANIFEST))
  })

  test('is read back with its other trees, and their shards count among all', () => {
    const tree = { ttlSeconds: 0, records: 3, shards: [{ ...SHARD, bytes: 200 }] }
    const more = { ...tree, shards: [SHARD, SHARD] }
    const manifest: Manifest = { ...MANIFEST, trees: { labels: tree, imports: more } }
    const octets = formatManifest(manifest)
    assert.deepEqual(parseManifest(octets), manifest)
    const turned = { ...MANIFEST, trees: { imports: more, labels: tree } }
    assert.deepEqual(formatManifest(turned), octets)
    assert.deepEqual(
      allShards(manifest).map(({ bytes }) => bytes),
      [136, 200, 136, 136],
    )
  })

  test('is read back with a table of rights, which counts among all shards', () => {
    const rights = { ...SHARD, bytes: RIGHTS_BYTES_MAX }
    const manifest: Manifest = { ...MANIFEST, rights }
    assert.deepEqual(parseManifest(formatManifest(manifest)), manifest)
    assert.deepEqual(allShards(manifest), [SHARD, rights])
  })

  test('is read back with public keys, without what else a key has', () => {
    const key = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y', kid: 'a' }
    const tokenIssuer = { issuer: 'https://api.test', keys: [key] }
    const manifest: Manifest = { ...MANIFEST, tokenIssuer }
    assert.deepEqual(parseManifest(formatManifest(manifest)), manifest)
    const keys = [{ ...key, d: 'private', x5c: ['a'] }, { kty: 'RSA', n: 7 }, null]
    const fields = { tokenIssuer: { ...tokenIssuer, keys, more: 1 } }
    assert.deepEqual(parseManifest(encode(fields)).tokenIssuer, tokenIssuer)
  })

  test('fits its limit with as many shards as allowed', () => {
    const shards = Array<typeof SHARD>(SHARDS_MAX).fill({ ...SHARD, bytes: 2 ** 28 })
    assert.ok(formatManifest({ ...MANIFEST, shards }).length <= MANIFEST_BYTES_MAX)
  })
})

describe('the manifest that the README describes', () => {
  const readme = readFileSync(join(import.meta.dirname, '../../../src/snapshot/README.md'), 'utf8')
  const [, after = ''] = readme.split('### Manifest')
  const [section = ''] = after.split('\n## ')
  const rows = new Map(
    Array.from(section.matchAll(/^\| `(\w+)` \| (.*) \|$/gm), ([, field = '', text = '']) => [
      field,
      text,
    ]),
  )

  test('has the same fields', () => {
    const trees = { labels: { ttlSeconds: 0, records: 0, shards: [SHARD] } }
    const tokenIssuer = { issuer: 'https://api.test', keys: [{ kty: 'EC' }] }
    const more = { trees, tokenIssuer, rights: SHARD, confirmed: MANIFEST.time }
    const full = { ...MANIFEST, ...more }
    assert.deepEqual(
      [...rows.keys()],
      Object.keys(JSON.parse(String(Buffer.from(formatManifest(full))))),
    )
  })

  test('has the same limits', () => {
    assert.equal(rows.get('version'), String(MANIFEST_VERSION))
    assert.match(rows.get('generation') ?? '', new RegExp(`1 to ${0xffffffff};`))
    assert.match(rows.get('ttlSeconds') ?? '', /0 to 3600$/)
    assert.match(rows.get('shards') ?? '', new RegExp(`1 to ${SHARDS_MAX} shards`))
    assert.ok(section.includes(`JSON in UTF-8, ${MANIFEST_BYTES_MAX / 1024 ** 2} MiB at most`))
  })
})
