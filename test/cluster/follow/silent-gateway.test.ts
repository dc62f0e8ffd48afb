import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'vitest'
import { createGatewayClient, GatewayError } from '../../../src/exporter/gateway-client.ts'

test('a signal ends a request for the state of a gateway that is silent', async (t) => {
  const server = createServer(() => undefined)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  t.onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const url = `http://127.0.0.1:${address.port}`
  const ended = new AbortController()
  const asked = new Promise((resolve) => {
    server.once('request', resolve)
  })
  const reading = createGatewayClient({ url, cluster: 'shop', token: 'a-token' }).state(
    ended.signal,
  )
  await asked
  ended.abort()
  await assert.rejects(reading, GatewayError)
})
