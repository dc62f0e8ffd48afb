import { deepEqual, throws } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parsePattern } from '../../src/pattern/parse-pattern.ts'

describe('parsePattern', () => {
  test('numbers groups from left to right', () => {
    const { groupNames } = parsePattern('(a(?P<inner>b))(?:c)(?<last>d)')
    deepEqual(groupNames, ['', '', 'inner', 'last'])
  })

  const refused: { source: string; message: string }[] = [
    { source: '(a', message: 'a "(" is never closed' },
    { source: 'a)', message: '")" closes nothing' },
    { source: '[a', message: 'a "[" is never closed' },
    { source: '[b-a]', message: '"b-a" in brackets is not a range' },
    { source: '*a', message: '"*" has nothing to repeat' },
    { source: 'a**', message: '"**" repeats a repeat' },
    { source: 'a{3,2}', message: '"{3,2}" is not a number of repeats up to 1000' },
    { source: '(?=a)', message: '"(?=a" is not understood: Go has no look-around' },
    { source: '(?P<a-b>c)', message: '"a-b" cannot name a group' },
    { source: 'a\\', message: 'it ends with a backslash' },
    { source: '\\1', message: '"\\1" means nothing in Go\'s expressions' },
    { source: '\\p{Nope}', message: '"\\p{Nope}" names no kind of characters' },
    { source: '[[:nope:]]', message: '"[:nope:]" names no kind of characters' },
    { source: '\\x{110000}', message: '"\\x{110000}" is no character' },
  ]
  for (const { source, message } of refused) {
    test(`says what is wrong with ${source}`, () => {
      throws(() => parsePattern(source), { name: 'PatternError', message })
    })
  }
})
