import assert from 'node:assert/strict'
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { devNull } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { loadFile, readTextFile } from '../../../src/server/node/read-files.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'

describe('readTextFile', () => {
  const cases: { name: string; path: string; text: string | undefined }[] = [
    { name: 'reads UTF-8', path: 'file', text: 'ä\n' },
    { name: 'reads an empty file', path: 'empty', text: '' },
    { name: 'finds no file that is missing', path: 'missing', text: undefined },
    { name: 'takes no folder for a file', path: 'folder', text: undefined },
    { name: 'finds nothing below a file', path: 'file/below', text: undefined },
    { name: 'reads nothing over 64 MiB', path: 'large', text: undefined },
  ]
  for (const { name, path, text } of cases) {
    test(name, (t) => {
      const folder = temporaryFolder(t)
      mkdirSync(join(folder, 'folder'))
      writeFileSync(join(folder, 'file'), 'ä\n')
      for (const file of ['empty', 'large']) writeFileSync(join(folder, file), '')
      // Takes no room: what was never written is a hole.
      truncateSync(join(folder, 'large'), 64 * 1024 * 1024 + 1)
      assert.equal(readTextFile(join(folder, path)), text)
    })
  }
})

test('/dev/null is an empty file, no other device is one', async () => {
  assert.equal(readTextFile(devNull), '')
  assert.equal((await loadFile(devNull)).length, 0)
  await assert.rejects(loadFile('/dev/zero'))
})
