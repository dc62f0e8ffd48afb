import assert from 'node:assert/strict'
import { test } from 'vitest'
import { readGatewayConfig } from '../../src/gateway/config.ts'
import { createNodeRuntime } from '../../src/node-gateway/node-runtime.ts'
import { keys } from '../exporter/memory-gateway.ts'
import { tokenRecord } from '../gateway/tokens.ts'
import { temporaryFolder } from './temporary-folder.ts'

const { publicKeyText: publicKey } = await keys()

async function options(
  folder: string | undefined,
): Promise<Parameters<typeof createNodeRuntime>[0]> {
  const CLUSTERS = JSON.stringify({ shop: { publicKey, tokenSha256: 'a'.repeat(64) } })
  const config = await readGatewayConfig({ COREFILE: '. {\n}\n', CLUSTERS })
  return { config, folder, corefileFolder: '/', log: () => undefined }
}

test('a cluster that CLUSTERS lacks has no store and no writer', async () => {
  const runtime = createNodeRuntime(await options(undefined))
  assert.equal(await runtime.originOf('shop').readManifest(), undefined)
  assert.throws(() => runtime.originOf('lab'), /CLUSTERS has no cluster "lab"/)
})

test('tokens stay in the folder, and nowhere without one', async (t) => {
  const folder = temporaryFolder(t)
  const { record } = await tokenRecord()
  for (const [where, count] of [
    [folder, 1],
    [undefined, 0],
  ] as const) {
    await createNodeRuntime(await options(where)).tokenStore.add(record)
    const again = await createNodeRuntime(await options(where)).tokenStore.list()
    assert.equal(again.length, count)
  }
})
