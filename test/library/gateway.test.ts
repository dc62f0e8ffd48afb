import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { createGatewayClient } from '../../src/exporter/gateway-client.ts'
import { hashToken } from '../../src/gateway/access/token.ts'
import { nameOf, parseResponse, RCODE, TYPE, writeQuery } from '../../src/library/dns.ts'
import {
  createGateway,
  createMemoryGatewayStore,
  GatewayConfigError,
  type GatewayStore,
  type LibraryGateway,
} from '../../src/library/gateway.ts'
import { keys } from '../cluster/follow/memory-gateway.ts'
import { snapshotOf, WEB } from '../gateway/publishing.ts'

const COREFILE = '. {\n  hosts {\n    192.0.2.1 web.test\n  }\n}\n'
const ADDRESS = '10.96.0.80'
const FOLLOWED = '. {\n  kubernetes shop.test {\n    cluster shop\n  }\n}\n'

/** Returns the first address of a name, '' without one. */
async function addressOf(gateway: LibraryGateway, name: string): Promise<string> {
  const body = writeQuery({ name: nameOf(name), type: TYPE.A })
  const headers = { 'content-type': 'application/dns-message' }
  const request = new Request('https://doh.test/dns-query', { method: 'POST', body, headers })
  const response = await gateway.fetch(request, '203.0.113.7')
  const reply = parseResponse(new Uint8Array(await response.arrayBuffer()))
  assert.ok(reply?.rcode === RCODE.NOERROR || reply?.rcode === RCODE.SERVFAIL)
  return reply.answer[0]?.rdata.join('.') ?? ''
}

describe('createGateway', () => {
  it('answers requests of another program', async () => {
    const gateway = await createGateway({ COREFILE, PUBLIC: 'true' })
    try {
      assert.equal(await addressOf(gateway, 'web.test.'), '192.0.2.1')
    } finally {
      await gateway.close()
    }
  })

  it('keeps what is published in a store of another program', async () => {
    const { privateKey, publicKeyText: publicKey } = await keys()
    const shop = { publicKey, tokenSha256: await hashToken('exporter') }
    const CLUSTERS = JSON.stringify({ shop })
    const { tokenStore, clusterStore } = createMemoryGatewayStore()
    const snapshots = clusterStore('shop')
    const opened: string[] = []
    const store: GatewayStore = {
      tokenStore,
      clusterStore: (cluster) => {
        opened.push(cluster)
        return snapshots
      },
    }
    const variables = { COREFILE: FOLLOWED, CLUSTERS, PUBLIC: 'true' }
    const first = await createGateway(variables, { store })
    try {
      assert.equal(await addressOf(first, 'web.shop.svc.shop.test.'), '')
      const url = `http://127.0.0.1:${await first.listen('127.0.0.1', 0)}`
      const client = createGatewayClient({ url, cluster: 'shop', token: 'exporter' })
      const time = new Date().toISOString()
      const { signed, shards } = await snapshotOf(privateKey, [WEB], { generation: 7, time })
      for (const [sha256, bytes] of shards) await client.putShard(sha256, bytes)
      await client.putManifest(signed.bytes, signed.signature, undefined)
      assert.equal(await addressOf(first, 'web.shop.svc.shop.test.'), ADDRESS)
      assert.equal((await snapshots.readManifest())?.generation, 7)
    } finally {
      await first.close()
    }
    const next = await createGateway(variables, { store })
    try {
      assert.equal(await addressOf(next, 'web.shop.svc.shop.test.'), ADDRESS)
      assert.deepEqual(opened, ['shop', 'shop'])
    } finally {
      await next.close()
    }
  })

  it('refuses bad variables', async () => {
    await assert.rejects(createGateway({ COREFILE, STALE_SECONDS: 'x' }), GatewayConfigError)
  })
})
