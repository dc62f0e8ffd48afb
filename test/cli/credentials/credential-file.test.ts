import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'vitest'
import {
  type Credential,
  credentialPath,
  readCredential,
  withLockedCredentials,
  writeCredential,
} from '../../../src/cli/credentials/credential-file.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'

const GATEWAY = 'https://dns.example.org'
const CREDENTIAL: Credential = {
  token: 't',
  expires: '2026-01-01T00:00:00Z',
  subject: 'ada',
  issuer: 'https://sso.example.org',
  clientId: 'kubedoh',
  scopes: 'openid',
  idToken: 'i',
  refreshToken: '',
}

describe('the path of logins', () => {
  const cases: { variables: Readonly<Record<string, string>>; path: string | undefined }[] = [
    { variables: { XDG_CONFIG_HOME: '/x', HOME: '/h' }, path: '/x/kubedoh/credentials.json' },
    { variables: { HOME: '/h' }, path: '/h/.config/kubedoh/credentials.json' },
    { variables: { USERPROFILE: '/u' }, path: '/u/.config/kubedoh/credentials.json' },
    { variables: {}, path: undefined },
  ]
  for (const { variables, path } of cases) {
    test(`is ${path} with ${JSON.stringify(variables)}`, () => {
      assert.equal(
        credentialPath((name) => variables[name] ?? ''),
        path,
      )
    })
  }
})

describe('the file of logins', () => {
  test('has one for each gateway, and nothing beside it', (t) => {
    const path = join(temporaryFolder(t), 'kubedoh/credentials.json')
    assert.equal(readCredential(path, GATEWAY), undefined)
    writeCredential(path, GATEWAY, CREDENTIAL)
    writeCredential(path, 'https://b.example.org', { ...CREDENTIAL, token: 'b' })
    assert.deepEqual(readCredential(path, GATEWAY), CREDENTIAL)
    writeCredential(path, GATEWAY, undefined)
    assert.equal(readCredential(path, GATEWAY), undefined)
    assert.equal(readCredential(path, 'https://b.example.org')?.token, 'b')
    assert.deepEqual(readdirSync(dirname(path)), ['credentials.json'])
  })

  const BROKEN = '{"gateways":{'
  const cases: { name: string; text: string; message: RegExp }[] = [
    { name: 'no JSON', text: BROKEN, message: /is not a file of logins; remove it/ },
    { name: 'other JSON', text: '[]', message: /is not a file of logins/ },
    {
      name: 'a login without fields',
      text: JSON.stringify({ gateways: { [GATEWAY]: { token: 't' } } }),
      message: /is not a file of logins/,
    },
    { name: 'too much', text: ' '.repeat(1024 * 1024 + 1), message: /it is over 1048576 bytes/ },
  ]
  for (const { name, text, message } of cases) {
    test(`with ${name} is refused, and stays`, (t) => {
      const path = join(temporaryFolder(t, { 'c.json': text }), 'c.json')
      assert.throws(() => readCredential(path, GATEWAY), message)
      assert.throws(() => writeCredential(path, GATEWAY, CREDENTIAL), message)
      assert.equal(readFileSync(path, 'utf8'), text)
    })
  }

  test('has 100 gateways at most', (t) => {
    const path = join(temporaryFolder(t), 'c.json')
    const all = Array.from({ length: 100 }, (_, i) => [`https://${i}.example.org`, CREDENTIAL])
    writeFileSync(path, JSON.stringify({ gateways: Object.fromEntries(all) }))
    writeCredential(path, 'https://7.example.org', CREDENTIAL)
    assert.throws(() => writeCredential(path, GATEWAY, CREDENTIAL), /has 100 gateways/)
  })

  test('is changed by one process at a time', async (t) => {
    const path = join(temporaryFolder(t), 'c.json')
    const order: string[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const first = withLockedCredentials(path, async () => {
      await promise
      order.push('first')
    })
    const second = withLockedCredentials(path, async () => order.push('second'))
    resolve()
    await Promise.all([first, second])
    assert.deepEqual(order, ['first', 'second'])
    assert.deepEqual(readdirSync(dirname(path)), [])
  })
})
