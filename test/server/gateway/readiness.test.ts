import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'vitest'
import { readGatewayConfig } from '../../../src/gateway/config/config.ts'
import { type GatewayStore, StoreError } from '../../../src/gateway/snapshots/store.ts'
import {
  createNodeGateway,
  createNodeStore,
  type GatewayServer,
  type PrimaryAddress,
} from '../../../src/server/gateway/node-gateway.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { freePort } from '../../free-port.ts'
import { within } from '../clients.ts'

const COREFILE = '. {\n  kubernetes shop.test {\n    cluster shop\n  }\n  whoami\n}\n'
const { publicKeyText: publicKey } = await keys()

type Running = { readonly server: GatewayServer; readonly port: number }

/** @param broken whether the store of the cluster fails */
async function start(t: TestContext, broken: () => boolean = () => false): Promise<Running> {
  const whole = createNodeStore(undefined, () => undefined)
  const clusterStore: typeof whole.clusterStore = (cluster) => {
    const store = whole.clusterStore(cluster)
    const fail = <T>(read: () => Promise<T>): Promise<T> =>
      broken() ? Promise.reject(new StoreError('EIO', 'fault')) : read()
    return {
      ...store,
      readManifest: () => fail(() => store.readManifest()),
      readManifests: (countMax) => fail(() => store.readManifests(countMax)),
    }
  }
  return startOn(t, { ...whole, clusterStore })
}

async function startOn(t: TestContext, store: GatewayStore | PrimaryAddress): Promise<Running> {
  const config = await readGatewayConfig({
    COREFILE,
    CLUSTERS: JSON.stringify({ shop: { publicKey, tokenSha256: 'a'.repeat(64) } }),
    PUBLIC: 'true',
  })
  const server = await createNodeGateway({
    config,
    store,
    corefileFolder: '/',
    tls: undefined,
    log: () => undefined,
  })
  const port = await server.listen('127.0.0.1', 0)
  t.onTestFinished(() => server.close())
  return { server, port }
}

async function look({ port }: Running, method = 'GET'): Promise<{ status: number; text: string }> {
  const response = await fetch(`http://127.0.0.1:${port}/ready`, { method })
  return { status: response.status, text: await response.text() }
}

describe('/ready of a gateway on Node', () => {
  test('is 200 without a body before anything is published, for GET and HEAD', async (t) => {
    const running = await start(t)
    for (const method of ['GET', 'HEAD']) {
      assert.deepEqual(await look(running, method), { status: 200, text: '' })
    }
    assert.equal((await look(running, 'POST')).status, 404)
  })

  test('is 503 without a body until the store has answered, and 200 from then on', async (t) => {
    let isBroken = true
    const running = await start(t, () => isBroken)
    assert.deepEqual(await look(running), { status: 503, text: '' })
    isBroken = false
    const ready = async (): Promise<void> => {
      while ((await look(running)).status !== 200) {
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    await within(ready(), 'readiness')
    isBroken = true
    assert.equal((await look(running)).status, 200)
  })

  test('is 503 of a replica whose primary does not answer', async (t) => {
    const url = `http://127.0.0.1:${await freePort()}`
    const running = await startOn(t, { url, token: 'secret' })
    assert.deepEqual(await look(running), { status: 503, text: '' })
  })

  test('is 503 while the gateway lingers and answers', async (t) => {
    const running = await start(t)
    assert.equal((await look(running)).status, 200)
    const drained = running.server.drain(500)
    assert.equal((await look(running)).status, 503)
    const url = `http://127.0.0.1:${running.port}/resolve?name=a.test`
    assert.equal((await fetch(url)).status, 200)
    await within(drained, 'the end')
    await assert.rejects(fetch(url))
  })
})
