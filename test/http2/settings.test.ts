import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ERROR_CODE } from '../../src/http2/frame.ts'
import { ClientSettings, SETTING } from '../../src/http2/settings.ts'
import { settings } from './peer.ts'

const { NO_ERROR, PROTOCOL_ERROR, FLOW_CONTROL_ERROR, FRAME_SIZE_ERROR } = ERROR_CODE

describe('ClientSettings', () => {
  const cases: readonly (readonly [string, number, number, number])[] = [
    ['a header table of any size', SETTING.HEADER_TABLE_SIZE, 0xffff_ffff, NO_ERROR],
    ['push', SETTING.ENABLE_PUSH, 1, NO_ERROR],
    ['no push', SETTING.ENABLE_PUSH, 0, NO_ERROR],
    ['another push', SETTING.ENABLE_PUSH, 2, PROTOCOL_ERROR],
    ['the largest window', SETTING.INITIAL_WINDOW_SIZE, 0x7fff_ffff, NO_ERROR],
    ['a larger one', SETTING.INITIAL_WINDOW_SIZE, 0x8000_0000, FLOW_CONTROL_ERROR],
    ['the smallest frames', SETTING.MAX_FRAME_SIZE, 16_384, NO_ERROR],
    ['smaller ones', SETTING.MAX_FRAME_SIZE, 16_383, PROTOCOL_ERROR],
    ['the largest frames', SETTING.MAX_FRAME_SIZE, 0xff_ffff, NO_ERROR],
    ['larger ones', SETTING.MAX_FRAME_SIZE, 0x100_0000, PROTOCOL_ERROR],
    ['what is not known', 0xff, 1, NO_ERROR],
  ]
  for (const [name, id, value, code] of cases) {
    test(`${code === NO_ERROR ? 'takes' : 'refuses'} ${name}`, () => {
      const payload = settings([id, value]).subarray(9)
      assert.equal(new ClientSettings().read(payload, 0, payload.length), code)
    })
  }

  test('has the last of several', () => {
    const payload = settings([4, 1], [4, 2]).subarray(9)
    const read = new ClientSettings()
    assert.equal(read.initialWindowSize, 65_535)
    assert.equal(read.read(payload, 0, payload.length), NO_ERROR)
    assert.equal(read.initialWindowSize, 2)
  })

  test('refuses what is no list of settings', () => {
    assert.equal(new ClientSettings().read(new Uint8Array(7), 0, 7), FRAME_SIZE_ERROR)
  })
})
