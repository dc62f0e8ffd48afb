/** A deployment in which Worker and objects are of two versions for a while. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { hashToken } from '../../src/gateway/access/token.ts'
import { keys } from '../cluster/follow/memory-gateway.ts'
import { WEB } from '../gateway/publishing.ts'
import { PublishingGateway } from './publishing-gateway.ts'

const ADMIN = 'the-operator'
const QUESTION = 'web.shop.svc.shop.example.org A'
const ANSWER = WEB.replace('cluster.local', 'shop.example.org')

const VERSIONS = [
  {
    name: 'a newer Worker beside older objects, which it cannot follow,',
    file: 'older-objects-worker.ts',
  },
  { name: 'an older Worker, which does not follow, beside newer objects', file: 'older-worker.ts' },
]

describe.each(VERSIONS)('$name', ({ file }) => {
  const entry = join(import.meta.dirname, file)

  test('answers, and notices changes', async (t) => {
    const shop = await PublishingGateway.start(await keys(), undefined, {}, { entry })
    t.onTestFinished(() => shop.stop())
    const etag = await shop.publish(WEB, 1)
    assert.ok((await shop.ask(QUESTION)).includes(ANSWER))
    await shop.publish(WEB.replace('0.80', '0.81'), 2, etag)
    const next = ANSWER.replace('0.80', '0.81')
    while (!(await shop.ask(QUESTION)).includes(next)) {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })

  test('admits tokens', async (t) => {
    const variables = { PUBLIC: 'false', ADMIN_TOKEN_SHA256: await hashToken(ADMIN) }
    const shop = await PublishingGateway.start(await keys(), undefined, variables, { entry })
    t.onTestFinished(() => shop.stop())
    await shop.publish(WEB, 1)
    const { url } = shop.gateway
    const made = await fetch(`${url}/v1/tokens`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN}` },
      body: JSON.stringify({ namespaces: ['*'] }),
    })
    const { token } = Object(await made.json())
    const statusOf = async (sent: string): Promise<number> => {
      const headers = { authorization: `Bearer ${sent}` }
      return (await fetch(`${url}/resolve?name=web.shop.svc.shop.example.org`, { headers })).status
    }
    assert.equal(await statusOf(token), 200)
    assert.equal(await statusOf(`${token.slice(0, -4)}xxxx`), 401)
  })
})
