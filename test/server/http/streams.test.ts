import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'vitest'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import { GRPC_PATH } from '../../../src/dns/wire/grpc-message.ts'
import { createResolver } from '../../../src/resolver/chain/create-resolver.ts'
import type { UpstreamClient } from '../../../src/resolver/contract/host.ts'
import { DnsServer } from '../../../src/server/serve/dns-server.ts'
import { openUpstream } from '../../../src/server/upstream/upstream-client.ts'
import { parseBlocks } from '../../ask.ts'
import { AUTHORITY, SERVER } from '../../certificates.ts'
import { FakeHost } from '../../fake-host.ts'
import { freePort } from '../../free-port.ts'
import { formatReply, parseQuestion } from '../../message-text.ts'
import { LONG_MS } from '../answer-samples.ts'

const FILES = { 'cert.pem': SERVER.cert, 'key.pem': SERVER.key }
const A = 'www.example.org. 3600 IN A 192.0.2.1'

/** Serves a block on loopback, with or without TLS. Returns a client for it. */
async function serveAt(
  t: TestContext,
  transport: 'tls' | 'https' | 'grpc',
  lines: readonly string[],
): Promise<{ client: UpstreamClient; metrics: Metrics; port: number }> {
  const port = await freePort()
  const corefile = `${transport}://example.org:${port} {
  bind 127.0.0.1
  ${lines.join('\n  ')}
  hosts {
    192.0.2.1 www.example.org
  }
}`
  const metrics = new Metrics()
  const server = new DnsServer(metrics)
  t.onTestFinished(() => server.close())
  await server.serve(createResolver(parseBlocks(corefile), new FakeHost({ files: FILES })))
  const path = transport === 'grpc' ? GRPC_PATH : '/dns-query'
  const url = `https://127.0.0.1:${port}${path}`
  const upstream = { transport, address: '127.0.0.1', port, ...(transport !== 'tls' && { url }) }
  const client = openUpstream(upstream, {
    tls: { ca: AUTHORITY },
    expireMs: LONG_MS,
    ageMsMax: 0,
    idleMax: 0,
    dohMethod: 'POST',
    resolvers: [],
    onConnection: () => undefined,
  })
  t.onTestFinished(() => client.close())
  return { client, metrics, port }
}

async function ask(client: UpstreamClient, question: string): Promise<string[]> {
  const { message } = parseQuestion(question)
  return formatReply(await client.exchange(message, { protocol: 'tcp', timeoutMs: LONG_MS }))
}

describe('server blocks', () => {
  for (const transport of ['tls', 'https', 'grpc'] as const) {
    test(`answer over ${transport}, padded for clients that pad (RFC 8467)`, async (t) => {
      const { client } = await serveAt(t, transport, ['tls cert.pem key.pem'])
      assert.deepEqual(await ask(client, 'www.example.org A'), ['NOERROR aa rd', A])
      const { message } = parseQuestion('www.example.org A +padding')
      const padded = await client.exchange(message, { protocol: 'tcp', timeoutMs: LONG_MS })
      assert.equal(padded.length, 468)
    })
  }

  test('count HTTPS responses', async (t) => {
    const { client, metrics, port } = await serveAt(t, 'https', ['tls cert.pem key.pem'])
    for (let i = 0; i < 3; i++) await ask(client, 'www.example.org A')
    const labels = `server="https://:${port}",status="200"`
    assert.ok(metrics.format().includes(`coredns_dns_https_responses_total{${labels}} 3\n`))
  })

  test('are plain HTTP without a certificate, as in CoreDNS', async (t) => {
    const { port } = await serveAt(t, 'https', [])
    const name = 'name=www.example.org&type=A'
    const response = await fetch(`http://127.0.0.1:${port}/resolve?${name}`)
    assert.equal(response.status, 200)
  })
})
