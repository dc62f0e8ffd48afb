import assert from 'node:assert/strict'
import { test } from 'vitest'
import { describeReply } from '../../page/answer.ts'
import { parseQuestion, writeReplyText } from '../message-text.ts'

function described(question: string, lines: readonly string[]): unknown {
  return describeReply(writeReplyText(lines, parseQuestion(question).message))
}

test('a response has a sentence and rows', () => {
  const srv = 'web.test. 30 IN SRV 0 33 5432 db-0.test.'
  assert.deepEqual(described('web.test SRV', ['NOERROR', srv]), {
    status: 'NOERROR',
    tone: 'good',
    sentence: '1 endpoint.',
    rows: [
      {
        name: 'web.test',
        type: 'SRV',
        ttl: '30 s',
        data: 'port 5432 at db-0.test',
        detail: 'priority 0, weight 33',
      },
    ],
  })
})

test('the status and the records decide the sentence', () => {
  const cases: [string, readonly string[], string][] = [
    [
      'a.test A',
      ['NOERROR', 'a.test. 5 IN A 192.0.2.1', 'a.test. 5 IN A 192.0.2.2'],
      '2 addresses.',
    ],
    ['a.test A', ['NOERROR', 'a.test. 5 IN CNAME b.test.'], '1 record.'],
    ['a.test TXT', ['NOERROR', 'a.test. 5 IN TXT "x"'], '1 record.'],
    ['a.test A', ['NOERROR'], 'The name has no A records.'],
    ['a.test A', ['NXDOMAIN'], 'No such name.'],
    ['a.test A', ['REFUSED'], 'This gateway does not serve the name.'],
    ['a.test A', ['SERVFAIL'], 'The gateway could not answer.'],
  ]
  for (const [question, lines, sentence] of cases) {
    const found = described(question, lines) as { sentence: string }
    assert.equal(found.sentence, sentence, question)
  }
})

test('bytes that are no response have no description', () => {
  assert.equal(describeReply(new Uint8Array(12)), undefined)
  assert.equal(describeReply(Uint8Array.of(1, 2, 3)), undefined)
})
