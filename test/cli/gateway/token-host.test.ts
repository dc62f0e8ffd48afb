import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { hostTokenOf } from '../../../src/gateway/access/token.ts'
import { isTokenDomain, readGatewayConfig } from '../../../src/gateway/config/config.ts'
import { tokenRecord } from '../../gateway/tokens.ts'
import { runCli } from '../run-cli.ts'

const { token } = await tokenRecord()

describe('kubedoh token host', () => {
  test('prints the hostname of a token, which the environment has', async () => {
    const args = ['token', 'host', 'doh.example.org']
    const { status, stdout } = await runCli(args, { KUBEDOH_CLIENT_TOKEN: `${token}\n` })
    assert.deepEqual([status, stdout], [0, `${await hostTokenOf(token)}.doh.example.org\n`])
  })

  for (const [what, text, domain] of [
    ['no token', '', 'doh.example.org'],
    ['a token of an object', `kdo_${'a'.repeat(40)}`, 'doh.example.org'],
    ['no domain', token, 'doh'],
    ['a domain in upper case', token, 'DOH.example.org'],
  ] as const) {
    test(`refuses ${what}, without the token in its message`, async () => {
      const args = ['token', 'host', domain]
      const { status, stdout, stderr } = await runCli(args, { KUBEDOH_CLIENT_TOKEN: text })
      assert.deepEqual([status, stdout], [1, ''])
      assert.ok(text === '' || !stderr.includes(text))
    })
  }
})

describe('TOKEN_DOMAIN', () => {
  const wrong = [
    'a',
    'a..b',
    '.a.b',
    'a.b.',
    '-a.test',
    'a-.test',
    '*.a.test',
    'a_b.test',
    'a.1',
    'a.test:1',
    `${'a.'.repeat(113)}test`,
    `${'a'.repeat(64)}.test`,
    'ä.test',
  ]
  for (const text of wrong) {
    test(`is not ${text.slice(0, 20)}`, async () => {
      assert.equal(isTokenDomain(text), false)
      const read = readGatewayConfig({ COREFILE: '.\n', TOKEN_DOMAIN: text })
      await assert.rejects(read, /^GatewayConfigError: TOKEN_DOMAIN is /)
    })
  }

  test('is read in lower case', async () => {
    const { tokenDomain } = await readGatewayConfig({
      COREFILE: '.\n',
      TOKEN_DOMAIN: 'DOH.a-b.Test',
    })
    assert.equal(tokenDomain, 'doh.a-b.test')
  })
})
