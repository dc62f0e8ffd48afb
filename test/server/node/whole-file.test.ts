import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { writeWholeFile } from '../../../src/server/node/whole-file.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { FakeDisk } from '../gateway/fake-disk.ts'

// How a full or failing disk leaves the previous file: test/server/gateway/files.test.ts.
describe('writeWholeFile', () => {
  test('writes a new file for its owner, and replaces it with another mode', async (t) => {
    const folder = temporaryFolder(t)
    const path = join(folder, 'file')
    await writeWholeFile(path, 'first\n')
    assert.equal(statSync(path).mode & 0o777, 0o600)
    await writeWholeFile(path, [Buffer.from('sec'), Buffer.from('ond\n')], { mode: 0o644 })
    assert.equal(statSync(path).mode & 0o777, 0o644)
    assert.equal(readFileSync(path, 'utf8'), 'second\n')
    assert.deepEqual(readdirSync(folder), ['file'])
  })

  test('replaces what a crash has left, and does not follow it', async (t) => {
    const folder = temporaryFolder(t, { file: 'old\n', other: 'other\n' })
    symlinkSync('other', join(folder, 'file.kubedoh'))
    await writeWholeFile(join(folder, 'file'), 'new\n')
    assert.equal(readFileSync(join(folder, 'file'), 'utf8'), 'new\n')
    assert.equal(readFileSync(join(folder, 'other'), 'utf8'), 'other\n')
    assert.deepEqual(readdirSync(folder).sort(), ['file', 'other'])
  })

  test('leaves the previous file alone if the new one is refused', async (t) => {
    const folder = temporaryFolder(t, { file: 'old\n' })
    const seen: string[] = []
    const place = async (temporary: string): Promise<void> => {
      seen.push(readFileSync(temporary, 'utf8'))
      throw new Error('refused')
    }
    await assert.rejects(writeWholeFile(join(folder, 'file'), 'new\n', { place }), /refused/)
    assert.deepEqual(seen, ['new\n'])
    assert.equal(readFileSync(join(folder, 'file'), 'utf8'), 'old\n')
    assert.deepEqual(readdirSync(folder), ['file'])
  })

  test('syncs the prepared content before the file gets its path', async () => {
    const disk = new FakeDisk()
    const steps: string[] = []
    disk.before = (operation) => steps.push(operation)
    const prepare = (): unknown => steps.push('prepare')
    await writeWholeFile('/file', 'text', { fs: disk, prepare })
    assert.deepEqual(
      steps.filter((step) => step !== 'fstat'),
      ['rm', 'open', 'write', 'prepare', 'sync', 'rename'],
    )
  })
})
