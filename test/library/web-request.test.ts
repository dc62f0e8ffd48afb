import assert from 'node:assert/strict'
import { test } from 'vitest'
import { encodeBase64url } from '../../src/dns/bytes/base64url.ts'
import { readGatewayConfig } from '../../src/gateway/config/config.ts'
import { openStoredGateway, withStore } from '../../src/gateway/routes/stored-gateway.ts'
import { createMemoryGatewayStore } from '../../src/gateway/snapshots/store.ts'
import { answerRequest } from '../../src/library/web-request.ts'
import { FakeHost } from '../fake-host.ts'
import { parseQuestion } from '../message-text.ts'

const COREFILE = '. {\n  hosts {\n    192.0.2.1 web.test\n  }\n}\n'
const client = { address: '192.0.2.1', port: 0, transport: 'https' } as const
const parts = {
  host: new FakeHost(),
  randomBytes: (size: number) => new Uint8Array(size),
  fetch: () => assert.fail('no request is expected'),
  clientOf: () => client,
  identitiesOf: () => [],
  keepAlive: () => undefined,
}
const config = await readGatewayConfig({ COREFILE, PUBLIC: 'true' })
const runtime = withStore(config, parts, createMemoryGatewayStore())
const { direct, app } = await openStoredGateway(config, runtime)
const { message } = parseQuestion('web.test A')
const dns = encodeBase64url(message)
const type = 'application/dns-message'

const CASES: readonly { name: string; path: string; init?: RequestInit; byApp: boolean }[] = [
  { name: 'a GET', path: `/dns-query?dns=${dns}`, byApp: false },
  { name: 'a GET of a path with dots', path: `/x/%2e%2e/dns-query?dns=${dns}`, byApp: false },
  {
    name: 'a POST',
    path: '/dns-query',
    init: {
      method: 'POST',
      headers: { 'content-type': type, 'content-length': String(message.length) },
      body: new Uint8Array(message),
    },
    byApp: false,
  },
  { name: 'JSON', path: '/resolve?name=web.test', byApp: true },
]

for (const { name, path, init, byApp } of CASES) {
  test(`answers ${name} ${byApp ? 'by the app' : 'on the fast path'}`, async () => {
    let calls = 0
    const slow = (request: Request): Response | Promise<Response> => {
      calls++
      return app.fetch(request)
    }
    const sender = { address: '192.0.2.1', identities: () => [], keepAlive: () => undefined }
    const request = new Request(`https://doh.test${path}`, init)
    const response = await answerRequest(direct, slow, request, sender)
    assert.equal(response.status, 200)
    const body = Buffer.from(await response.arrayBuffer())
    assert.ok(body.includes(byApp ? '"192.0.2.1"' : Buffer.of(192, 0, 2, 1)))
    assert.equal(calls, byApp ? 1 : 0)
  })
}
