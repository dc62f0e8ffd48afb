import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ConfigError } from '../../../../src/corefile/problem.ts'
import { readSecrets } from '../../../../src/resolver/plugins/tsig/options.ts'

function read(...lines: string[]): string[] {
  try {
    return readSecrets('keys', lines.join('\n')).map(
      ({ name, secret, line, column }) => `${line}:${column} ${name} ${secret}`,
    )
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [error.message]
  }
}

describe('readSecrets', () => {
  const good: { name: string; lines: string[]; is: string[] }[] = [
    { name: 'reads none', lines: ['', '  '], is: [] },
    {
      name: 'reads what tsig-keygen writes',
      lines: ['key "a.test" {', '\talgorithm hmac-sha256;', '\tsecret "c2VjcmV0";', '};'],
      is: ['1:1 a.test c2VjcmV0'],
    },
    {
      name: 'reads several, with blank lines, without quotes and marks',
      lines: ['  key a.{', '', 'secret YQ==', '}', '', 'key b {', 'secret "YQ=="', '};'],
      is: ['1:3 a. YQ==', '6:1 b YQ=='],
    },
    {
      name: 'takes the last secret of a key',
      lines: ['key a {', 'secret "YQ==";', 'secret "Yg==";', '};'],
      is: ['1:1 a Yg=='],
    },
  ]
  for (const { name, lines, is } of good) {
    test(name, () => {
      assert.deepEqual(read(...lines), is)
    })
  }

  const bad: { name: string; lines: string[]; problem: string }[] = [
    {
      name: 'another word',
      lines: ['', ' options {'],
      problem: 'keys:2:2: "options" is not "key NAME {"',
    },
    {
      name: 'a comment, as CoreDNS does',
      lines: ['// keys'],
      problem: 'keys:1:1: "//" is not "key NAME {"',
    },
    { name: 'a key without a name', lines: ['key'], problem: 'keys:1:1: the line is incomplete' },
    { name: 'a key named {', lines: ['key {'], problem: 'keys:1:1: the line is incomplete' },
    {
      name: 'a secret without one',
      lines: ['key a {', '  secret ";'],
      problem: 'keys:2:3: the line is incomplete',
    },
    {
      name: 'another word within a key',
      lines: ['key a {', 'port 53;'],
      problem: 'keys:2:1: "port" is neither "algorithm", "secret" nor "};"',
    },
    {
      name: 'a key without a secret',
      lines: ['key a {', 'algorithm hmac-sha1;', '};'],
      problem: 'keys:1:1: key "a" has no "secret"',
    },
    {
      name: 'a key that does not end, and has no secret',
      lines: ['key a {'],
      problem: 'keys:1:1: key "a" has no "secret"',
    },
  ]
  for (const { name, lines, problem } of bad) {
    test(`refuses ${name}`, () => {
      assert.deepEqual(read(...lines), [problem])
    })
  }
})
