import assert from 'node:assert/strict'
import { closeSync, openSync } from 'node:fs'
import { describe, test } from 'vitest'
import { parseVirtualBytes, readProcessState } from '../../../src/server/node/process-state.ts'

describe('readProcessState', () => {
  test('counts open files, and has the size of the address space', async () => {
    const { openFiles = 0, virtualBytes = 0 } = await readProcessState()
    const opened = Array.from({ length: 50 }, () => openSync('/dev/null', 'r'))
    const more = (await readProcessState()).openFiles ?? 0
    for (const file of opened) closeSync(file)
    // Other tests of the process may open or close a few meanwhile.
    assert.ok(more - openFiles > 25 && more - openFiles < 75, `${openFiles}, then ${more}`)
    assert.ok(virtualBytes > process.memoryUsage.rss())
  })
})

describe('parseVirtualBytes', () => {
  const fields = Array.from({ length: 50 }, (_, i) => String(i + 3)).join(' ')
  const cases: [name: string, text: string, bytes: number | undefined][] = [
    ['field 23', `7 (node) ${fields}\n`, 23],
    ['field 23 of a program whose name looks like fields', `7 (a) 1 2) ${fields}`, 23],
    ['nothing of a text that is cut', '7 (node) S 1 2', undefined],
    ['nothing of other text', 'x', undefined],
  ]
  for (const [name, text, bytes] of cases) {
    test(`returns ${name}`, () => assert.equal(parseVirtualBytes(text), bytes))
  }
})
