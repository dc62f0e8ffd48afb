import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'vitest'
import { checkingHost } from '../../src/cli/checking-host.ts'
import { formatProblem } from '../../src/corefile/problem.ts'
import { block, parseBlocks } from '../ask.ts'
import { temporaryFolder } from '../exporter/temporary-folder.ts'

test('remembers missing files and where the Corefile names them', (t) => {
  const folder = temporaryFolder(t, { 'a.txt': 'a' })
  const { host, missing } = checkingHost(folder, 'serve')
  const blocks = parseBlocks(block('hosts a.txt', 'hosts b.txt', 'forward . c.txt'))
  assert.deepEqual(missing(blocks), [])
  assert.equal(host.readText('a.txt'), 'a')
  assert.equal(host.readText('b.txt'), undefined)
  assert.equal(host.readText('c.txt'), undefined)
  assert.deepEqual(missing(blocks).map(formatProblem), [
    `Corefile:3:9: "${join(folder, 'b.txt')}" is missing or unreadable`,
  ])
})

test('has no files and only edge plugins for a Worker', (t) => {
  const { host } = checkingHost(temporaryFolder(t, { 'a.txt': 'a' }), 'worker')
  assert.equal(host.readText('a.txt'), undefined)
  assert.ok(host.plugins.has('hosts') && !host.plugins.has('file'))
})
