import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { parseListenAddress } from '../../../src/server/sockets/listen-address.ts'
import { ListenError } from '../../../src/server/sockets/sockets.ts'

describe('parseListenAddress', () => {
  const good: { text: string; host: string | undefined; port: number }[] = [
    { text: ':8080', host: undefined, port: 8080 },
    { text: '127.0.0.1:8080', host: '127.0.0.1', port: 8080 },
    { text: 'localhost:0', host: 'localhost', port: 0 },
    { text: '[::1]:65535', host: '::1', port: 65_535 },
  ]
  for (const { text, host, port } of good) {
    test(`reads "${text}"`, () => {
      assert.deepEqual(parseListenAddress(text), { host, port })
    })
  }

  const bad = ['', ':', '8080', 'a', 'a:', 'a:b', 'a:65536', 'a:-1', '::1:80', '[::1]80']
  for (const text of bad) {
    test(`refuses "${text}"`, () => {
      assert.throws(() => parseListenAddress(text), {
        name: 'ListenError',
        message: `"${text}" is not HOST:PORT`,
      })
    })
  }

  test('throws only ListenError, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\d:[\]]*$/)), (text) => {
        try {
          const { port } = parseListenAddress(text)
          assert.ok(0 <= port && port <= 65_535)
        } catch (error) {
          assert.ok(error instanceof ListenError, String(error))
        }
      }),
    )
  })
})
