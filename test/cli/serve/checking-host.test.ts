import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'vitest'
import { checkingHost } from '../../../src/cli/serve/checking-host.ts'
import { formatProblem } from '../../../src/corefile/problem.ts'
import { readVariableFiles } from '../../../src/gateway/config/variable-files.ts'
import { block, parseBlocks } from '../../ask.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'

test('notes missing files and where the Corefile names them', (t) => {
  const folder = temporaryFolder(t, { 'a.txt': 'a' })
  const { host, warnings } = checkingHost({ folder, isToCopy: false }, 'serve')
  const blocks = parseBlocks(block('hosts a.txt', 'hosts b.txt', 'forward . c.txt'))
  assert.deepEqual(warnings(blocks), [])
  assert.equal(host.readText('a.txt'), 'a')
  assert.equal(host.readText('b.txt'), undefined)
  assert.equal(host.readText('c.txt'), undefined)
  assert.deepEqual(warnings(blocks).map(formatProblem), [
    `Corefile:3:9: "${join(folder, 'b.txt')}" is missing or unreadable`,
  ])
})

test('notes the files that a Worker needs in its variables', (t) => {
  const folder = temporaryFolder(t, { 'a.txt': 'a' })
  const { host, warnings } = checkingHost({ folder, isToCopy: true }, 'worker')
  assert.equal(host.readText('a.txt'), 'a')
  assert.equal(host.readBytes, undefined)
  assert.deepEqual(warnings(parseBlocks(block('hosts a.txt'))).map(formatProblem), [
    `Corefile:2:9: "${join(folder, 'a.txt')}" is a file: a Worker has it only if its text is in ` +
      'the variable FILES',
  ])
})

test('reads files from variables instead', (t) => {
  const folder = temporaryFolder(t, { 'a.txt': 'a' })
  const host = readVariableFiles({ FILES: { 'b.txt': 'b' } })
  const checking = checkingHost({ folder, host, isToCopy: false }, 'worker')
  assert.equal(checking.host.readText('a.txt'), undefined)
  assert.equal(checking.host.readText('b.txt'), 'b')
})
