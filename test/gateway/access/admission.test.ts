import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Hono } from 'hono'
import { test } from 'vitest'
import { createMemoryTokenStore } from '../../../src/gateway/access/token-store.ts'
import { readGatewayConfig } from '../../../src/gateway/config/config.ts'
import { Gateway } from '../../../src/gateway/routes/gateway.ts'
import { createMemoryStore } from '../../../src/gateway/snapshots/store.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { FakeHost } from '../../fake-host.ts'
import { parseQuestion } from '../../message-text.ts'
import { tokenRecord } from '../tokens.ts'

test('does not forward a query of a client that may not recurse', async () => {
  const COREFILE = '. {\n  forward . 192.0.2.53\n}\n'
  const { publicKeyText: publicKey } = await keys()
  const CLUSTERS = JSON.stringify({ shop: { publicKey, tokenSha256: 'a'.repeat(64) } })
  const host = new FakeHost({ upstream: () => ['NOERROR', 'www.example.org. 5 IN A 192.0.2.1'] })
  const tokenStore = createMemoryTokenStore()
  const gateway = await Gateway.open(await readGatewayConfig({ COREFILE, CLUSTERS }), {
    host,
    originOf: createMemoryStore,
    writerOf: () => assert.fail('no write is expected'),
    tokenStore,
    randomBytes,
    clientOf: () => ({ address: '192.0.2.1', port: 0, transport: 'https' }),
    identitiesOf: () => [],
    fetch: () => Promise.reject(new Error('no request is expected')),
    keepAlive: () => undefined,
  })
  const app = new Hono()
  app.get('/:token', async (c) => {
    await gateway.admission.admit(c, c.req.param('token'))
    const reply = await gateway.answer(parseQuestion('www.example.org A').message, c)
    return c.text(String((reply?.[3] ?? 0) & 15))
  })
  const rcodes = []
  for (const recurse of [false, true]) {
    const scope = { clusters: ['*'], origins: ['*'], namespaces: ['*'], recurse }
    const { token, record } = await tokenRecord({ scope })
    await tokenStore.add(record)
    await host.advance(1000)
    rcodes.push(await (await app.request(`/${token}`)).text())
  }
  assert.deepEqual(rcodes, ['2', '0'])
  assert.equal(host.asked.length, 1)
})
