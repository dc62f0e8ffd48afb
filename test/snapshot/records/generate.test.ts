import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { generateLine, parseRange } from '../../../src/snapshot/records/zone-file.ts'

describe('a range', () => {
  const cases: { text: string; is: [number, number, number] | undefined }[] = [
    { text: '1-10', is: [1, 10, 1] },
    { text: '0-64/2', is: [0, 64, 2] },
    { text: '5-5', is: [5, 5, 1] },
    { text: '1-65536', is: [1, 65_536, 1] },
    { text: '0-65536', is: undefined },
    { text: '0-131070/2', is: [0, 131_070, 2] },
    { text: '2-1', is: undefined },
    { text: '1-2/0', is: undefined },
    { text: '1', is: undefined },
    { text: '-1-2', is: undefined },
    { text: '1-', is: undefined },
    { text: '1-2/', is: undefined },
    { text: 'a-b', is: undefined },
    { text: '2147483640-2147483648', is: undefined },
  ]
  for (const { text, is } of cases) {
    test(`${text} is ${is === undefined ? 'none' : is.join(', ')}`, () => {
      const range = parseRange(text)
      assert.deepEqual(range && [range.first, range.last, range.step], is)
    })
  }
})

// A percent sign stands for a dollar before a brace.
describe('a generated line', () => {
  const cases: { name: string; template: string; line: string | undefined }[] = [
    { name: 'has the number for a dollar', template: 'h$ A 10.0.0.$', line: 'h12 A 10.0.0.12' },
    { name: 'may have no number', template: 'h A', line: 'h A' },
    { name: 'adds an offset', template: '%{3}', line: '15' },
    { name: 'takes an offset away', template: '%{-12}', line: '0' },
    { name: 'fills up with zeros', template: '%{0,4}', line: '0012' },
    { name: 'takes base 16', template: '%{0,2,x}', line: '0c' },
    { name: 'takes base 16 in capitals', template: '%{1,0,X}', line: 'D' },
    { name: 'takes base 8', template: '%{0,0,o}', line: '14' },
    { name: 'takes base 10', template: '%{0,3,d}', line: '012' },
    { name: 'has a dollar for two', template: '$$$', line: '$12' },
    { name: 'has a dollar for an escaped one', template: '\\$$', line: '$12' },
    { name: 'keeps other escapes', template: 'a\\.$', line: 'a\\.12' },
    { name: 'refuses a number below zero', template: '%{-13}', line: undefined },
    { name: 'refuses a number over 31 bits', template: '%{2147483640}', line: undefined },
    { name: 'refuses an open brace', template: '%{1', line: undefined },
    { name: 'refuses another base', template: '%{0,0,n}', line: undefined },
    { name: 'refuses a width over 255', template: '%{0,256}', line: undefined },
    { name: 'refuses a word', template: '%{x}', line: undefined },
    { name: 'refuses empty text', template: '%{}', line: undefined },
  ]
  for (const { name, template, line } of cases) {
    test(name, () => {
      assert.equal(generateLine(template.replace('%', '$'), 12), line)
    })
  }
})
