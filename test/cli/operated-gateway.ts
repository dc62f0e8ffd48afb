/**
 * A gateway on Node with a token of the operator, for the commands that ask it.
 * @module
 */
import type { TestContext } from 'vitest'
import { createGatewayClient } from '../../src/exporter/gateway-client.ts'
import { hashToken } from '../../src/gateway/access/token.ts'
import { type GatewayVariables, readGatewayConfig } from '../../src/gateway/config/config.ts'
import { createMemoryGatewayStore } from '../../src/gateway/snapshots/store.ts'
import { createNodeGateway } from '../../src/server/gateway/node-gateway.ts'
import { keys } from '../cluster/follow/memory-gateway.ts'
import { snapshotOf, WEB } from '../gateway/publishing.ts'

/** Token of the operator. */
export const ADMIN = 'the-token-of-the-operator'

/** Starts a gateway, which runs until its test ends. Returns its port. */
export async function startOperatedGateway(
  t: TestContext,
  variables: GatewayVariables,
  options: Partial<Parameters<typeof createNodeGateway>[0]> = {},
): Promise<number> {
  const server = await createNodeGateway({
    config: await readGatewayConfig({ ...variables, ADMIN_TOKEN_SHA256: await hashToken(ADMIN) }),
    store: createMemoryGatewayStore(),
    corefileFolder: '/',
    tls: undefined,
    log: () => undefined,
    ...options,
  })
  const port = await server.listen('127.0.0.1', 0)
  t.onTestFinished(() => server.close())
  return port
}

/**
 * Starts a gateway for cluster `shop`, with a snapshot of `WEB` from a time, or with none. Returns
 * its URL.
 */
export async function startShopGateway(
  t: TestContext,
  COREFILE: string,
  time: string | undefined,
): Promise<string> {
  const { privateKey, publicKeyText } = await keys()
  const shop = { publicKey: publicKeyText, tokenSha256: await hashToken('exporter') }
  const port = await startOperatedGateway(t, { COREFILE, CLUSTERS: JSON.stringify({ shop }) })
  const url = `http://127.0.0.1:${port}`
  if (time === undefined) return url
  const client = createGatewayClient({ url, cluster: 'shop', token: 'exporter' })
  const { signed, shards } = await snapshotOf(privateKey, [WEB], { generation: 7, time })
  for (const [sha256, bytes] of shards) await client.putShard(sha256, bytes)
  await client.putManifest(signed.bytes, signed.signature, undefined)
  return url
}
