import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'vitest'
import { createMemoryTokenStore } from '../../../src/gateway/access/token-store.ts'
import { readGatewayConfig } from '../../../src/gateway/config/config.ts'
import { Gateway } from '../../../src/gateway/routes/gateway.ts'
import { createMemoryStore } from '../../../src/gateway/snapshots/store.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { FakeHost } from '../../fake-host.ts'

async function createGateway(COREFILE: string): Promise<Gateway> {
  const { publicKeyText: publicKey } = await keys()
  const CLUSTERS = JSON.stringify({ shop: { publicKey, tokenSha256: 'a'.repeat(64) } })
  return Gateway.open(await readGatewayConfig({ COREFILE, CLUSTERS }), {
    host: new FakeHost({ isGateway: true }),
    originOf: createMemoryStore,
    writerOf: () => assert.fail('no write is expected'),
    tokenStore: createMemoryTokenStore(),
    randomBytes,
    clientOf: () => ({ address: '192.0.2.1', port: 0, transport: 'https' }),
    identitiesOf: () => [],
    fetch: () => Promise.reject(new Error('no request is expected')),
    keepAlive: () => undefined,
  })
}

test('reports every error of its Corefile as one error of the configuration', async () => {
  const COREFILE =
    '. {\n  etcd b.test {\n    cluster depot\n  }\n  kubernetes a.test {\n    cluster lab\n  }\n}\n'
  await assert.rejects(createGateway(COREFILE), (error: Error) => {
    assert.equal(error.name, 'GatewayConfigError')
    assert.match(error.message, /COREFILE:2:3: .*no cluster "depot"; .*no cluster "lab"/)
    return true
  })
})
