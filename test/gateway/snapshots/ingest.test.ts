import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  type IngestResult,
  type IngestTarget,
  ingestManifest,
  ingestPublication,
  ingestShard,
  manifestEtag,
} from '../../../src/gateway/snapshots/ingest.ts'
import { createMemoryStore, type SignedManifest } from '../../../src/gateway/snapshots/store.ts'
import { UnlistedShards } from '../../../src/gateway/snapshots/unlisted-shards.ts'
import { formatManifest, type Manifest } from '../../../src/snapshot/format/manifest.ts'
import { formatPublication } from '../../../src/snapshot/format/publication.ts'
import { sha256Hex } from '../../../src/snapshot/format/signature.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { type Published, signedBy, snapshotOf, tableOf, WEB } from '../publishing.ts'

const NOW_MS = Date.parse('2026-01-01T00:00:30Z')
const { privateKey, publicKey } = await keys()
const stranger = await keys()

function target(): IngestTarget {
  const store = createMemoryStore()
  const now = (): number => NOW_MS
  const unlisted = new UnlistedShards(store, now)
  return { cluster: 'shop', publicKey, store, unlisted, generationsMax: 2, now }
}

/** A target at which a snapshot is, and that snapshot's entity tag. */
async function publisherWith(one: Published): Promise<{ at: IngestTarget; etag: string }> {
  const at = target()
  await putShards(at, one)
  const result = await ingestManifest(at, one.signed, undefined)
  assert.equal(result.kind, 'stored')
  return { at, etag: await manifestEtag(one.signed.bytes) }
}

async function putShards(at: IngestTarget, { shards }: Published): Promise<void> {
  for (const [sha256, bytes] of shards) await ingestShard(at, sha256, bytes)
}

function codeOf(result: IngestResult): string {
  return result.kind === 'refused' ? `${result.status} ${result.code}` : result.kind
}

test('a publication reads the shards that were stored before it, and not its own', async () => {
  const at = target()
  const read: string[] = []
  const store = {
    ...at.store,
    readShard: (sha256: string) => {
      read.push(sha256)
      return at.store.readShard(sha256)
    },
  }
  const { shards, signed } = await snapshotOf(privateKey, [WEB], { shardCount: 2 })
  const [first, ...rest] = shards
  assert.ok(first !== undefined && rest.length > 0)
  await ingestShard(at, ...first)
  const bytes = formatPublication({ manifest: signed.bytes, shards: [...shards.values()] })
  const result = await ingestPublication({ ...at, store }, { ...signed, bytes }, undefined)
  assert.equal(result.kind, 'stored')
  assert.deepEqual(read, [first[0]])
})

describe('a shard', () => {
  test('is stored once under its hash', async () => {
    const at = target()
    const [[sha256, bytes] = ['', new Uint8Array()]] = (await snapshotOf(privateKey, [WEB])).shards
    const etag = `"${sha256}"`
    assert.deepEqual(await ingestShard(at, sha256, bytes), { kind: 'stored', etag, isNew: true })
    assert.deepEqual(await ingestShard(at, sha256, bytes), { kind: 'stored', etag, isNew: false })
    assert.deepEqual(await at.store.readShard(sha256), bytes)
  })

  test('is refused under another hash', async () => {
    const at = target()
    const result = await ingestShard(at, '0'.repeat(64), new Uint8Array(200))
    assert.equal(codeOf(result), '400 wrong_hash')
    assert.deepEqual(await at.store.missingShards(['0'.repeat(64)]), ['0'.repeat(64)])
  })

  test('is refused when its bytes are not a shard, and not kept', async () => {
    const at = target()
    const bytes = new Uint8Array(200)
    const sha256 = await sha256Hex(bytes)
    assert.equal(codeOf(await ingestShard(at, sha256, bytes)), '400 bad_shard')
    assert.equal(await at.store.readShard(sha256), undefined)
  })
})

describe('a table of rights', () => {
  const rightsOf = [{ kind: 'user', name: 'ada', namespaces: ['shop'] }] as const

  test('is stored as a shard is, and its manifest waits for it', async () => {
    const at = target()
    const one = await snapshotOf(privateKey, [WEB], { rightsOf })
    const sha256 = one.manifest.rights?.sha256 ?? assert.fail()
    const names = new Map([...one.shards].filter(([hash]) => hash !== sha256))
    await putShards(at, { ...one, shards: names })
    assert.deepEqual(await ingestManifest(at, one.signed, undefined), {
      kind: 'missing',
      sha256s: [sha256],
    })
    await putShards(at, one)
    assert.equal((await ingestManifest(at, one.signed, undefined)).kind, 'stored')
  })

  test('arrives with its manifest, stays for one more generation, and goes', async () => {
    const at = target()
    const hashes: string[] = []
    let etag: string | undefined
    for (const [i, name] of ['a', 'b', 'c', 'd'].entries()) {
      const one = await snapshotOf(privateKey, [WEB], {
        generation: i + 1,
        rightsOf: [{ ...rightsOf[0], name }],
      })
      hashes.push(one.manifest.rights?.sha256 ?? '')
      const { signed, shards } = one
      const bytes = formatPublication({ manifest: signed.bytes, shards: [...shards.values()] })
      const result = await ingestPublication(at, { ...signed, bytes }, etag)
      assert.equal(result.kind, 'stored')
      etag = await manifestEtag(signed.bytes)
    }
    assert.deepEqual(await at.store.missingShards(hashes), hashes.slice(0, 2))
  })

  test('is refused when it is broken', async () => {
    const at = target()
    const bytes = await tableOf('broken')
    const result = await ingestShard(at, await sha256Hex(bytes), bytes)
    assert.equal(codeOf(result), '400 bad_shard')
  })
})

