import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { Input } from '../../src/cli/flags.ts'
import { readGatewayUrl, readToken } from '../../src/cli/gateway-url.ts'
import { CommandError } from '../../src/node/output.ts'

function read(url: string, ...flags: readonly string[]): string {
  const given = new Map<string, string[]>([['gateway', [url]]])
  for (const flag of flags) given.set(flag, [''])
  return readGatewayUrl(new Input([], given, {}))
}

describe('a token', () => {
  test('is trimmed', () => {
    assert.equal(readToken(' kdt_a_b\n', 'KUBEDOH_TOKEN'), 'kdt_a_b')
    assert.equal(readToken('', 'KUBEDOH_TOKEN'), '')
  })

  for (const text of ['kdt_a\nb', 'kdt_a b', 'kdt_ä']) {
    test(`is refused, and not printed: ${JSON.stringify(text)}`, () => {
      const message = 'KUBEDOH_TOKEN contains a space or another character that tokens cannot have'
      assert.throws(() => readToken(text, 'KUBEDOH_TOKEN'), { name: 'CommandError', message })
    })
  }

  test('is rejected in the URL of a gateway, and not printed', () => {
    const message = '--gateway has a user or password; set the token in its variable instead'
    assert.throws(() => read('https://x:s3cret@dns.example.org'), { message })
  })
})

describe('the gateway of a command', () => {
  for (const url of [
    'https://dns.example.org',
    'http://127.0.0.1:8787',
    'http://[::1]:1',
    'http://localhost',
  ]) {
    test(`may be ${url}`, () => {
      assert.equal(read(url), url)
    })
  }

  test('can be any http:// URL with --insecure', () => {
    assert.equal(read('http://dns.example.org', 'insecure'), 'http://dns.example.org')
  })

  for (const url of ['http://dns.example.org', 'dns.example.org', 'ftp://127.0.0.1', '']) {
    test(`may not be "${url}"`, () => {
      assert.throws(() => read(url), CommandError)
    })
  }
})
