import assert from 'node:assert/strict'
import { test } from 'vitest'
import { hashToken } from '../../src/gateway/access/token.ts'
import { keys } from '../cluster/follow/memory-gateway.ts'
import { WEB } from '../gateway/publishing.ts'
import { PublishingGateway } from './publishing-gateway.ts'

const ADMIN = 'the-token-of-the-operator'

test('a token by labels sees in workerd what the labels say now', async (t) => {
  const more = { PUBLIC: 'false', ADMIN_TOKEN_SHA256: await hashToken(ADMIN) }
  const shop = await PublishingGateway.start(await keys(), undefined, more)
  t.onTestFinished(() => shop.stop())
  const made = await fetch(`${shop.gateway.url}/v1/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN}` },
    body: JSON.stringify({ namespaces: ['team=shop'] }),
  })
  assert.equal(made.status, 201)
  const { token } = (await made.json()) as { token: string }
  const status = async (): Promise<unknown> => {
    const url = `${shop.gateway.url}/resolve?name=web.shop.svc.shop.example.org`
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
    return ((await response.json()) as { Status: unknown }).Status
  }
  const until = async (wanted: number): Promise<void> => {
    while ((await status()) !== wanted) await new Promise((resolve) => setTimeout(resolve, 50))
  }
  let etag = await shop.publish(WEB, 1, undefined, { labels: { shop: ['team=shop'] } })
  await until(0)
  etag = await shop.publish(WEB, 2, etag, { labels: { shop: ['team=web'] } })
  await until(3)
  await shop.publish(WEB, 3, etag, { labels: { shop: ['a=b', 'team=shop'] } })
  await until(0)
})