describe('the first manifest', () => {
  const cases: { name: string; fields: Partial<Manifest>; result: string }[] = [
    { name: 'is stored', fields: {}, result: 'stored' },
    { name: 'is of this cluster', fields: { cluster: 'depot' }, result: '400 wrong_cluster' },
    {
      name: 'may be five minutes ahead',
      fields: { time: '2026-01-01T00:05:30.000Z' },
      result: 'stored',
    },
    {
      name: 'is not from beyond that',
      fields: { time: '2026-01-01T00:05:30.001Z' },
      result: '400 from_the_future',
    },
    {
      name: 'has no generation from beyond that',
      fields: { generation: (NOW_MS + 301_000) / 1000 },
      result: '400 from_the_future',
    },
    {
      name: 'may have a generation that is five minutes ahead',
      fields: { generation: (NOW_MS + 300_000) / 1000 },
      result: 'stored',
    },
  ]
  for (const { name, fields, result } of cases) {
    test(name, async () => {
      const at = target()
      const snapshot = await snapshotOf(privateKey, [WEB], fields)
      await putShards(at, snapshot)
      assert.equal(codeOf(await ingestManifest(at, snapshot.signed, undefined)), result)
      assert.equal((await at.store.readManifest()) !== undefined, result === 'stored')
    })
  }

  test('waits for its shards, which are named', async () => {
    const at = target()
    const snapshot = await snapshotOf(privateKey, [WEB], { shardCount: 2 })
    const [first = '', second = ''] = snapshot.shards.keys()
    await ingestShard(at, first, snapshot.shards.get(first) ?? new Uint8Array())
    const sha256s = first === second ? [] : [second]
    assert.deepEqual(await ingestManifest(at, snapshot.signed, undefined), {
      kind: 'missing',
      sha256s,
    })
    assert.equal(await at.store.readManifest(), undefined)
  })
})

describe('a manifest that is not right is refused, and the one before stays:', () => {
  const later: Partial<Manifest> = { generation: 6, time: '2026-01-01T00:00:10.000Z' }
  const good = (): Promise<Published> => snapshotOf(privateKey, [WEB], later)
  const json = (text: string): Promise<SignedManifest> =>
    signedBy(privateKey, new TextEncoder().encode(text))
  const cases: {
    name: string
    signed: () => Promise<SignedManifest>
    expected?: string
    code: string
  }[] = [
    {
      name: 'signed by a stranger',
      signed: async () => (await snapshotOf(stranger.privateKey, [WEB], later)).signed,
      code: '403 bad_signature',
    },
    {
      name: 'changed after its signature',
      signed: async () => {
        const { signed, manifest } = await good()
        return { ...signed, bytes: formatManifest({ ...manifest, generation: 7 }) }
      },
      code: '403 bad_signature',
    },
    {
      name: 'with an invalid signature',
      signed: async () => ({ ...(await good()).signed, signature: 'x' }),
      code: '403 bad_signature',
    },
    { name: 'signed nonsense', signed: () => json('{'), code: '400 bad_manifest' },
    { name: 'of another version', signed: () => json('{"version":2}'), code: '400 bad_manifest' },
    {
      name: 'of the same generation and time',
      signed: async () => (await snapshotOf(privateKey, [WEB], { generation: 5 })).signed,
      code: '409 not_newer',
    },
    {
      name: 'of an older generation',
      signed: async () => (await snapshotOf(privateKey, [WEB], { ...later, generation: 4 })).signed,
      code: '409 not_newer',
    },
    {
      name: 'in place of another than the present one',
      signed: async () => (await good()).signed,
      expected: '"another"',
      code: '412 changed',
    },
    {
      name: 'of the same generation with other names',
      signed: async () => {
        const other = WEB.replace('80', '81')
        return (await snapshotOf(privateKey, [other], { ...later, generation: 5 })).signed
      },
      code: '409 not_newer',
    },
    ...[
      { origins: ['other.local.'] },
      { ttlSeconds: 6 },
      { records: 2 },
      { treeSets: { exports: [WEB] } },
    ].map((fields) => ({
      name: `of the same generation with other ${Object.keys(fields).join()}`,
      signed: async () =>
        (await snapshotOf(privateKey, [WEB], { ...later, ...fields, generation: 5 })).signed,
      code: '409 not_newer',
    })),
    {
      name: 'of an older time',
      signed: async () => {
        const time = '1970-01-01T00:00:00.000Z'
        return (await snapshotOf(privateKey, [WEB], { ...later, time })).signed
      },
      code: '409 older_time',
    },
    {
      name: 'whose generation leaves no room for later ones',
      signed: async () =>
        (await snapshotOf(privateKey, [WEB], { ...later, generation: 0xffffffff })).signed,
      code: '400 from_the_future',
    },
  ]
  for (const { name, signed, expected, code } of cases) {
    test(name, async () => {
      const before = await snapshotOf(privateKey, [WEB], { generation: 5 })
      const { at, etag } = await publisherWith(before)
      assert.equal(codeOf(await ingestManifest(at, await signed(), expected ?? etag)), code)
      assert.deepEqual(await at.store.readManifest(), { ...before.signed, generation: 5 })
    })
  }

  test('with the labels of namespaces among its names', async () => {
    const before = await snapshotOf(privateKey, [WEB], { generation: 5 })
    const { at, etag } = await publisherWith(before)
    const other = await snapshotOf(privateKey, [WEB], { labels: { shop: ['a=b'] } })
    await putShards(at, other)
    const shards = other.manifest.trees?.labels?.shards ?? []
    const wrong = await snapshotOf(privateKey, [WEB], {
      ...other.manifest,
      ...later,
      shards: shards.slice(0, 1),
    })
    assert.equal(codeOf(await ingestManifest(at, wrong.signed, etag)), '400 bad_manifest')
    assert.deepEqual(await at.store.readManifest(), { ...before.signed, generation: 5 })
  })

  test('replacing a manifest that does not exist', async () => {
    const { signed } = await good()
    assert.equal(codeOf(await ingestManifest(target(), signed, '"x"')), '412 changed')
  })
})

