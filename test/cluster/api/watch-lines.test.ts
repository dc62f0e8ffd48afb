import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'vitest'
import { readLines } from '../../../src/cluster/api/watch-lines.ts'
import { settle } from '../follow/fake-clock.ts'

async function linesOf(...chunks: readonly Uint8Array[]): Promise<string[]> {
  const lines: string[] = []
  await readLines(Readable.from(chunks), (line) => lines.push(line))
  return lines
}

describe('readLines', () => {
  const cases: { name: string; chunks: string[]; lines: string[] }[] = [
    { name: 'no chunk', chunks: [], lines: [] },
    { name: 'several lines in one chunk', chunks: ['a\nbc\n'], lines: ['a', 'bc'] },
    { name: 'a line over three chunks', chunks: ['a', 'b', 'c\nd\n'], lines: ['abc', 'd'] },
    { name: 'a line end in a chunk of its own', chunks: ['a', '\n', 'b\n'], lines: ['a', 'b'] },
    { name: 'a last line without an end', chunks: ['a\nb'], lines: ['a', 'b'] },
    { name: 'empty lines', chunks: ['\n\na\n\n'], lines: ['a'] },
  ]
  for (const { name, chunks, lines } of cases) {
    test(`reads ${name}`, async () => {
      assert.deepEqual(await linesOf(...chunks.map((text) => Buffer.from(text))), lines)
    })
  }

  test('reads a character over two chunks', async () => {
    const bytes = Buffer.from('ü\n')
    assert.deepEqual(await linesOf(bytes.subarray(0, 1), bytes.subarray(1)), ['ü'])
  })

  test('refuses a line over another bound with its error', async () => {
    const tooLong = (): Error => new Error('over 2')
    const chunks = Readable.from([Buffer.from('ab\nabc')])
    const lines: string[] = []
    const reading = readLines(chunks, (line) => lines.push(line), { charsMax: 2, tooLong })
    await assert.rejects(reading, { message: 'over 2' })
    assert.deepEqual(lines, ['ab'])
  })

  test('refuses a line that does not end', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 'x')
    const endless = Array.from({ length: 17 }, () => chunk)
    await assert.rejects(linesOf(...endless), { message: 'a line of the watch is too long' })
  })

  test('reads no further line before the promise of one resolves', async () => {
    const lines: string[] = []
    const waiting = Promise.withResolvers<void>()
    const chunks = Readable.from([Buffer.from('a\nb\nc'), Buffer.from('d\ne')])
    const reading = readLines(chunks, (line) => {
      lines.push(line)
      return line === 'a' ? waiting.promise : undefined
    })
    await settle()
    assert.deepEqual(lines, ['a'])
    waiting.resolve()
    await reading
    assert.deepEqual(lines, ['a', 'b', 'cd', 'e'])
  })
})
