import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  addEntry,
  DIRECTORY_MAX,
  type DirectoryEntry,
  formatDirectoryEntry,
  parseDirectoryEntry,
} from '../../../src/gateway/access/cluster-directory.ts'
import { KnownClusters } from '../../../src/gateway/access/known-clusters.ts'
import { CLUSTER_KEYS_MAX, readClusterEntry } from '../../../src/gateway/config/cluster-entry.ts'
import { isSignedBy, signBytes } from '../../../src/snapshot/format/signature.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'

const [old, next] = [await keys(), await keys()]
const SHA256 = 'a'.repeat(64)

function entry(id: string, ...publicKeys: readonly string[]): DirectoryEntry {
  const own = publicKeys.length === 0 ? [old.publicKeyText] : publicKeys
  const pairs = own.map((publicKey) => ({ publicKey, tokenSha256: SHA256, createdMs: 1 }))
  return { id, createdMs: 1, keys: pairs }
}

const whole = (...entries: readonly DirectoryEntry[]): Parameters<KnownClusters['take']>[0] => ({
  isWhole: true,
  entries,
  removed: [],
})

async function known(): Promise<{ clusters: KnownClusters; removed: string[] }> {
  const configured = await readClusterEntry('shop', {
    publicKey: old.publicKeyText,
    tokenSha256: SHA256,
  })
  const clusters = new KnownClusters(new Map([['shop', configured]]))
  const removed: string[] = []
  clusters.onRemoval((id) => removed.push(id))
  return { clusters, removed }
}

describe('KnownClusters', () => {
  test('has those of CLUSTERS and of the directory, each once', async () => {
    const { clusters } = await known()
    assert.deepEqual([clusters.isLoaded, clusters.ids()], [false, ['shop']])
    const configured = clusters.find('shop')
    clusters.take(whole(entry('lab'), entry('shop', next.publicKeyText)))
    assert.deepEqual([clusters.isLoaded, clusters.ids()], [true, ['shop', 'lab']])
    assert.equal(clusters.find('shop'), configured)
    assert.deepEqual([clusters.has('lab'), clusters.has('none')], [true, false])
    assert.equal(clusters.find('none'), undefined)
  })

  test('reports each cluster that an update removes, and none of CLUSTERS', async () => {
    const { clusters, removed } = await known()
    clusters.take(whole(entry('lab'), entry('prod'), entry('shop')))
    clusters.take({ isWhole: false, entries: [entry('edge')], removed: ['lab', 'never'] })
    assert.deepEqual([clusters.ids(), removed], [['shop', 'prod', 'edge'], ['lab']])
    clusters.take(whole(entry('edge')))
    assert.deepEqual(
      [clusters.ids(), removed],
      [
        ['shop', 'edge'],
        ['lab', 'prod'],
      ],
    )
  })

  test('takes a cluster that was removed and added since for another one', async () => {
    const { clusters, removed } = await known()
    clusters.take(whole(entry('lab')))
    const before = clusters.find('lab')
    clusters.take(whole({ ...entry('lab', next.publicKeyText), createdMs: 2 }))
    assert.deepEqual(removed, ['lab'])
    assert.notEqual(clusters.find('lab'), before)
  })

  test('verifies by the newest keys of a cluster that was found before', async () => {
    const { clusters, removed } = await known()
    clusters.take(whole(entry('lab')))
    const { publicKey } = clusters.find('lab') ?? assert.fail()
    const bytes = new Uint8Array([1])
    const [byOld, byNext] = [
      await signBytes(old.privateKey, bytes),
      await signBytes(next.privateKey, bytes),
    ]
    const verified = async (): Promise<boolean[]> => [
      await isSignedBy(publicKey, bytes, byOld),
      await isSignedBy(publicKey, bytes, byNext),
    ]
    assert.deepEqual(await verified(), [true, false])
    clusters.take(whole(entry('lab', next.publicKeyText, old.publicKeyText)))
    assert.deepEqual(await verified(), [true, true])
    clusters.take(whole(entry('lab', next.publicKeyText)))
    assert.deepEqual(await verified(), [false, true])
    assert.deepEqual(removed, [])
  })
})

describe('an entry of the directory', () => {
  test('has under 1 KiB, also with the longest identifier and all keys', () => {
    const publicKeys = Array.from({ length: CLUSTER_KEYS_MAX }, () => 'A'.repeat(43))
    const largest = entry('a'.repeat(63), ...publicKeys)
    const times = largest.keys.map((one) => ({ ...one, createdMs: 1e13 }))
    const text = formatDirectoryEntry({ ...largest, createdMs: 1e13, keys: times })
    assert.ok(text.length < 1024, `${text.length}`)
    assert.deepEqual(parseDirectoryEntry(text)?.keys.length, CLUSTER_KEYS_MAX)
  })

  for (const text of ['', '[]', '{"id":"a"}', '{"id":"a","createdMs":1,"keys":[{}]}']) {
    test(`is not read from ${text || 'nothing'}`, () => {
      assert.equal(parseDirectoryEntry(text), undefined)
    })
  }

  test(`is not added to ${DIRECTORY_MAX} others`, () => {
    const entries = new Map(Array.from({ length: DIRECTORY_MAX }, (_, i) => [`${i}`, entry('a')]))
    assert.equal(addEntry(entries, entry('4')), 'exists')
    assert.equal(addEntry(entries, entry('b')), 'full')
    entries.delete('4')
    assert.equal(addEntry(entries, entry('b')), 'added')
  })
})
