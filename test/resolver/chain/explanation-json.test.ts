import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { UNEXPLAINED } from '../../../src/resolver/chain/explain.ts'
import { explanationJson } from '../../../src/resolver/chain/explanation-json.ts'
import { parseQuestion, writeReplyText } from '../../message-text.ts'

const { message } = parseQuestion('web.a.test A')
const reply = writeReplyText(['NXDOMAIN aa', 'authority: a.test. 5 IN NS ns.a.test.'], message)

describe('explanationJson', () => {
  test('has null for missing values, so that every field exists', () => {
    assert.deepEqual(explanationJson({ ...UNEXPLAINED, reply }, null), {
      question: { name: 'web.a.test.', type: 'A' },
      status: 'NXDOMAIN',
      answer: [],
      authority: ['a.test. 5 IN NS ns.a.test.'],
      additional: [],
      records: [],
      reason: null,
      serverBlock: null,
      plugins: [],
      facts: [],
      view: null,
    })
  })

  test('is undefined without a response', () => {
    assert.equal(explanationJson({ ...UNEXPLAINED, reply: undefined }, null), undefined)
  })
})
