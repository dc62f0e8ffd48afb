import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Input } from '../../src/cli/flags.ts'
import { readGatewayUrl } from '../../src/cli/gateway-url.ts'
import { CommandError } from '../../src/cli/output.ts'

function read(url: string, ...flags: readonly string[]): string {
  const given = new Map<string, string[]>([['gateway', [url]]])
  for (const flag of flags) given.set(flag, [''])
  return readGatewayUrl(new Input([], given, {}))
}

describe('the gateway that a command talks to', () => {
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

  test('may be anywhere in the clear when one says so', () => {
    assert.equal(read('http://dns.example.org', 'insecure'), 'http://dns.example.org')
  })

  for (const url of ['http://dns.example.org', 'dns.example.org', 'ftp://127.0.0.1', '']) {
    test(`may not be "${url}"`, () => {
      assert.throws(() => read(url), CommandError)
    })
  }
})
