import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { isBrace, readLexemes } from '../../src/corefile/lexemes.ts'
import { findUnclosed } from '../../src/corefile/unclosed-brace.ts'
import { finish } from '../../src/dns/bytes/steps.ts'

describe('findUnclosed blames', () => {
  const cases: { name: string; text: string; blames: string; doubts: number | undefined }[] = [
    {
      name: 'the brace itself when nothing says more',
      text: 'a {\nlog\n',
      blames: '1:3: this "{" is not closed',
      doubts: undefined,
    },
    {
      name: 'the brace itself when no line is indented',
      text: 'a {\nlog {\nx\n}\nb {\ny\n}\n',
      blames: '1:3: this "{" is not closed',
      doubts: undefined,
    },
    {
      name: 'the block whose closing brace is too far left',
      text: 'a {\n  log {\n    x\n}\nb {\n  y\n}\n',
      blames:
        '2:7: this "{" is not closed: by its indentation, the "}" on line 4 closes the block of ' +
        'line 1',
      doubts: 2,
    },
    {
      name: 'the block within which another begins as far left',
      text: 'a {\n  log\n\nb {\n  y\n}\n',
      blames: '1:3: this "{" is not closed: a "}" is missing before line 4',
      doubts: 4,
    },
    {
      name: 'no block whose closing brace is too far right, as in NodeLocal DNSCache',
      text: 'a {\n    log\n    }\nb {\n    y\n    }\nc {\n',
      blames: '7:3: this "{" is not closed',
      doubts: undefined,
    },
    {
      name: 'no brace on the line of another',
      text: 'a { log { x }\n',
      blames: '1:3: this "{" is not closed',
      doubts: undefined,
    },
    {
      name: 'a quote that runs to the end',
      text: 'a {\n  log "x\n}\n',
      blames: '2:7: this quote is not closed',
      doubts: 2,
    },
  ]
  for (const { name, text, blames, doubts } of cases) {
    test(name, () => {
      const lexemes = finish(readLexemes(text, 'Corefile'))
      const opening = lexemes.findLast((lexeme) => isBrace(lexeme, '{') && lexeme.column === 3)
      const first = lexemes.find((lexeme) => isBrace(lexeme, '{')) ?? assert.fail()
      const isWhole = blames.startsWith('1:') || doubts !== undefined
      const found = findUnclosed(lexemes, isWhole ? first : (opening ?? first))
      assert.equal(`${found.at.line}:${found.at.column}: ${found.message}`, blames)
      assert.equal(found.doubtfulFrom?.line, doubts)
    })
  }

  test('ignores other files', () => {
    const before = finish(readLexemes('x {\n', '/etc/x'))
    const lexemes = finish(readLexemes('a {\n  log\n}\nb {\n', 'Corefile'))
    const opening = lexemes.at(-1) ?? assert.fail()
    assert.equal(findUnclosed([...before, ...lexemes], opening).at, opening)
  })
})
