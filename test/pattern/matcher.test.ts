import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Matcher } from '../../src/pattern/matcher.ts'
import { parsePattern } from '../../src/pattern/parse-pattern.ts'
import { compileProgram } from '../../src/pattern/program.ts'

function matcherOf(source: string): Matcher {
  const { root, groupNames } = parsePattern(source)
  return new Matcher(compileProgram(root), groupNames.length)
}

describe('Matcher', () => {
  const cases: { source: string; text: string; slots: number[] | undefined }[] = [
    { source: 'b+', text: 'abbb', slots: [1, 4] },
    { source: 'b+?', text: 'abbb', slots: [1, 2] },
    { source: '(a)|(b)', text: 'b', slots: [0, 1, -1, -1, 0, 1] },
    { source: '(a*)*', text: 'aa', slots: [0, 2, 0, 2] },
    { source: '^b', text: 'ab', slots: undefined },
    { source: '(?m)^b$', text: 'a\nb\nc', slots: [2, 3] },
    { source: '\\bb\\b', text: 'ab b', slots: [3, 4] },
    { source: '.', text: '😀', slots: [0, 2] },
    { source: 'a$', text: 'a\n', slots: undefined },
  ]
  for (const { source, text, slots } of cases) {
    test(`finds ${source} in ${JSON.stringify(text)}`, () => {
      deepEqual(matcherOf(source).run(text), slots)
    })
  }

  test('forgets one text before the next', () => {
    const matcher = matcherOf('a(b)?')
    deepEqual(matcher.run('ab'), [0, 2, 1, 2])
    deepEqual(matcher.run('a'), [0, 1, -1, -1])
    equal(matcher.run('c'), undefined)
  })
})
