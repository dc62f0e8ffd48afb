import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'vitest'
import { findHostToken, tokenOf } from '../../../src/gateway/access/sent-token.ts'
import {
  hostTokenOf,
  isHostToken,
  newSecret,
  newTokenId,
} from '../../../src/gateway/access/token.ts'
import { HttpError } from '../../../src/gateway/doh/http-error.ts'

const DOMAIN = 'doh.example.org'
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz'
const { token, hostToken } = await newSecret(newTokenId(randomBytes), randomBytes)
const HOST = `${hostToken}.${DOMAIN}`
const other = await hostTokenOf(`${token}x`)
/** A token whose last letter is another one. */
const flipped = hostToken.slice(0, -1) + (hostToken.endsWith('0') ? '1' : '0')

describe('the form of a token for hostnames', () => {
  test('follows from the token alone, and is a label of 26 letters and digits', async () => {
    assert.equal(await hostTokenOf(token), hostToken)
    assert.notEqual(other, hostToken)
    assert.match(hostToken, /^[0-9a-z]{26}$/)
    assert.doesNotMatch(hostToken, /[ilou]/)
    assert.equal(await hostTokenOf('kdo_example'), '0wkp1p09z9e7g10he8vhtar2er')
  })

  test('shows each wrong letter, and each swap of two neighbours', () => {
    assert.ok(isHostToken(hostToken))
    for (let at = 0; at < hostToken.length; at++) {
      const [before, own, after] = [
        hostToken.slice(0, at),
        hostToken[at] ?? '',
        hostToken.slice(at + 1),
      ]
      for (const letter of LETTERS) {
        assert.equal(isHostToken(before + letter + after), letter === own)
      }
      const next = after[0] ?? own
      if (next !== own) assert.equal(isHostToken(before + next + own + after.slice(1)), false)
    }
  })

  const wrong = ['', 'a', hostToken.slice(1), `${hostToken}0`, hostToken.toUpperCase(), token]
  for (const text of [...wrong, '0'.repeat(26), 'l'.repeat(26), `${hostToken.slice(1)}é`]) {
    test(`is not ${JSON.stringify(text.slice(0, 4))}… of ${text.length}`, () => {
      assert.equal(isHostToken(text), false)
    })
  }
})

describe('the token in a hostname', () => {
  const cases: {
    readonly name: string
    readonly host: string
    readonly serverName?: string
    readonly domain?: string
    /** The token, the code of an error, or nothing. */
    readonly is: string | undefined
  }[] = [
    { name: 'the first label', host: HOST, is: hostToken },
    { name: 'with a port', host: `${HOST}:8443`, is: hostToken },
    { name: 'with a final dot', host: `${HOST}.:443`, is: hostToken },
    { name: 'in upper case', host: HOST.toUpperCase(), is: hostToken },
    {
      name: 'the same in the handshake',
      host: HOST,
      serverName: HOST.toUpperCase(),
      is: hostToken,
    },
    { name: 'another domain', host: `${hostToken}.dns.example.org`, is: undefined },
    { name: 'a domain that ends alike', host: `${hostToken}.x${DOMAIN}`, is: undefined },
    { name: 'the domain itself', host: DOMAIN, is: undefined },
    { name: 'no host', host: '', is: undefined },
    { name: 'an address', host: '[2001:db8::1]:443', is: undefined },
    { name: 'no TOKEN_DOMAIN', host: HOST, domain: '', is: undefined },
    { name: 'a wrong letter', host: `${flipped}.${DOMAIN}`, is: 'bad_host_token' },
    { name: 'a letter less', host: `${hostToken.slice(1)}.${DOMAIN}`, is: 'bad_host_token' },
    { name: 'two labels', host: `www.${HOST}`, is: 'bad_host_token' },
    { name: 'another name below it', host: `www.${DOMAIN}`, is: 'bad_host_token' },
    { name: 'other letters', host: `xn--${hostToken}.${DOMAIN}`, is: 'bad_host_token' },
    { name: 'an empty label', host: `.${DOMAIN}`, is: undefined },
    { name: 'another handshake', host: HOST, serverName: DOMAIN, is: 'misdirected' },
    { name: 'of another token', host: HOST, serverName: `${other}.${DOMAIN}`, is: 'misdirected' },
    { name: 'only in the handshake', host: 'a.test', serverName: HOST, is: 'misdirected' },
    { name: 'an address and a handshake', host: '192.0.2.1:8443', serverName: HOST, is: hostToken },
    { name: 'such an address of IPv6', host: '[2001:db8::1]', serverName: HOST, is: hostToken },
    { name: 'in neither', host: 'a.test', serverName: 'b.test', is: undefined },
  ]
  for (const { name, host, serverName, domain = DOMAIN, is } of cases) {
    test(name, () => {
      const found = findHostToken({ host, serverName }, domain)
      assert.equal(found instanceof HttpError ? found.code : found, is)
      // No message has a part of it.
      if (found instanceof HttpError) assert.ok(!found.message.includes(hostToken.slice(0, 8)))
    })
  }
})

describe('the token of a request', () => {
  const of = (
    headers: Readonly<Record<string, string>>,
    path?: string,
  ): string | undefined | HttpError => tokenOf({ header: (name) => headers[name] }, path, DOMAIN)

  test('is the one in the hostname, also where the path or a header repeats it', () => {
    assert.equal(of({ host: HOST }), hostToken)
    assert.equal(of({ host: HOST }, hostToken), hostToken)
    assert.equal(of({ host: HOST, authorization: `Bearer ${hostToken}` }), hostToken)
  })

  test('is none of two that differ', () => {
    for (const found of [
      of({ host: HOST }, token),
      of({ host: HOST }, other),
      of({ host: HOST, authorization: `Bearer ${token}` }),
    ]) {
      assert.ok(found instanceof HttpError)
      assert.deepEqual([found.status, found.code], [400, 'two_tokens'])
    }
  })
})
