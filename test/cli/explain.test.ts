import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'vitest'
import { createGatewayClient } from '../../src/exporter/gateway-client.ts'
import { readGatewayConfig } from '../../src/gateway/config.ts'
import { hashToken } from '../../src/gateway/token.ts'
import { createNodeGateway } from '../../src/node-gateway/node-gateway.ts'
import { keys } from '../exporter/memory-gateway.ts'
import { snapshotOf, WEB } from '../gateway/publishing.ts'
import { type Ran, runCli } from './run-cli.ts'

const ADMIN = 'the-token-of-the-operator'
const COREFILE = `. {
  errors
  kubernetes cluster.local {
    cluster shop
  }
}
`

async function start(
  t: TestContext,
  time = '2026-01-01T00:00:00.000Z',
): Promise<(words: string, token?: string) => Promise<Ran>> {
  const { privateKey, publicKeyText } = await keys()
  const shop = { publicKey: publicKeyText, tokenSha256: await hashToken('exporter') }
  const server = createNodeGateway({
    config: await readGatewayConfig({
      COREFILE,
      CLUSTERS: JSON.stringify({ shop }),
      ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
    }),
    folder: undefined,
    corefileFolder: '/',
    tls: undefined,
    log: () => undefined,
  })
  const url = `http://127.0.0.1:${await server.listen('127.0.0.1', 0)}`
  t.onTestFinished(() => server.close())
  const client = createGatewayClient({ url, cluster: 'shop', token: 'exporter' })
  const { signed, shards } = await snapshotOf(privateKey, [WEB], { generation: 7, time })
  for (const [sha256, bytes] of shards) await client.putShard(sha256, bytes)
  await client.putManifest(signed.bytes, signed.signature, undefined)
  return (words, admin = ADMIN) =>
    runCli(['explain', ...words.split(' '), '--gateway', url], { KUBEDOH_ADMIN_TOKEN: admin })
}

describe('kubedoh explain', () => {
  test('prints the server block, plugins and snapshots of an answer', async (t) => {
    const run = await start(t)
    const { status, stdout, stderr } = await run('web.shop.svc.cluster.local')
    assert.equal(status, 0, stderr)
    // The snapshot is from long ago, and so there is no answer from it.
    assert.equal(
      stdout,
      `answer        SERVFAIL
why           the newest snapshot is too old to answer from
server block  .
plugins       errors → kubernetes
kubernetes    cluster.local. (cluster) of cluster shop: generation 7 from 2026-01-01T00:00:00.000Z, expired; Service shop/web has A
view          everything
`,
    )
    const json = JSON.parse((await run('nosuch.cluster.local SRV --json')).stdout)
    assert.deepEqual(json.question, { name: 'nosuch.cluster.local.', type: 'SRV' })
  })

  test('names the object that has the name', async (t) => {
    const run = await start(t, new Date().toISOString())
    const { stdout } = await run('web.shop.svc.cluster.local')
    assert.match(stdout, /^kubernetes .*, fresh; Service shop\/web has A$/m)
    const none = await run('nosuch.shop.svc.cluster.local')
    assert.match(none.stdout, /^kubernetes .*, fresh; no such name$/m)
  })

  test('prints the visibility of the token', async (t) => {
    const run = await start(t)
    const refused = await run('a.cluster.local --token x')
    assert.equal(refused.status, 1)
    assert.match(refused.stderr, /A token is needed/)
  })
})
