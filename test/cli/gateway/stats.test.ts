import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'vitest'
import { failed, type Ran, runCli } from '../run-cli.ts'

const ACCOUNT = '0123456789abcdef0123456789abcdef'
const TOKEN = 'the-token-of-the-account'
const SQL = `SELECT blob1 AS cluster, blob2 AS rcode, SUM(_sample_interval) AS answers
FROM kubedoh
WHERE timestamp > NOW() - INTERVAL '604800' SECOND
GROUP BY cluster, rcode
ORDER BY answers DESC
LIMIT 100
`
const RESULT = JSON.stringify({
  meta: [
    { name: 'cluster', type: 'String' },
    { name: 'answers', type: 'UInt64' },
  ],
  data: [
    { cluster: 'prod', answers: '1200' },
    { cluster: '', answers: 7 },
  ],
  rows: 2,
})

type Seen = { readonly request: IncomingMessage; readonly sql: string }

/** Starts an API that gives one response; returns its URL, and what it was sent. */
async function startApi(t: TestContext, status: number, body: string): Promise<[string, Seen[]]> {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    seen.push({ request, sql: await text(request) })
    response.writeHead(status).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return [`http://127.0.0.1:${port}`, seen]
}

function stats(url: string, words: readonly string[] = [], more: object = {}): Promise<Ran> {
  const credentials = { CLOUDFLARE_ACCOUNT_ID: ACCOUNT, CLOUDFLARE_API_TOKEN: TOKEN }
  return runCli(['stats', ...words], { ...credentials, CLOUDFLARE_API_BASE_URL: url, ...more })
}

describe('kubedoh stats', () => {
  test('prints the query where there are no credentials', async () => {
    const { status, stdout, stderr } = await runCli(['stats'])
    assert.deepEqual([status, stdout], [0, SQL])
    assert.match(stderr, /^set CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN \(.*\) to run this/)
    const other = await runCli(['stats', 'names', '--by', 'token,colo', '--since', '1h'])
    assert.match(other.stdout, /^SELECT blob7 AS token, blob8 AS colo, /)
    assert.match(other.stdout, /\nFROM names\nWHERE .* '3600' SECOND\nGROUP BY token, colo\n/)
  })

  test('asks Analytics Engine where there are', async (t) => {
    const [url, seen] = await startApi(t, 200, RESULT)
    assert.equal((await stats(`${url}/`)).stdout, 'CLUSTER  ANSWERS\nprod     1200\n-        7\n')
    const [{ request, sql } = assert.fail('nothing was sent')] = seen
    assert.equal(request.method, 'POST')
    assert.equal(request.url, `/accounts/${ACCOUNT}/analytics_engine/sql`)
    assert.equal(request.headers.authorization, `Bearer ${TOKEN}`)
    assert.equal(sql, SQL)
    assert.equal((await stats(url, ['--json'])).stdout, RESULT)
  })

  const denied = '{"success":false,"errors":[{"code":10000,"message":"Authentication error"}]}'
  for (const [status, body, says] of [
    [403, denied, 'HTTP status 403: Authentication error'],
    [
      422,
      `unknown table:\n${'x'.repeat(1000)}`,
      `HTTP status 422: unknown table: ${'x'.repeat(185)}`,
    ],
    [200, '<html>', 'HTTP status 200: <html>'],
  ] as const) {
    test(`reports an API that answers ${status} ${body.slice(0, 6)}`, async (t) => {
      const [url] = await startApi(t, status, body)
      const { host } = new URL(url)
      assert.deepEqual(await stats(url), failed(`kubedoh: ${host}: ${says}`))
    })
  }

  const wrong: readonly { words?: string[]; more?: object; says: RegExp }[] = [
    { words: ['a;DROP'], says: /^kubedoh: "a;DROP" is not the name of a data set\n$/ },
    { words: ['--since', 'soon'], says: /^kubedoh: --since is "soon", expected a duration/ },
    {
      words: ['--by', 'name'],
      says: /^kubedoh: --by has "name", expected some of cluster, rcode,/,
    },
    { words: ['--by', 'constructor'], says: /^kubedoh: --by has "constructor", expected/ },
    { more: { CLOUDFLARE_ACCOUNT_ID: '../x' }, says: /^kubedoh: CLOUDFLARE_ACCOUNT_ID is "..\/x"/ },
    { more: { CLOUDFLARE_API_TOKEN: '' }, says: /^kubedoh: CLOUDFLARE_API_TOKEN is not set\n$/ },
    { more: { CLOUDFLARE_API_TOKEN: 'a b' }, says: /^kubedoh: CLOUDFLARE_API_TOKEN contains a/ },
    {
      more: { CLOUDFLARE_API_BASE_URL: 'http://192.0.2.1/' },
      says: /^kubedoh: CLOUDFLARE_API_BASE_URL "http:\/\/192.0.2.1\/" is not an https:/,
    },
    { says: /^kubedoh: 127\.0\.0\.1:9: .+\n$/ },
  ]
  for (const { words, more, says } of wrong) {
    test(`reports ${says.source.slice(10)}`, async () => {
      const { status, stdout, stderr } = await stats('http://127.0.0.1:9', words, more)
      assert.deepEqual([status, stdout], [1, ''])
      assert.match(stderr, says)
    })
  }
})
