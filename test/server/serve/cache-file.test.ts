import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import type { CacheFile } from '../../../src/resolver/plugins/cache/persistence.ts'
import { openCacheFile } from '../../../src/server/serve/cache-file.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'

const REASON = 'it is damaged, or of another version or configuration'

function open(t: TestContext): { folder: string; path: string; file: CacheFile } {
  const folder = temporaryFolder(t)
  const path = join(folder, 'cache.bin')
  return { folder, path, file: openCacheFile(path, 'a') }
}

function write({ replace }: CacheFile, ...parts: readonly Uint8Array[]): void {
  const content = replace()
  for (const part of parts) content.add(part)
  content.commit()
}

describe('the file of a cache', () => {
  test('has the content that was written last, of any size', async (t) => {
    const { file, folder, path } = open(t)
    assert.equal(await file.read(), undefined)
    for (const sizes of [[], [3], [0, 65_536, 1], Array.from({ length: 900 }, (_, i) => i)]) {
      const parts = sizes.map((size, i) => new Uint8Array(size).fill(i))
      write(file, ...parts)
      assert.deepEqual(Buffer.from((await file.read()) ?? []), Buffer.concat(parts))
    }
    assert.deepEqual(readdirSync(folder), ['cache.bin'])
    assert.equal(statSync(path).mode & 0o777, 0o600)
  })

  test('stays as it is until a new content is complete', async (t) => {
    const { file, folder } = open(t)
    write(file, Uint8Array.of(1))
    const content = file.replace()
    content.add(new Uint8Array(100_000))
    assert.deepEqual(Buffer.from((await file.read()) ?? []), Buffer.of(1))
    content.abort()
    content.abort()
    assert.deepEqual(readdirSync(folder), ['cache.bin'])
    // A process was killed: what it left does not get in the way.
    file.replace().add(new Uint8Array(100_000))
    write(file, Uint8Array.of(2))
    assert.deepEqual(Buffer.from((await file.read()) ?? []), Buffer.of(2))
  })

  test('is refused with any bit changed, or cut anywhere', async (t) => {
    const { file, path } = open(t)
    write(
      file,
      Uint8Array.from({ length: 20 }, (_, i) => i),
    )
    const bytes = readFileSync(path)
    for (let at = 0; at < bytes.length; at++) {
      const changed = Uint8Array.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8))
      writeFileSync(path, changed)
      await assert.rejects(async () => file.read(), { message: REASON })
      writeFileSync(path, bytes.subarray(0, at))
      await assert.rejects(async () => file.read(), { message: REASON })
    }
    writeFileSync(path, Buffer.concat([bytes, Buffer.of(0)]))
    await assert.rejects(async () => file.read(), { message: REASON })
  })

  test('is refused to a cache with another identity', async (t) => {
    const { file, path } = open(t)
    write(file, Uint8Array.of(1))
    await assert.rejects(async () => openCacheFile(path, 'b').read(), { message: REASON })
  })

  test('is not read beyond 64 MiB', async (t) => {
    const { file, path } = open(t)
    writeFileSync(path, '')
    truncateSync(path, 64 * 1024 * 1024 + 49)
    await assert.rejects(async () => file.read(), { message: 'it is larger than 64 MiB' })
  })

  test('cannot be written in a folder that does not exist', async (t) => {
    const { folder } = open(t)
    const file = openCacheFile(join(folder, 'none', 'cache.bin'), 'a')
    assert.equal(await file.read(), undefined)
    assert.throws(file.replace, { code: 'ENOENT' })
  })
})
