import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'vitest'
import type { Resolver } from '../../../src/resolver/chain/resolver.ts'
import { LOOPBACK, listenDoh } from '../../../src/server/http/doh-listener.ts'
import { block, serve } from '../../ask.ts'
import { freePort } from '../../free-port.ts'
import { formatReply } from '../../message-text.ts'
import { queryWith } from '../clients.ts'

/** Listens on a host until the test ends. @returns the port */
async function listen(
  t: TestContext,
  host: string,
  options: { resolver: () => Resolver | undefined; isInsecure?: boolean; explainToken?: string },
): Promise<number> {
  const port = await freePort()
  const server = await listenDoh(`${host}:${port}`, { isInsecure: false, ...options })
  t.onTestFinished(() => server.close())
  return port
}

async function ask(port: number): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/dns-query`, {
    method: 'POST',
    headers: { 'content-type': 'application/dns-message' },
    body: new Uint8Array(queryWith(0)),
  })
}

describe('listenDoh', () => {
  test("answers from the first server block, with the client's address", async (t) => {
    const { resolver } = serve(`${block('whoami')}\n.:5353 ${block('any').slice(2)}`)
    const port = await listen(t, '127.0.0.1', { resolver: () => resolver })
    const response = await ask(port)
    const lines = formatReply(new Uint8Array(await response.arrayBuffer()))
    assert.deepEqual(lines.slice(0, 2), [
      'NOERROR aa rd',
      'additional: a.example.org. 0 IN A 127.0.0.1',
    ])
  })

  test('uses the current resolver for each query', async (t) => {
    let resolver: Resolver | undefined
    const port = await listen(t, '127.0.0.1', { resolver: () => resolver })
    assert.equal((await ask(port)).ok, false)
    resolver = serve(block('whoami')).resolver
    assert.equal((await ask(port)).ok, true)
  })

  test("applies the block's timeouts", async (t) => {
    const { resolver } = serve(block('whoami', 'timeouts {\n idle 2s\n }'))
    const port = await listen(t, '127.0.0.1', { resolver: () => resolver })
    assert.equal((await ask(port)).headers.get('keep-alive'), 'timeout=2')
  })

  test('explains answers to the holder of the token only', async (t) => {
    const { resolver } = serve(block('whoami'))
    const explainToken = 'a-token-of-sixteen'
    const port = await listen(t, '127.0.0.1', { resolver: () => resolver, explainToken })
    const explain = async (authorization: string, query = 'name=a.test'): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}/v1/explain?${query}`, { headers: { authorization } })
    const found = await explain(`Bearer ${explainToken}`)
    assert.equal(found.status, 200)
    assert.deepEqual(((await found.json()) as { plugins: unknown }).plugins, ['whoami'])
    for (const wrong of ['', 'Bearer ', `Bearer ${explainToken}x`, explainToken]) {
      const refused = await explain(wrong)
      assert.equal(refused.status, 401, wrong)
      assert.equal(refused.headers.get('www-authenticate'), 'Bearer realm="kubedoh"')
      assert.match(await refused.text(), /"unauthorized"/)
    }
    assert.equal((await explain(`Bearer ${explainToken}`, 'name=a..b')).status, 400)
  })

  test('does not explain without a token', async (t) => {
    const { resolver } = serve(block('whoami'))
    const port = await listen(t, '127.0.0.1', { resolver: () => resolver })
    const headers = { authorization: 'Bearer ' }
    const response = await fetch(`http://127.0.0.1:${port}/v1/explain?name=a.test`, { headers })
    assert.equal(response.status, 404)
  })

  for (const address of ['0.0.0.0:0', ':0', '192.0.2.1:8053', '[2001:db8::1]:8053']) {
    test(`refuses unencrypted DNS on an address that is not loopback: ${address}`, async () => {
      await assert.rejects(listenDoh(address, { resolver: () => undefined, isInsecure: false }), {
        name: 'CommandError',
        message:
          `--doh.listen ${address} would send responses unencrypted; use a loopback address, ` +
          'put a TLS proxy in front of it, or set KUBEDOH_INSECURE=1',
      })
    })
  }

  test('allows that with isInsecure', async (t) => {
    const { resolver } = serve(block('whoami'))
    const port = await listen(t, '0.0.0.0', { resolver: () => resolver, isInsecure: true })
    assert.equal((await ask(port)).status, 200)
  })

  test('names the address that is in use', async (t) => {
    const port = await listen(t, '127.0.0.1', { resolver: () => undefined })
    const address = `127.0.0.1:${port}`
    await assert.rejects(listenDoh(address, { resolver: () => undefined, isInsecure: false }), {
      name: 'CommandError',
      message: `Cannot listen on --doh.listen ${address}: address in use; stop the other process or choose another port`,
    })
  })

  test('reports an address without a host and port', async () => {
    await assert.rejects(listenDoh('8053', { resolver: () => undefined, isInsecure: true }), {
      name: 'ListenError',
      message: '"8053" is not HOST:PORT',
    })
  })
})

test('LOOPBACK contains hosts as URLs spell them', () => {
  for (const host of ['127.0.0.1', '[::1]', 'localhost']) {
    assert.ok(LOOPBACK.has(new URL(`http://${host}:8053`).hostname))
  }
  assert.ok(LOOPBACK.has('::1'))
  for (const host of ['', '0.0.0.0', '::', '192.0.2.1', 'localhost.example.org']) {
    assert.equal(LOOPBACK.has(host), false)
  }
})
