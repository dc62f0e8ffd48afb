import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { answers, answersOnStream, isQuestionless } from '../../../src/server/upstream/answers.ts'
import { ACCEPTED, QUERY, QUESTIONLESS, STRAYS } from '../answer-samples.ts'

describe('answers', () => {
  for (const { name, message } of ACCEPTED) {
    test(`takes ${name}`, () => {
      assert.equal(answers(message, QUERY), true)
      assert.equal(answersOnStream(message, QUERY), true)
    })
  }
  for (const { name, message } of STRAYS) {
    test(`passes over ${name}`, () => {
      assert.equal(answers(message, QUERY), false)
      assert.equal(answersOnStream(message, QUERY), false)
      assert.equal(isQuestionless(message, QUERY), false)
    })
  }
  for (const { name, message } of QUESTIONLESS) {
    test(`takes ${name} over a connection only`, () => {
      assert.equal(answers(message, QUERY), false)
      assert.equal(answersOnStream(message, QUERY), true)
      assert.equal(isQuestionless(message, QUERY), true)
    })
  }

  test('never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (message) => {
        answers(Uint8Array.of(...QUERY.subarray(0, 2), 0x80, 0, ...message), QUERY)
      }),
    )
  })
})
