import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HeaderField } from '../../src/http2/header-field.ts'

describe('HeaderField', () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['accept', '*/*', true],
    [':path', '/', true],
    ['x-empty', '', true],
    ['x-latin', 'h\xf6flich', true],
    ['x-tab', 'a\tb', true],
    ['Accept', '*/*', false],
    ['', 'a', false],
    ['a b', 'a', false],
    ['a:b', 'a', false],
    ['a\0', 'a', false],
    ['h\xf6flich', 'a', false],
    ['a', ' b', false],
    ['a', 'b\t', false],
    ['a', 'b\0', false],
    ['a', 'b\nc', false],
    ['a', 'b\rc', false],
    ['te', 'trailers', true],
    ['te', 'trailers, deflate', false],
    ['connection', 'close', false],
    ['proxy-connection', 'keep-alive', false],
    ['keep-alive', 'timeout=5', false],
    ['transfer-encoding', 'chunked', false],
    ['upgrade', 'h2c', false],
  ]
  for (const [name, value, isValid] of cases) {
    test(`${isValid ? 'takes' : 'refuses'} ${JSON.stringify(`${name}: ${value}`)}`, () => {
      assert.equal(new HeaderField(name, value).isValid, isValid)
      // The name of a field that is known is judged as it was.
      assert.equal(new HeaderField(name, value, new HeaderField(name, '')).isValid, isValid)
    })
  }

  test('counts 32 bytes more than it has (RFC 7541 §4.1)', () => {
    assert.equal(new HeaderField('custom-key', 'custom-header').size, 55)
  })
})
