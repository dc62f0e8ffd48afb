import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

const RUN = join(import.meta.dirname, '../../src/cli/run.ts')

test('a process says what the command says, with its exit status', () => {
  const args = [RUN, 'keys', 'Not An Identifier']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.deepEqual([status, stdout], [1, ''])
  assert.match(stderr, /^kubedoh: "Not An Identifier" is not made of [^\n]*\n$/)
})
