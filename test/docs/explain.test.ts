/**
 * The examples of docs/explain.md print what the page has; `…` stands for times and more lines.
 * @module
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { runCli } from '../cli/run-cli.ts'
import { codes, filesBelow, read, section, tableRows } from './pages.ts'

const PAGE = read('docs/explain.md')

const examples = [...PAGE.matchAll(/```\n([\s\S]*?)```/g)]
  .flatMap(([, block = '']) => block.split(/^\$ kubedoh /m).slice(1))
  .map((example) => {
    const [command = '', ...lines] = example.trimEnd().split('\n')
    const [words = '', pattern] = command.split(' | grep ')
    return { words, pattern, lines: lines.filter((line) => line !== '' && line !== '…') }
  })

describe('examples of docs/explain.md', () => {
  test('exist', () => {
    assert.ok(examples.length >= 3)
  })

  for (const { words, pattern, lines } of examples) {
    test(words, async () => {
      const { stdout, stderr } = await runCli(words.split(' '))
      const printed = stdout.split('\n').filter((line) => line !== '')
      const shown = printed.filter((line) => pattern === undefined || line.includes(pattern))
      const expected = lines.map((line) => {
        const parts = line.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
        return new RegExp(`^${parts.join('\\S+')}$`)
      })
      assert.ok(expected.length <= shown.length, `${stdout}${stderr}`)
      for (const [i, line] of expected.entries()) assert.match(shown[i] ?? '', line)
    })
  }
})

test('docs/explain.md has every reason of the code, and no other', () => {
  const files = filesBelow('src/resolver', '.ts')
  const text = [...files, 'src/gateway/routes/gateway.ts'].map(read).join('\n')
  const calls = [...text.matchAll(/\b(?:why|because)\(\s*'(\w+)'/g)]
  const fields = [...text.matchAll(/\bcode: (?:isImplied \? )?'(\w+)'(?: : '(\w+)')?[, ]/g)]
  const found = [...calls, ...fields].flatMap(([, a, b]) => [a, b]).filter((one) => one != null)
  const states = ['missing', 'expired', 'partial'].map((state) => `snapshot_${state}`)
  const listed = tableRows(section(PAGE, '## Reasons')).flatMap(([cell = '']) => codes(cell))
  assert.deepEqual([...listed].sort(), [...new Set([...found, ...states])].sort())
})
