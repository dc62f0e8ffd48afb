import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import { readText, replaceFile } from '../../../src/operators/node-local/replace-file.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'

function createFile(t: TestContext, text = 'old\n'): { folder: string; path: string } {
  const folder = temporaryFolder(t, { hosts: text })
  return { folder, path: join(folder, 'hosts') }
}

describe('replaceFile', () => {
  test('puts a new file with the mode of the old one in its place', async (t) => {
    const { folder, path } = createFile(t)
    chmodSync(path, 0o640)
    utimesSync(path, 1, 1)
    const { ino } = statSync(path)
    assert.equal(await replaceFile(path, (text) => `${text}new\xff\n`), 'replaced')
    assert.deepEqual(readFileSync(path), Buffer.from('old\nnew\xff\n', 'latin1'))
    const after = statSync(path)
    assert.equal(after.mode & 0o7777, 0o640)
    assert.notEqual(after.ino, ino)
    // CoreDNS's hosts plugin rereads a file when its time has changed.
    assert.notEqual(after.mtimeMs, 1000)
    assert.deepEqual(readdirSync(folder), ['hosts'])
  })

  test('does not touch a file whose content stays', async (t) => {
    const { path } = createFile(t)
    const { ino } = statSync(path)
    assert.equal(await replaceFile(path, (text) => text), 'unchanged')
    assert.equal(statSync(path).ino, ino)
  })

  test('follows a symbolic link and keeps it', async (t) => {
    const { folder, path } = createFile(t)
    const link = join(folder, 'link')
    symlinkSync('hosts', link)
    assert.equal(await replaceFile(link, () => 'new\n'), 'replaced')
    assert.ok(lstatSync(link).isSymbolicLink())
    assert.equal(readText(path), 'new\n')
  })

  test('includes a change that another program makes meanwhile', async (t) => {
    const { path } = createFile(t)
    let calls = 0
    const change = (text: string): string => {
      if (++calls === 1) writeFileSync(path, `${text}theirs\n`)
      return `${text}ours\n`
    }
    assert.equal(await replaceFile(path, change), 'replaced')
    assert.equal(readText(path), 'old\ntheirs\nours\n')
  })

  test('ends although another program changes the file all the time', async (t) => {
    const { path } = createFile(t)
    let calls = 0
    const change = (text: string): string => {
      writeFileSync(path, `${++calls}\n`)
      return `${text}ours\n`
    }
    assert.equal(await replaceFile(path, change), 'replaced')
    assert.equal(calls, 5)
  })

  test('removes the remains of a crash', async (t) => {
    const { folder, path } = createFile(t)
    writeFileSync(`${path}.kubedoh`, 'half')
    await replaceFile(path, () => 'new\n')
    assert.equal(readText(path), 'new\n')
    assert.deepEqual(readdirSync(folder), ['hosts'])
  })

  test('refuses a file that is missing or over 16 MiB', async (t) => {
    const { folder, path } = createFile(t)
    await assert.rejects(
      replaceFile(join(folder, 'none'), () => ''),
      { code: 'ENOENT' },
    )
    truncateSync(path, 16 * 1024 * 1024 + 1)
    await assert.rejects(
      replaceFile(path, () => ''),
      { code: 'EFBIG' },
    )
  })

  test('refuses what is no regular file, and leaves it', async (t) => {
    const { folder } = createFile(t)
    const path = join(folder, 'socket')
    const server = createServer().listen(path)
    await once(server, 'listening')
    t.onTestFinished(() => void server.close())
    await assert.rejects(
      replaceFile(path, () => ''),
      { code: 'EINVAL' },
    )
    assert.ok(lstatSync(path).isSocket())
    await assert.rejects(
      replaceFile(folder, () => ''),
      { code: 'EISDIR' },
    )
  })
})