describe('a later manifest', () => {
  test('of the same names only confirms them', async () => {
    const { at, etag } = await publisherWith(await snapshotOf(privateKey, [WEB]))
    const again = await snapshotOf(privateKey, [WEB], { time: '2026-01-01T00:00:10.000Z' })
    const result = await ingestManifest(at, again.signed, etag)
    const stored = { kind: 'stored', etag: await manifestEtag(again.signed.bytes), isNew: false }
    assert.deepEqual(result, stored)
  })

  test('may name other versions of its sources', async () => {
    const { at, etag } = await publisherWith(await snapshotOf(privateKey, [WEB]))
    const fields = { time: '2026-01-01T00:00:10.000Z', sources: { services: '8' } }
    const again = await snapshotOf(privateKey, [WEB], fields)
    assert.equal((await ingestManifest(at, again.signed, etag)).kind, 'stored')
  })

  test('may be five minutes older, as clocks of two exporters differ', async () => {
    const { at, etag } = await publisherWith(await snapshotOf(privateKey, [WEB]))
    const fields = { generation: 2, time: '2025-12-31T23:55:00.000Z' }
    const next = await snapshotOf(privateKey, [WEB], fields)
    assert.equal((await ingestManifest(at, next.signed, etag)).kind, 'stored')
  })

  test('follows one from the future, once all clocks are right', async () => {
    const [time, generation] = ['2026-01-02T01:00:00.000Z', Date.UTC(2026, 0, 2, 1) / 1000]
    const ahead = await snapshotOf(privateKey, [WEB], { time, generation })
    let nowMs = Date.parse(time)
    const at = { ...target(), now: () => nowMs }
    await putShards(at, ahead)
    assert.equal((await ingestManifest(at, ahead.signed, undefined)).kind, 'stored')
    nowMs = NOW_MS
    const next = await snapshotOf(privateKey, [WEB], { generation: generation + 1 })
    const etag = await manifestEtag(ahead.signed.bytes)
    assert.equal((await ingestManifest(at, next.signed, etag)).kind, 'stored')
  })

  test('keeps the shards of the previous one, for readers that are still loading', async () => {
    const names = ['80', '81', '82'].map((last) => WEB.replace('80', last))
    const snapshots = await Promise.all(
      names.map((name, i) => snapshotOf(privateKey, [name], { generation: i + 1 })),
    )
    const at = target()
    let etag: string | undefined
    for (const snapshot of snapshots) {
      await putShards(at, snapshot)
      const result = await ingestManifest(at, snapshot.signed, etag)
      assert.equal(result.kind, 'stored')
      etag = result.kind === 'stored' ? result.etag : undefined
    }
    const [first = '', ...rest] = snapshots.flatMap(({ shards }) => [...shards.keys()])
    assert.deepEqual(await at.store.missingShards([first, ...rest]), [first])
  })
})
