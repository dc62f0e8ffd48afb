import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

test('returnMemoryEarly sets a flag that this V8 has', () => {
  const module = import.meta.resolve('../../src/shim/early-memory.ts')
  const program = `(await import(${JSON.stringify(module)})).returnMemoryEarly()`
  const args = ['--input-type=module', '--eval', program]
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.deepEqual([status, stderr], [0, ''])
  const unknown = spawnSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
  assert.match(unknown.stdout, /--gc-memory-reducer-start-delay-ms /)
})
