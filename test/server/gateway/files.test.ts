import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { StoreError } from '../../../src/gateway/snapshots/store.ts'
import { Files } from '../../../src/server/gateway/files.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { errno, FakeDisk } from './fake-disk.ts'

const OLD = Uint8Array.of(7, 7)
const NEW = [Uint8Array.of(1, 2, 3), Uint8Array.of(4, 5)]

/** Writes `/a/b` over `OLD` on a disk that fails; returns the refusal and the disk. */
async function fail(spoil: (disk: FakeDisk) => void): Promise<[StoreError, FakeDisk]> {
  const disk = new FakeDisk()
  disk.put('/a/b', OLD)
  spoil(disk)
  const error = await new Files(disk).write('/a/b', NEW).catch((refusal: unknown) => refusal)
  assert.ok(error instanceof StoreError, String(error))
  return [error, disk]
}

describe('files', () => {
  test('are written in parts and read complete', async (t) => {
    const path = join(temporaryFolder(t), 'a', 'b')
    const files = new Files()
    assert.equal(await files.read(path), undefined)
    await files.write(path, [Uint8Array.of(1), Uint8Array.of(2, 3)])
    await files.write(path, [Uint8Array.of(4)], 5000)
    assert.deepEqual(await files.read(path), Uint8Array.of(4))
    assert.equal((await files.stat(path))?.mtimeMs, 5000)
    assert.equal(statSync(path).mode & 0o777, 0o600)
    await files.sync(join(path, '..'))
  })

  test('are created once by several writers', async (t) => {
    const path = join(temporaryFolder(t), 'a', 'b')
    const files = new Files()
    const due = async (): Promise<boolean> => true
    assert.equal(await files.writeNew(path, NEW, async () => false), false)
    assert.equal(await files.writeNew(path, NEW, due), true)
    assert.equal(await files.writeNew(path, [OLD], due), false)
    assert.deepEqual(await files.read(path), Uint8Array.of(1, 2, 3, 4, 5))
    assert.deepEqual(readdirSync(join(path, '..')), ['b'])
  })

  test('are looked at 64 at a time, in order', async () => {
    const disk = new FakeDisk()
    const paths = Array.from({ length: 300 }, (_, i) => `/a/${i}`)
    for (const path of paths.slice(0, 200)) disk.put(path, OLD)
    let open = 0
    let most = 0
    const fs = {
      ...disk,
      stat: async (path: string) => {
        most = Math.max(most, ++open)
        await Promise.resolve()
        open--
        return disk.stat(path)
      },
    }
    const found = await new Files(fs).statAll(paths)
    assert.deepEqual(
      found.map((one) => one !== undefined),
      paths.map((_, i) => i < 200),
    )
    assert.equal(most, 64)
  })

  test('leave no file if they cannot be put in place', async (t) => {
    const folder = temporaryFolder(t)
    mkdirSync(join(folder, 'a', 'b'), { recursive: true })
    const files = new Files()
    await assert.rejects(files.write(join(folder, 'a'), NEW), StoreError)
    assert.deepEqual(readdirSync(folder), ['a'])
    await assert.rejects(files.read(join(folder, 'a')), StoreError)
  })

  test('stay as they were when the disk is full, at each byte', async () => {
    for (let room = 0; room < 5; room++) {
      const [error, disk] = await fail((one) => {
        one.capacity = OLD.length + room
      })
      assert.deepEqual([error.status, error.code], [507, 'no_space'])
      assert.match(error.message, /storage is full.*ENOSPC/)
      assert.deepEqual(disk.paths('', true), ['/a/b'])
      assert.equal(disk.bytesOf('/a/b'), OLD)
    }
  })

  test('stay as they were on a read-only file system, which the refusal names', async () => {
    const [error, disk] = await fail((one) => {
      one.isReadOnly = true
    })
    assert.deepEqual([error.status, error.code], [503, 'read_only'])
    assert.equal(disk.bytesOf('/a/b'), OLD)
  })

  test('stay as they were when any step fails, and the refusal names the error', async () => {
    for (const operation of ['open', 'write', 'sync', 'rename']) {
      const [error, disk] = await fail((one) => {
        one.before = (name) => {
          if (name === operation) throw errno('EIO')
        }
      })
      assert.deepEqual([error.status, error.code], [500, 'storage_failed'], operation)
      assert.match(error.message, /EIO/)
      assert.deepEqual(disk.paths('/a'), ['/a/b'])
      assert.equal(disk.bytesOf('/a/b'), OLD)
    }
  })

  test('are old or new after a power cut at any step, and new once the folder is synced', async () => {
    for (let last = 1; ; last++) {
      const disk = new FakeDisk()
      disk.put('/a/b', OLD)
      disk.before = () => {
        if (disk.steps > last) throw errno('EIO')
      }
      const files = new Files(disk)
      const written = await files
        .write('/a/b', NEW)
        .then(
          () => files.sync('/a').then(() => true),
          () => false,
        )
        .catch(() => false)
      disk.cutPower()
      const bytes = disk.bytesOf('/a/b').join()
      assert.ok(bytes === '1,2,3,4,5' || (bytes === '7,7' && !written), `step ${last}: ${bytes}`)
      if (written) break
    }
  })

  test('that a killed process left half-written are swept', async () => {
    const disk = new FakeDisk()
    disk.put('/a/b', OLD)
    let isKilled = false
    disk.before = (operation) => {
      isKilled ||= operation === 'rename'
      if (isKilled) throw errno('EIO')
    }
    await assert.rejects(new Files(disk).write('/a/b', NEW))
    assert.equal(disk.paths('/a').length, 2)
    disk.heal()
    let nowMs = 599_000
    const files = new Files(disk, () => nowMs)
    await files.sweep('/a')
    assert.equal(disk.paths('/a').length, 2)
    nowMs = 601_000
    await files.sweep('/a', 'c')
    assert.equal(disk.paths('/a').length, 2)
    await files.sweep('/a')
    assert.deepEqual(disk.paths('/a'), ['/a/b'])
  })
})
