import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ReceiveWindow } from '../../src/http2/receive-window.ts'

describe('ReceiveWindow', () => {
  test('takes 65,535 bytes, and not one more', () => {
    const window = new ReceiveWindow()
    assert.equal(window.take(65_535), true)
    assert.equal(window.isOpen, false)
    assert.equal(window.take(1), false)
  })

  test('is opened again when half of it is consumed, not for each byte', () => {
    const window = new ReceiveWindow()
    assert.ok(window.take(65_535))
    assert.equal(window.credit(32_767), 0)
    assert.equal(window.credit(1), 32_768)
    assert.equal(window.take(32_768), true)
    assert.equal(window.take(1), false)
  })
})
