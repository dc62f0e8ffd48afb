import assert from 'node:assert/strict'
import { test } from 'vitest'
import { createGatewayClient } from '../../src/exporter/gateway-client.ts'

test('a gateway names the versions that it reads, also before anything is published', async () => {
  const nothing = JSON.stringify({ error: { code: 'nothing_yet', message: 'Nothing yet' } })
  const headers = { 'kubedoh-reads': '2, 3' }
  const answers = [
    { answer: new Response(nothing, { status: 404 }), reads: [1] },
    { answer: new Response(nothing, { status: 404, headers }), reads: [2, 3] },
    // A proxy's page says nothing of the gateway.
    { answer: new Response('<p>', { status: 502 }), reads: [2, 3] },
    { answer: new Response('{"generation":7}', { headers: { etag: '"e1"' } }), reads: [1] },
  ]
  const left = answers.map(({ answer }) => answer)
  const client = createGatewayClient({
    url: 'https://dns.example.org',
    cluster: 'shop',
    token: 'a-token',
    fetch: async () => left.shift() ?? assert.fail(),
  })
  assert.deepEqual(client.reads(), [1])
  for (const { reads } of answers) {
    await client.state().catch(() => undefined)
    assert.deepEqual(client.reads(), reads)
  }
})
