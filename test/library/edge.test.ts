/** `kubedoh/edge` where there is nothing but Web APIs. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { build, type OutputFile } from 'esbuild'
import { describe, test } from 'vitest'
import { encodeBase64url } from '../../src/dns/bytes/base64url.ts'
import { hashToken } from '../../src/gateway/access/token.ts'
import { nameOf, parseResponse, RCODE, TYPE, writeQuery } from '../../src/library/dns.ts'
import {
  createEdgeGateway,
  createMemoryGatewayStore,
  type EdgeGateway,
  GatewayConfigError,
} from '../../src/library/edge.ts'
import { keys } from '../cluster/follow/memory-gateway.ts'
import { snapshotOf, WEB } from '../gateway/publishing.ts'

const ENTRY = join(import.meta.dirname, '../../src/library/edge.ts')
const COREFILE = '. {\n  hosts {\n    192.0.2.1 web.test\n  }\n}\n'
/** All that a module finds of its runtime: no `process`, `Buffer` or `require`. */
const WEB_APIS = {
  AbortController,
  AbortSignal,
  atob,
  btoa,
  clearTimeout,
  console,
  crypto,
  fetch,
  Headers,
  performance,
  ReadableStream,
  Request,
  Response,
  setTimeout,
  TextDecoder,
  TextEncoder,
  URL,
  URLSearchParams,
}

async function bundleFor(platform: 'neutral' | 'browser'): Promise<OutputFile> {
  const { outputFiles, metafile } = await build({
    entryPoints: [ENTRY],
    bundle: true,
    write: false,
    metafile: true,
    format: 'iife',
    globalName: 'edge',
    platform,
    logLevel: 'silent',
  })
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports)
  assert.deepEqual(imports, [])
  return outputFiles[0] ?? assert.fail('there is no output')
}

async function addressOf(gateway: EdgeGateway, name: string): Promise<string> {
  const dns = encodeBase64url(writeQuery({ name: nameOf(name), type: TYPE.A }))
  const request = new Request(`https://doh.test/dns-query?dns=${dns}`)
  const response = await gateway.fetch(request, '203.0.113.7')
  const reply = parseResponse(new Uint8Array(await response.arrayBuffer()))
  assert.equal(reply?.rcode, RCODE.NOERROR)
  return reply.answer[0]?.rdata.join('.') ?? ''
}

describe('kubedoh/edge', () => {
  for (const platform of ['neutral', 'browser'] as const) {
    test(`needs no module of Node when it is bundled for ${platform}`, async () => {
      assert.ok((await bundleFor(platform)).text.includes('createEdgeGateway'))
    })
  }

  test('answers with Web APIs alone', async () => {
    const context = createContext({ ...WEB_APIS, COREFILE })
    const { text } = await bundleFor('neutral')
    runInContext(text, context)
    const gateway = await runInContext(
      "edge.createEdgeGateway({ COREFILE, PUBLIC: 'true' })",
      context,
    )
    assert.equal(await addressOf(gateway, 'web.test.'), '192.0.2.1')
    const json = new Request('https://doh.test/a/../resolve?name=web.test')
    const { Answer } = await (await gateway.fetch(json, '203.0.113.7')).json()
    assert.equal(Answer[0].data, '192.0.2.1')
  })

  for (const url of ['http://dns.example.org', 'dns.example.org', 'ftp://localhost']) {
    test(`does not follow ${url}`, async () => {
      await assert.rejects(
        createEdgeGateway({ COREFILE }, { follow: { url, token: 'x' } }),
        new GatewayConfigError(`follow.url is "${url}", expected https://HOST`),
      )
    })
  }

  test('takes publications into its store, and answers from them', async () => {
    const { privateKey, publicKeyText: publicKey } = await keys()
    const shop = { publicKey, tokenSha256: await hashToken('exporter') }
    const store = createMemoryGatewayStore()
    const gateway = await createEdgeGateway(
      {
        COREFILE: 'import zones',
        FILES: { zones: '. {\n  kubernetes shop.test {\n    cluster shop\n  }\n}\n' },
        CLUSTERS: JSON.stringify({ shop }),
        PUBLIC: 'true',
      },
      { store, log: () => assert.fail('nothing is to be logged') },
    )
    const { signed, shards } = await snapshotOf(privateKey, [WEB], {
      time: new Date().toISOString(),
    })
    const put = async (path: string, body: Uint8Array, headers = {}): Promise<number> => {
      const url = `https://doh.test/v1/clusters/shop/${path}`
      const request = new Request(url, {
        method: 'PUT',
        headers: { authorization: 'Bearer exporter', 'if-none-match': '*', ...headers },
        body: new Uint8Array(body),
      })
      return (await gateway.fetch(request, '203.0.113.7')).status
    }
    for (const [sha256, bytes] of shards) await put(`shards/${sha256}`, bytes)
    const status = await put('manifest', signed.bytes, { 'kubedoh-signature': signed.signature })
    assert.equal(status, 201)
    assert.equal(await addressOf(gateway, 'web.shop.svc.shop.test.'), '10.96.0.80')
  })

  test('keeps background work alive beyond the response', async () => {
    const kept: Promise<void>[] = []
    const { privateKey: _, publicKeyText: publicKey } = await keys()
    const CLUSTERS = JSON.stringify({ shop: { publicKey, tokenSha256: 'a'.repeat(64) } })
    const gateway = await createEdgeGateway({
      COREFILE: '. {\n  kubernetes shop.test {\n    cluster shop\n  }\n}\n',
      CLUSTERS,
      PUBLIC: 'true',
    })
    const request = new Request('https://doh.test/resolve?name=web.shop.test')
    await gateway.fetch(request, '203.0.113.7', (promise) => void kept.push(promise))
    assert.ok(kept.length > 0)
    await Promise.all(kept)
  })

  test('refuses bad variables', async () => {
    await assert.rejects(createEdgeGateway({ COREFILE, STALE_SECONDS: 'x' }), GatewayConfigError)
  })
})
