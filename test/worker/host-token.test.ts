import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { test } from 'vitest'
import { encodeBase64url } from '../../src/dns/bytes/base64url.ts'
import { hashToken, hostTokenOf } from '../../src/gateway/access/token.ts'
import { formatReply, parseQuestion } from '../message-text.ts'
import { startGateway } from '../workerd.ts'

const TOKEN_DOMAIN = 'doh.example.org'
const ADMIN = 'the-token-of-the-operator'
const COREFILE = '. {\n  hosts {\n    192.0.2.1 www.a.test www.b.test\n  }\n}\n'
/** The form of a token that no gateway has. */
const UNKNOWN = '0wkp1p09z9e7g10he8vhtar2er'

test('a token in the hostname is admitted in workerd, with its scope', async (t) => {
  const lines: string[] = []
  const ADMIN_TOKEN_SHA256 = await hashToken(ADMIN)
  const variables = { COREFILE, TOKEN_DOMAIN, ADMIN_TOKEN_SHA256 }
  const gateway = await startGateway({ variables, port: 0, onLog: (line) => lines.push(line) })
  t.onTestFinished(() => gateway.stop())
  const { port } = new URL(gateway.url)

  /** Sends a query to a host; returns the response, or the status and code of an error. */
  const ask = async (host: string, name: string, more: object = {}): Promise<string> => {
    const dns = encodeBase64url(parseQuestion(`${name} A`).message)
    const headers = { host, 'x-forwarded-proto': 'https', ...more }
    const sent = request({ host: '127.0.0.1', port, path: `/dns-query?dns=${dns}`, headers })
    const [response]: IncomingMessage[] = await once(sent.end(), 'response')
    assert.ok(response !== undefined)
    const body = await buffer(response)
    if (response.statusCode === 200) return formatReply(new Uint8Array(body)).join('\n')
    return `${response.statusCode} ${/"code":"(\w+)"/.exec(body.toString())?.[1]}`
  }

  const made = await fetch(`${gateway.url}/v1/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN}` },
    body: JSON.stringify({ origins: ['a.test'] }),
  })
  assert.equal(made.status, 201)
  const { token } = Object(await made.json())
  const label = await hostTokenOf(String(token))
  const host = `${label}.${TOKEN_DOMAIN}`
  const flipped = label.slice(0, -1) + (label.endsWith('0') ? '1' : '0')

  const answer = /^NOERROR.*\nwww\.a\.test\. \d+ IN A 192\.0\.2\.1$/
  assert.match(await ask(host, 'www.a.test'), answer)
  assert.match(await ask(host.toUpperCase(), 'www.a.test'), answer)
  assert.match(await ask(`${host}:443`, 'www.a.test'), answer)
  assert.match(await ask(host, 'www.b.test'), /^REFUSED/)
  assert.equal(await ask(`${flipped}.${TOKEN_DOMAIN}`, 'www.a.test'), '400 bad_host_token')
  assert.equal(await ask(`www.${TOKEN_DOMAIN}`, 'www.a.test'), '400 bad_host_token')
  assert.equal(await ask(`${UNKNOWN}.${TOKEN_DOMAIN}`, 'www.a.test'), '401 unauthorized')
  assert.equal(await ask(`${label}.example.net`, 'www.a.test'), '401 unauthorized')
  const forwarded = { 'x-forwarded-host': host }
  assert.equal(await ask('dns.example.org', 'www.a.test', forwarded), '401 unauthorized')
  const other = { authorization: `Bearer ${token}` }
  assert.equal(await ask(host, 'www.a.test', other), '400 two_tokens')
  for (const line of lines) {
    for (const secret of [label, flipped, UNKNOWN]) assert.ok(!line.includes(secret), line)
  }
})
