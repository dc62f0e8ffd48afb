import assert from 'node:assert/strict'
import { test } from 'vitest'
import { isFromWorker, isToWorker } from '../../src/server/worker-messages.ts'

const TO = [{ kind: 'stop' }, { kind: 'query', id: 1, what: 'metrics' }, { kind: 'snapshot' }]
const FROM = [
  { kind: 'serving', ports: [53] },
  { kind: 'reply', id: 1, lines: [] },
]
const NEITHER = [undefined, null, 'stop', 7, {}, { kind: 'other' }, { kind: ['stop'] }]

test('messages are recognized by kind and direction', () => {
  for (const message of TO)
    assert.deepEqual([isToWorker(message), isFromWorker(message)], [true, false])
  for (const message of FROM)
    assert.deepEqual([isToWorker(message), isFromWorker(message)], [false, true])
  for (const message of NEITHER) {
    assert.deepEqual([isToWorker(message), isFromWorker(message)], [false, false])
  }
})
