/** Issuers that answer in wrong ways over a real socket, at a gateway on Node. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { describe, type TestContext, test } from 'vitest'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { ADMIN, startOperatedGateway } from '../../cli/operated-gateway.ts'
import { FakeIssuer } from '../../gateway/fake-issuer.ts'

const CLIENT = 'the-token-of-clients'

async function listen(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  t.onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
}

/** Starts a gateway whose one issuer answers like that. Returns what asks it with a good token. */
async function start(
  t: TestContext,
  answer: RequestListener,
): Promise<(token?: string, path?: string) => Promise<number>> {
  const url = await listen(t, answer)
  const rules = [{ when: { sub: 'a' }, namespaces: ['*'] }]
  const port = await startOperatedGateway(t, {
    COREFILE: '. {\n  whoami\n}\n',
    ISSUERS: JSON.stringify([{ issuer: url, audiences: ['kubedoh'], rules }]),
    CLIENT_TOKEN_SHA256: await hashToken(CLIENT),
  })
  const good = await new FakeIssuer(url).sign(Date.now(), { sub: 'a' })
  return async (token = good, path = '/resolve?name=example.org') => {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
    await response.arrayBuffer()
    return response.status
  }
}

describe('an issuer', () => {
  for (const status of [301, 302, 303, 307, 308]) {
    test(`that redirects by ${status} sends no gateway elsewhere`, async (t) => {
      const paths: string[] = []
      const elsewhere = await listen(t, ({ url = '' }, response) => {
        paths.push(url)
        response.end('{"keys":[]}')
      })
      const ask = await start(t, (_, response) => {
        response.writeHead(status, { location: `${elsewhere}/latest/meta-data` }).end()
      })
      assert.equal(await ask(), 503)
      assert.deepEqual(paths, [])
      assert.equal(await ask(CLIENT), 200)
    })
  }

  test('that never answers keeps no other client waiting, nor operators', async (t) => {
    const ask = await start(t, () => undefined)
    let hasEnded = false
    const waiting = ask().finally(() => {
      hasEnded = true
    })
    for (let i = 0; i < 10; i++) assert.equal(await ask(CLIENT), 200)
    assert.equal(await ask(ADMIN, '/v1/tokens'), 200)
    assert.equal(hasEnded, false)
    assert.equal(await waiting, 503)
  })

  test('that sends bytes one by one, without end, is given up', async (t) => {
    const ask = await start(t, (_, response) => {
      const timer = setInterval(() => response.write(' '), 50)
      response.on('close', () => clearInterval(timer))
    })
    assert.equal(await ask(), 503)
  })

  test('that sends without end is read to its bound', async (t) => {
    let sent = 0
    const ask = await start(t, (_, response) => {
      const chunk = 'x'.repeat(16 * 1024)
      const send = (): void => {
        while (!response.destroyed && sent < 64 * 1024 * 1024) {
          sent += chunk.length
          if (!response.write(chunk)) return void response.once('drain', send)
        }
      }
      send()
    })
    assert.equal(await ask(), 503)
    // What sockets hold comes on top of the 64 KiB.
    assert.ok(sent < 16 * 1024 * 1024, `${sent} bytes`)
  })
})
