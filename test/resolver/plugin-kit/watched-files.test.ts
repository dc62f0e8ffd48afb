import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { WatchedFiles } from '../../../src/resolver/plugin-kit/watched-files.ts'
import { FakeHost } from '../../fake-host.ts'

async function watch(...paths: string[]): Promise<{ host: FakeHost; files: WatchedFiles }> {
  const host = new FakeHost({ files: { a: 'a', b: 'b' } })
  const files = new WatchedFiles(host)
  files.clear()
  for (const path of paths) await files.read(path).catch(() => undefined)
  await host.advance(60_000)
  return { host, files }
}

describe('WatchedFiles', () => {
  const CASES: { name: string; paths: string[]; write?: string; isUnchanged: boolean }[] = [
    { name: 'are unchanged while none was written', paths: ['a', 'b'], isUnchanged: true },
    {
      name: 'have changed once one was written',
      paths: ['a', 'b'],
      write: 'b',
      isUnchanged: false,
    },
    { name: 'do not count files that were not read', paths: ['a'], write: 'b', isUnchanged: true },
    { name: 'are to be read if one did not exist', paths: ['a', 'c'], isUnchanged: false },
    { name: 'are to be read before the first read', paths: [], isUnchanged: false },
  ]
  test.for(CASES)('$name', async ({ paths, write, isUnchanged }) => {
    const { host, files } = await watch(...paths)
    if (write !== undefined) host.files.set(write, 'x')
    assert.equal(files.isUnchanged, isUnchanged)
  })

  test('have changed when the size did, whatever the time', async () => {
    const { host, files } = await watch('a')
    const writtenMs = host.fileState('a')?.modifiedMs ?? 0
    host.files.set('a', 'aa')
    host.files.writtenMs.set('a', writtenMs)
    assert.equal(files.isUnchanged, false)
  })

  const TIMES = [
    { name: 'soon after a write, in whole seconds', writtenMs: -1000, isUnchanged: false },
    { name: 'long after a write, in whole seconds', writtenMs: -3000, isUnchanged: true },
    { name: 'soon after a write, in milliseconds', writtenMs: -19, isUnchanged: false },
    { name: 'some milliseconds after a write', writtenMs: -21, isUnchanged: true },
  ]
  test.for(TIMES)('that were read $name', async ({ writtenMs, isUnchanged }) => {
    const host = new FakeHost({ files: { a: 'a' } })
    host.files.writtenMs.set('a', host.now() + writtenMs)
    const files = new WatchedFiles(host)
    files.clear()
    await files.read('a')
    assert.equal(files.isUnchanged, isUnchanged)
  })

  test('reject with the reason if a file cannot be read', async () => {
    const { files } = await watch()
    await assert.rejects(files.read('c'), new Error('no such file'))
  })
})
