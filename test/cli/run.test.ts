import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'vitest'

const RUN = join(import.meta.dirname, '../../src/cli/run.ts')

test('a process prints the command’s message and exits with its status', () => {
  const args = [RUN, 'keys', 'Not An Identifier']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.deepEqual([status, stdout], [1, ''])
  assert.match(stderr, /^kubedoh: "Not An Identifier": use at most [^\n]*\n$/)
})

for (const [stream, args, status] of [
  ['stdout', ['--help'], 0],
  ['stderr', ['keys', 'Not An Identifier'], 1],
] as const) {
  test(`a process whose ${stream} nobody reads ends without a stack trace`, async () => {
    const child = spawn(process.execPath, [RUN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    child[stream].destroy()
    const other = stream === 'stdout' ? child.stderr : child.stdout
    let text = ''
    other.on('data', (chunk) => {
      text += String(chunk)
    })
    const [code, signal] = await once(child, 'close')
    assert.deepEqual([code, signal, text], [status, null, ''])
  })
}
