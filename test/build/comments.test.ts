import assert from 'node:assert/strict'
import { test } from 'vitest'
import { wideComments, wrapComments } from '../../build/comments.ts'

const LONG = `${'word '.repeat(18)}the end of it.`
const FULL = 'word '.repeat(18).trim()

test('wraps a wide line of a comment, and goes on in its sentence', () => {
  const text = `/**\n * ${LONG}\n * More of it.\n *\n * @module\n */\n`
  assert.deepEqual(wideComments(text), [2])
  const wrapped = `/**\n * ${FULL} the end\n * of it. More of it.\n *\n * @module\n */\n`
  assert.equal(wrapComments(text), wrapped)
  assert.deepEqual(wideComments(wrapped), [])
})

test('wraps a comment of one line', () => {
  assert.equal(
    wrapComments(`  /** ${LONG} */\n  a(): void\n`),
    `  /**\n   * ${FULL} the\n   * end of it.\n   */\n  a(): void\n`,
  )
  assert.equal(
    wrapComments(`// ${LONG}\nconst a = 1\n`),
    `// ${FULL} the end\n// of it.\nconst a = 1\n`,
  )
})

test('leaves tags, rows of tables and long words', () => {
  const lines = [` * @param a ${LONG}`, ` * | ${LONG} |`, ` * ${'x'.repeat(120)}`, `const a = 1`]
  const text = lines.join('\n')
  assert.deepEqual(wideComments(text), [1])
  assert.equal(wrapComments(` * | ${LONG} |`), ` * | ${LONG} |`)
  assert.match(
    wrapComments(`${lines[0]}\n * @returns b`),
    /^ \* @param .*\n \* .*\n \* @returns b$/,
  )
})
