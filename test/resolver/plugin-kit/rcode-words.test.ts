import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { wrongRcode } from '../../../src/resolver/plugin-kit/rcode-words.ts'

describe('wrongRcode', () => {
  const at = { file: 'Corefile', line: 1, column: 1 }
  const cases: readonly (readonly [text: string, hint: string])[] = [
    ['SUCCESS', '; write NOERROR'],
    ['Format-Error', '; write FORMERR'],
    ['RCODE_NAME_ERROR', '; write NXDOMAIN'],
    ['rcode', ': a name'],
    ['noerror', '; write NOERROR'],
    ['NXDOMAI', '; write NXDOMAIN'],
    ['5', '; write REFUSED'],
    ['12', ': a name'],
    ['something', ': a name'],
    ['', ': a name'],
  ]
  for (const [text, hint] of cases) {
    test(`says what "${text}" means, or what may be written`, () => {
      const [problem] = wrongRcode({ ...at, text }, ': a name').problems
      assert.equal(problem?.message, `"${text}" is not a response code${hint}`)
    })
  }
})
