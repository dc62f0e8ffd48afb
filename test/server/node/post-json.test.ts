import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'vitest'
import { postJson } from '../../../src/server/node/post-json.ts'

/** A collector that answers with a status, or not at all; what it gets. */
async function collector(
  t: TestContext,
  status: number | undefined,
): Promise<{ url: string; got: string[] }> {
  const got: string[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      got.push(`${request.method} ${request.url} ${request.headers['content-type']} ${body}`)
      if (status !== undefined) response.writeHead(status).end('what it says')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const { port }: Pick<AddressInfo, 'port'> =
    typeof address === 'object' && address ? address : { port: 0 }
  return { url: `http://127.0.0.1:${port}/spans`, got }
}

describe('postJson', () => {
  test('sends JSON', async (t) => {
    const { url, got } = await collector(t, 202)
    await postJson(url, '[1]', 5000)
    assert.deepEqual(got, ['POST /spans application/json [1]'])
  })

  test('reports the status', async (t) => {
    const { url } = await collector(t, 500)
    await assert.rejects(postJson(url, '[]', 5000), { message: `${url}: HTTP status 500` })
  })

  test('times out', async (t) => {
    const { url } = await collector(t, undefined)
    await assert.rejects(postJson(url, '[]', 20), { name: 'TimeoutError' })
  })
})
