import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { createFileStore } from '../../../src/server/gateway/file-store.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { STORE_PROMISES } from '../../gateway/store-contract.ts'

describe('the store in a folder', () => {
  for (const { name, hold } of STORE_PROMISES) {
    test(name, (t) => hold(createFileStore(join(temporaryFolder(t), 'shop'))))
  }

  test('is available to the next process', async (t) => {
    const folder = temporaryFolder(t)
    const sha256 = 'a'.repeat(64)
    const one = createFileStore(folder)
    await one.writeShard(sha256, Uint8Array.of(1, 10, 3), 5000)
    const bytes = new TextEncoder().encode('{\n}\n')
    await one.writeManifest(7, { bytes, signature: 's' }, { generations: new Set([7]) })
    await one.pin(7)
    const next = createFileStore(folder)
    assert.deepEqual(await next.readManifest(), {
      generation: 7,
      bytes,
      signature: 's',
      isPinned: true,
    })
    assert.deepEqual(await next.readShard(sha256), Uint8Array.of(1, 10, 3))
    assert.deepEqual(readdirSync(folder).sort(), ['manifests', 'pinned', 'shards'])
  })

  test('reads no file that is not a shard', async (t) => {
    const folder = temporaryFolder(t)
    const store = createFileStore(folder)
    const bytes = new TextEncoder().encode('{}')
    await store.writeManifest(7, { bytes, signature: 's' }, { generations: new Set() })
    assert.equal(await store.readShard('../manifests/7'), undefined)
  })
})
