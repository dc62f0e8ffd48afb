import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  ZoneFileError,
  type ZoneLine,
  ZoneScanner,
} from '../../../src/snapshot/records/zone-scanner.ts'

/** Lines as their words, joined by `|`; strings in quotes, words that touch the one before `+`. */
function scan(text: string): string[] {
  return lines(text).map(({ hasOwner, words }) => {
    const shown = words.map(({ text: word, isQuoted, isAttached }) => {
      return `${isAttached ? '+' : ''}${isQuoted ? `"${word}"` : word}`
    })
    return (hasOwner ? '' : '_|') + shown.join('|')
  })
}

function lines(text: string): ZoneLine[] {
  const scanner = new ZoneScanner('db.test', text)
  const found: ZoneLine[] = []
  for (let line = scanner.next(); line !== undefined; line = scanner.next()) found.push(line)
  return found
}

describe('lines of a zone file', () => {
  const cases: { name: string; text: string; is: string[] }[] = [
    { name: 'have words with blanks between', text: 'a b\tc\n', is: ['a|b|c'] },
    { name: 'may begin with a blank', text: ' a\n\tb', is: ['_|a', '_|b'] },
    { name: 'may end with a carriage return', text: 'a b\r\nc\r\n', is: ['a|b', 'c'] },
    { name: 'without words do not count', text: '\n  \n; x\n \t; y\na', is: ['a'] },
    { name: 'end at a comment', text: 'a ; b "c (\nd', is: ['a', 'd'] },
    { name: 'end at a comment that touches a word', text: 'a;b\nc', is: ['a', 'c'] },
    { name: 'go on within parentheses', text: 'a ( b\nc ; d )\n e ) f\ng', is: ['a|b|c|e|f', 'g'] },
    { name: 'take parentheses off words', text: 'a (b)c', is: ['a|b|c'] },
    { name: 'go on within parentheses in parentheses', text: 'a ((b\n)c\n) d', is: ['a|b|c|d'] },
    { name: 'have strings in quotes', text: 'a "b c" d', is: ['a|"b c"|d'] },
    { name: 'have empty strings', text: 'a ""', is: ['a|""'] },
    { name: 'keep what would mean something in quotes', text: '"(;)"', is: ['"(;)"'] },
    { name: 'go on within quotes', text: '"a\nb" c', is: ['"a\nb"|c'] },
    { name: 'report strings that touch', text: 'a="b""c"d', is: ['a=|+"b"|+"c"|+d'] },
    { name: 'keep escapes', text: 'a\\;b "c\\"d" e\\(', is: ['a\\;b|"c\\"d"|e\\('] },
    { name: 'escape blanks that belong to a word', text: 'a\\ b', is: ['a\\032b'] },
    { name: 'keep blanks in quotes', text: '"a\\ b\\\\ c"', is: ['"a\\ b\\\\ c"'] },
    {
      name: 'have bytes for characters beyond ASCII',
      text: 'é "\\€"',
      is: ['\\195\\169|"\\226\\130\\172"'],
    },
    { name: 'may be none', text: '', is: [] },
  ]
  for (const { name, text, is } of cases) {
    test(name, () => {
      assert.deepEqual(scan(text), is)
    })
  }

  test('know where their words are', () => {
    const words = lines('a ( bc\n "d\ne" f )\ng').flatMap(({ words: some }) => some)
    assert.deepEqual(
      words.map(({ text, line, column }) => `${line}:${column} ${text}`),
      ['1:1 a', '1:5 bc', '2:2 d\ne', '3:4 f', '4:1 g'],
    )
  })

  const wrong: { name: string; text: string; message: string }[] = [
    { name: 'an open parenthesis', text: 'a (\nb', message: 'db.test:2:2: a "(" is not closed' },
    {
      name: 'a closing parenthesis',
      text: 'a )',
      message: 'db.test:1:3: a ")" has no "(" before it',
    },
    { name: 'an open quote', text: '\n a "b\nc', message: 'db.test:2:4: a quote is not closed' },
    {
      name: 'an open quote with an escaped one',
      text: '"\\"',
      message: 'db.test:1:1: a quote is not closed',
    },
    {
      name: 'a backslash at the end of a line',
      text: 'a\\\nb',
      message: 'db.test:1:3: a backslash ends the line',
    },
    {
      name: 'a backslash at the end',
      text: 'a\\',
      message: 'db.test:1:3: a backslash ends the line',
    },
  ]
  for (const { name, text, message } of wrong) {
    test(`refuse ${name}`, () => {
      assert.throws(() => scan(text), new ZoneFileError(placeOf(message), reasonOf(message)))
    })
  }

  test('are found or refused, whatever the text', () => {
    const unit = fc.constantFrom('a', ' ', '\n', '"', '\\', ';', '(', ')', '0', 'é', '\t')
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 40 }), (text) => {
        try {
          for (const { words } of lines(text)) assert.ok(words.length > 0)
        } catch (error) {
          assert.ok(error instanceof ZoneFileError)
        }
      }),
      { numRuns: 2000 },
    )
  })
})

function placeOf(message: string): { file: string; line: number; column: number } {
  const [file = '', line = '', column = ''] = message.split(':')
  return { file, line: Number(line), column: Number(column) }
}

function reasonOf(message: string): string {
  return message.slice(message.indexOf(': ') + 2)
}
