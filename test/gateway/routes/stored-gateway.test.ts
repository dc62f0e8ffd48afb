import assert from 'node:assert/strict'
import { test } from 'vitest'
import { readGatewayConfig } from '../../../src/gateway/config/config.ts'
import type { GatewayRuntime } from '../../../src/gateway/routes/gateway.ts'
import { openStoredGateway, withStore } from '../../../src/gateway/routes/stored-gateway.ts'
import { createMemoryGatewayStore } from '../../../src/gateway/snapshots/store.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { FakeHost } from '../../fake-host.ts'

const { publicKeyText: publicKey } = await keys()
const CLUSTERS = JSON.stringify({ shop: { publicKey, tokenSha256: 'a'.repeat(64) } })
const config = await readGatewayConfig({ COREFILE: '. {\n  bind 127.0.0.1\n}\n', CLUSTERS })

/** Returns a runtime with a store in memory, and how often all its manifests were read. */
function open(host: GatewayRuntime['host']): {
  readonly runtime: GatewayRuntime
  readonly reads: () => number
} {
  let reads = 0
  const { clusterStore, tokenStore } = createMemoryGatewayStore()
  const counting: typeof clusterStore = (cluster) => {
    const store = clusterStore(cluster)
    return {
      ...store,
      readManifests: () => {
        reads++
        return store.readManifests()
      },
    }
  }
  const client = { address: '192.0.2.1', port: 0, transport: 'https' } as const
  const parts = {
    host,
    randomBytes: (size: number) => new Uint8Array(size),
    fetch: () => assert.fail('no request is expected'),
    clientOf: () => client,
    identitiesOf: () => [],
    keepAlive: () => undefined,
  }
  const runtime = withStore(config, parts, { clusterStore: counting, tokenStore })
  return { runtime, reads: () => reads }
}

test('a cluster that CLUSTERS lacks has no store and no writer', async () => {
  const { runtime } = open(new FakeHost())
  assert.equal(await runtime.originOf('shop').readManifest(), undefined)
  assert.throws(() => runtime.originOf('lab'), /CLUSTERS has no cluster "lab"/)
})

test('a store is checked at the start, unless requests are isolated', () => {
  assert.equal(open(new FakeHost()).reads(), 1)
  assert.equal(open(new FakeHost({ isolatesRequests: true })).reads(), 0)
})

test('warnings about the Corefile are logged', async () => {
  const host = new FakeHost()
  await openStoredGateway(config, open(host).runtime)
  assert.match(JSON.stringify(host.events), /\\"bind\\" has no effect at a gateway/)
})
