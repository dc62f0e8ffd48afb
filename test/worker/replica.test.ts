import { describe, type TestContext, test } from 'vitest'
import { hashToken } from '../../src/gateway/access/token.ts'
import { readGatewayConfig } from '../../src/gateway/config/config.ts'
import { createEdgeGateway } from '../../src/library/edge.ts'
import { createNodeGateway } from '../../src/server/gateway/node-gateway.ts'
import { keys } from '../cluster/follow/memory-gateway.ts'
import { WEB } from '../gateway/publishing.ts'
import { PublishingGateway } from './publishing-gateway.ts'

const TOKEN = 'the-token-of-a-replica'
const ADMIN = 'the-token-of-the-operator'
const COREFILE = '. {\n  kubernetes cluster.local {\n    cluster shop\n  }\n}\n'
const CHANGED = WEB.replace('0.80', '0.81')
const pair = await keys()

type Replica = (path: string, token: string) => Promise<Response>
type Start = (t: TestContext, url: string) => Promise<Replica>

const CLUSTERS = JSON.stringify({
  shop: { publicKey: pair.publicKeyText, tokenSha256: await hashToken('unused') },
})

const KINDS: Readonly<Record<string, Start>> = {
  'on Node': async (t, url) => {
    const gateway = await createNodeGateway({
      config: await readGatewayConfig({ COREFILE, CLUSTERS }),
      store: { url, token: TOKEN },
      corefileFolder: '/',
      tls: undefined,
      log: () => {},
    })
    t.onTestFinished(() => gateway.close())
    return (path, token) => gateway.fetch(request(path, token), '192.0.2.1')
  },
  'by Web APIs alone': async (_, url) => {
    const follow = { url, token: TOKEN }
    const gateway = await createEdgeGateway({ COREFILE, CLUSTERS }, { follow, log: () => {} })
    return (path, token) => gateway.fetch(request(path, token), '192.0.2.1')
  },
}

function request(path: string, token: string): Request {
  const headers = { authorization: `Bearer ${token}` }
  return new Request(`https://replica.example.org${path}`, { headers })
}

/** Asks again and again, as clients do; the runner's time limit ends it. */
async function until(replica: Replica, token: string, wanted: string): Promise<void> {
  for (;;) {
    const response = await replica('/resolve?name=web.shop.svc.cluster.local', token)
    const text = await response.text()
    if (`${response.status} ${text}`.includes(wanted)) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

describe('a replica of a Worker', () => {
  for (const [name, start] of Object.entries(KINDS)) {
    test(`follows it ${name}, answers its clients, and goes on without it`, async (t) => {
      const shop = await PublishingGateway.start(pair, undefined, {
        PUBLIC: 'false',
        REPLICA_TOKEN_SHA256: await hashToken(TOKEN),
        ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
      })
      let isStopped = false
      const stop = async (): Promise<void> => {
        if (!isStopped) await shop.stop()
        isStopped = true
      }
      t.onTestFinished(stop)
      const { url } = shop.gateway
      const operate = async (method: string, path: string): Promise<string> => {
        const headers = { authorization: `Bearer ${ADMIN}` }
        return (await fetch(`${url}/v1/tokens${path}`, { method, headers })).text()
      }
      const { id, token } = JSON.parse(await operate('POST', ''))
      const { token: other } = JSON.parse(await operate('POST', ''))
      const etag = await shop.publish(WEB, 1)
      const replica = await start(t, url)
      await until(replica, token, '10.96.0.80')
      await shop.publish(CHANGED, 2, etag)
      await until(replica, token, '10.96.0.81')
      await operate('DELETE', `/${id}`)
      await until(replica, token, '401')
      await until(replica, other, '10.96.0.81')
      await stop()
      for (let i = 0; i < 20; i++) await until(replica, other, '10.96.0.81')
    })
  }
})
