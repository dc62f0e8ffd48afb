import assert from 'node:assert/strict'
import { constants } from 'node:http2'
import { describe, test } from 'node:test'
import {
  CONTINUATIONS_MAX,
  FRAME_BYTES_MAX,
  HEADER_BLOCK_BYTES_MAX,
  HEADER_TABLE_BYTES_MAX,
  STREAMS_MAX,
  WINDOW_BYTES_DEFAULT,
} from '../../src/http2/bounds.ts'

describe('the bounds', () => {
  test('are those of RFC 9113 §6.5.2 where nothing is told', () => {
    assert.equal(FRAME_BYTES_MAX, constants.DEFAULT_SETTINGS_MAX_FRAME_SIZE)
    assert.equal(HEADER_TABLE_BYTES_MAX, constants.DEFAULT_SETTINGS_HEADER_TABLE_SIZE)
    assert.equal(WINDOW_BYTES_DEFAULT, constants.DEFAULT_SETTINGS_INITIAL_WINDOW_SIZE)
  })

  test('let a header block come in frames that are full, and a hundred streams be', () => {
    assert.ok(HEADER_BLOCK_BYTES_MAX <= CONTINUATIONS_MAX * FRAME_BYTES_MAX)
    assert.ok(STREAMS_MAX >= 100)
  })
})
