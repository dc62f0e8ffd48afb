import assert from 'node:assert/strict'
import { constants, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { prepareStoreFolder } from '../../../src/server/gateway/store-folder.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'

/** Refuses a mode with a code. */
function refusing(mode: number, code: string): (path: string, mode: number) => void {
  return (_, wanted) => {
    if ((wanted & mode) !== 0) throw Object.assign(new Error(code), { code })
  }
}

describe('prepareStoreFolder', () => {
  test('creates a folder for its owner only', (t) => {
    const folder = join(temporaryFolder(t), 'a/b')
    assert.equal(prepareStoreFolder(folder), undefined)
    assert.equal(statSync(folder).mode & 0o777, 0o700)
  })

  for (const [code, reason] of [
    ['EROFS', 'the file system is read-only'],
    ['EACCES', 'permission denied'],
  ] as const) {
    test(`returns why a folder cannot be written: ${reason}`, (t) => {
      const access = refusing(constants.W_OK, code)
      assert.equal(prepareStoreFolder(temporaryFolder(t), access), reason)
    })
  }

  test('refuses a folder that cannot be read, and a file', (t) => {
    const folder = temporaryFolder(t)
    const access = refusing(constants.R_OK, 'EACCES')
    assert.throws(() => prepareStoreFolder(folder, access), { code: 'EACCES' })
    writeFileSync(join(folder, 'file'), '')
    assert.throws(() => prepareStoreFolder(join(folder, 'file/inside')), { code: 'ENOTDIR' })
  })
})
