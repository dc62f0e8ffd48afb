import assert from 'node:assert/strict'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { isMissing, readWhole, writeWhole } from '../../src/node-gateway/files.ts'
import { temporaryFolder } from './temporary-folder.ts'

describe('files', () => {
  test('are written in parts and read whole', async (t) => {
    const path = join(temporaryFolder(t), 'a', 'b')
    assert.equal(await readWhole(path), undefined)
    await writeWhole(path, [Uint8Array.of(1), Uint8Array.of(2, 3)])
    await writeWhole(path, [Uint8Array.of(4)])
    assert.deepEqual(await readWhole(path), Uint8Array.of(4))
  })

  test('leave nothing behind when they cannot be put in place', async (t) => {
    const folder = temporaryFolder(t)
    mkdirSync(join(folder, 'a', 'b'), { recursive: true })
    await assert.rejects(writeWhole(join(folder, 'a'), [Uint8Array.of(1)]))
    assert.deepEqual(readdirSync(folder), ['a'])
    await assert.rejects(readWhole(join(folder, 'a')), (error) => !isMissing(error))
  })
})
