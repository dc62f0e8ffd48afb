import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { createMemoryDirectory } from '../../../src/gateway/access/cluster-directory.ts'
import { createFileDirectory } from '../../../src/server/gateway/file-directory.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { DIRECTORY_PROMISES, directoryEntry } from '../../gateway/directory-contract.ts'

describe('the directory of clusters', () => {
  for (const { name, hold } of DIRECTORY_PROMISES) {
    test(`in memory ${name}`, () => hold(createMemoryDirectory()))
    test(`in a file ${name}`, (t) => {
      const path = join(temporaryFolder(t), 'new', 'clusters.jsonl')
      return hold(createFileDirectory(path, { onBroken: (file) => assert.fail(file) }))
    })
  }

  test('loses no other cluster to a broken line, which is set aside', async (t) => {
    const path = join(temporaryFolder(t), 'clusters.jsonl')
    const broken: string[] = []
    const onBroken = (file: string, line: number): void => void broken.push(`${file}:${line}`)
    const directory = createFileDirectory(path, { onBroken })
    await directory.add(directoryEntry('a'))
    await directory.add(directoryEntry('b'))
    const text = readFileSync(`${path}.2`, 'utf8')
    writeFileSync(`${path}.2`, text.replace('"one"', '"two"'))
    const again = createFileDirectory(path, { onBroken })
    assert.deepEqual(await again.list(), [directoryEntry('b')])
    assert.deepEqual(broken, ['clusters.jsonl.2:1'])
    await again.remove('b')
    assert.match(readFileSync(`${path}.broken`, 'utf8'), /"two"/)
  })
})
