import assert from 'node:assert/strict'
import { constants } from 'node:http2'
import { describe, test } from 'node:test'
import { CLIENT_PREFACE, ERROR_CODE, FLAG, FRAME } from '../../src/http2/frame.ts'

describe('what is on the wire', () => {
  test('has the codes that Node has for errors', () => {
    for (const [name, code] of Object.entries(ERROR_CODE)) {
      const known = name === 'NO_ERROR' ? 0 : Reflect.get(constants, `NGHTTP2_${name}`)
      assert.equal(code, known, name)
    }
  })

  test('has the flags that Node has', () => {
    for (const [name, flag] of Object.entries(FLAG)) {
      assert.equal(flag, Reflect.get(constants, `NGHTTP2_FLAG_${name}`), name)
    }
  })

  test('has ten types of frames, by the order of RFC 9113 §6', () => {
    assert.deepEqual(Object.values(FRAME), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    assert.equal(CLIENT_PREFACE.length, 24)
  })
})
