/**
 * docs/faq.md: short answers, with a link each, and with commands and flags that exist.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { FLAGS } from '../../src/cli/flags/flags.ts'
import { codes, read } from './pages.ts'

const [, ...ANSWERS] = read('docs/faq.md').split(/^## /m)

describe('docs/faq.md', () => {
  test('has 12 to 18 questions', () => {
    assert.ok(ANSWERS.length >= 12 && ANSWERS.length <= 18)
  })

  for (const answer of ANSWERS) {
    const [question = '', ...lines] = answer.trim().split('\n')
    test(`${question} has an answer of two to five sentences with a link`, () => {
      const text = lines.join(' ').trim()
      assert.match(question, /\?$/)
      const sentences = text.split(/[.?](?=\s|$)/).length - 1
      assert.ok(sentences >= 2 && sentences <= 5, `${sentences} sentences`)
      assert.match(text, /\]\([\w./#-]+\)/)
    })

    test(`${question} names commands and flags that exist`, () => {
      for (const code of codes(answer.replaceAll('\n', ' '))) {
        const [, command] = /^kubedoh ([a-z-]+(?: create)?)/.exec(code) ?? []
        const isKnown = COMMANDS.some(({ name }) => name === command)
        assert.ok(command === undefined || isKnown, code)
        for (const [, flag = ''] of code.matchAll(/--([a-z-]+)/g)) {
          assert.ok(Object.hasOwn(FLAGS, flag), code)
        }
      }
    })
  }
})
