import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { GatewayConfigError, type GatewayVariables } from '../../../src/gateway/config/config.ts'
import { StoreError } from '../../../src/gateway/snapshots/store.ts'
import { START_MS } from '../../fake-host.ts'
import { WEB } from '../publishing.ts'
import {
  CLIENT_TOKEN,
  COREFILE,
  clientSha256,
  EXPORTER_TOKEN,
  QUESTION,
  Running,
  withToken,
} from '../running.ts'

const READ_TOKEN = 'the-token-of-prometheus'
const readSha256 = await hashToken(READ_TOKEN)

test('the page has the URI template of DNS over HTTPS in a header', async () => {
  const { headers } = await (await Running.start()).get('/')
  const template = '"dns-query{?dns}"; rel="https://www.rfc-editor.org/info/rfc8484"'
  assert.equal(headers.get('link-template'), template)
})

describe('who may see what', () => {
  const path = (token: string): string => `/t/${token}/dns-query${QUESTION}`
  const cases: {
    name: string
    variables?: Partial<GatewayVariables>
    path: string
    token?: string
    status: number
  }[] = [
    {
      name: 'a gateway without configured access answers no client',
      path: `/dns-query${QUESTION}`,
      status: 401,
    },
    { name: 'nor with a token', path: `/dns-query${QUESTION}`, token: CLIENT_TOKEN, status: 401 },
    { name: 'nor with one in the path', path: path(CLIENT_TOKEN), status: 401 },
    ...[
      {
        name: 'queries with the token',
        path: `/dns-query${QUESTION}`,
        token: CLIENT_TOKEN,
        status: 200,
      },
      { name: 'queries with the token in the path', path: path(CLIENT_TOKEN), status: 200 },
      {
        name: 'queries in JSON',
        path: '/resolve?name=a.shop.example.org',
        token: CLIENT_TOKEN,
        status: 200,
      },
      {
        name: 'queries in JSON by the path',
        path: `/t/${CLIENT_TOKEN}/resolve?name=a`,
        status: 200,
      },
      { name: 'does not query without', path: `/dns-query${QUESTION}`, status: 401 },
      { name: 'does not query in JSON without', path: '/resolve?name=a', status: 401 },
      { name: 'does not query with another', path: path('x'), status: 401 },
      { name: 'does not query with the exporter’s', path: path(EXPORTER_TOKEN), status: 401 },
      { name: 'sees whether it is ready', path: '/readyz', token: CLIENT_TOKEN, status: 503 },
    ].map((row) => ({ ...row, variables: { CLIENT_TOKEN_SHA256: clientSha256 } })),
    ...[
      { name: 'everybody queries', path: `/dns-query${QUESTION}`, status: 200 },
      { name: 'everybody queries, token or not', path: path('x'), status: 200 },
      { name: 'not everybody sees metrics', path: '/metrics', status: 401 },
      { name: 'not everybody sees whether it is ready', path: '/readyz', status: 401 },
      {
        name: 'a client that exports sees metrics',
        path: '/metrics',
        token: EXPORTER_TOKEN,
        status: 200,
      },
      { name: 'not everybody sees what is published', path: '/v1/clusters/shop', status: 401 },
    ].map((row) => ({ ...row, variables: { PUBLIC: 'true' } })),
    { name: 'everybody sees the page', path: '/', status: 200 },
    { name: 'nobody sees metrics', path: '/metrics', status: 401 },
    { name: 'everybody sees that it lives', path: '/healthz', status: 200 },
    ...[
      { name: 'a read-only token sees metrics', path: '/metrics', status: 200 },
      { name: 'a read-only token sees whether it is ready', path: '/readyz', status: 503 },
      { name: 'a read-only token sees no tokens', path: '/v1/tokens', status: 401 },
      { name: 'a read-only token sees no conflicts', path: '/v1/conflicts', status: 401 },
      { name: 'a read-only token sees no cluster', path: '/v1/clusters/shop', status: 401 },
      { name: 'a read-only token explains', path: '/v1/explain?name=a', status: 200 },
      { name: 'a read-only token queries nothing', path: '/resolve?name=a', status: 401 },
    ].map((row) => ({
      ...row,
      token: READ_TOKEN,
      variables: { READ_ONLY_TOKEN_SHA256: readSha256, ADMIN_TOKEN_SHA256: clientSha256 },
    })),
    { name: 'there is nothing else', path: '/admin', status: 404 },
  ]
  for (const { name, variables, path: at, token, status } of cases) {
    test(name, async () => {
      const response = await (await Running.start(variables)).get(at, token)
      assert.equal(response.status, status)
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    })
  }

  test('what a token sees is private, and nothing is where everybody asks', async () => {
    const [closed, open] = await Promise.all([withToken(), Running.start({ PUBLIC: 'true' })])
    await Promise.all([closed.publish(), open.publish()])
    const [one, other] = await Promise.all([
      closed.get(`/t/${CLIENT_TOKEN}/dns-query${QUESTION}`),
      open.get(`/dns-query${QUESTION}`),
    ])
    assert.equal(one.headers.get('cache-control'), 'private, max-age=5, no-transform')
    assert.equal(other.headers.get('cache-control'), 'max-age=5, no-transform')
  })
})

describe('answers', () => {
  const answer = 'web.shop.svc.shop.example.org. 5 IN A 10.96.0.80'

  test('come from the published names, below the origin of the query', async () => {
    const running = await withToken()
    await running.publish()
    assert.ok((await running.ask()).includes(answer))
    const local = await running.ask('web.shop.svc.cluster.local A')
    assert.ok(local.includes(answer.replace('shop.example.org', 'cluster.local')))
  })

  test('are SERVFAIL, and say why, until something is published', async () => {
    const lines = await (await withToken()).ask('web.shop.svc.shop.example.org A +edns')
    assert.match(lines.join('\n'), /^SERVFAIL[\s\S]*\nede: 14 no snapshot yet$/)
  })

  test('follow what is published, by a refresh that outlives the request', async () => {
    const running = await withToken()
    await running.publish()
    await running.ask()
    await running.publish(WEB.replace('0.80', '0.81'), 2)
    await running.host.advance(1000)
    assert.ok((await running.ask()).includes(answer))
    assert.equal(running.kept.length, 2)
    await Promise.all(running.kept)
    assert.ok((await running.ask()).includes(answer.replace('0.80', '0.81')))
  })

  test('say that they are old when the exporter has been silent for a minute', async () => {
    const running = await withToken()
    await running.publish()
    await running.host.advance(60_000)
    const lines = await running.ask('web.shop.svc.shop.example.org A +edns')
    assert.ok(lines.includes(answer))
    assert.match(lines.join('\n'), /\nede: 3$/)
  })

  test('end when the exporter has been silent for a day', async () => {
    const running = await withToken()
    await running.publish()
    await running.host.advance(86_400_000)
    assert.match((await running.ask()).join('\n'), /SERVFAIL/)
  })
})

describe('readiness', () => {
  test('names the clusters that are waited for', async () => {
    const running = await withToken()
    const waiting = await running.get('/readyz', EXPORTER_TOKEN)
    assert.equal(waiting.status, 503)
    assert.equal(await waiting.text(), 'shop')
    await running.publish()
    await running.host.advance(1000)
    const ready = await running.get('/readyz', EXPORTER_TOKEN)
    assert.equal(ready.status, 200)
  })

  test('survives a store that fails', async () => {
    const running = await withToken()
    running.store.readManifest = () => Promise.reject(new Error('the store is away'))
    assert.equal((await running.get('/readyz', EXPORTER_TOKEN)).status, 503)
    assert.match(JSON.stringify(running.host.events), /the store is away/)
  })

  test('ends with the last good snapshot', async () => {
    const running = await withToken()
    await running.publish()
    await running.host.advance(86_400_000)
    assert.equal((await running.get('/readyz', EXPORTER_TOKEN)).status, 503)
  })
})

test('metrics count queries and report the age of snapshots', async () => {
  const running = await Running.start({
    CLIENT_TOKEN_SHA256: clientSha256,
    COREFILE: COREFILE.replace('. {', '. {\n  prometheus'),
  })
  await running.publish()
  for (const name of ['web', 'nope']) await running.ask(`${name}.shop.svc.shop.example.org A`)
  await running.ask('web.elsewhere.example A')
  const text = await (await running.get('/metrics', EXPORTER_TOKEN)).text()
  assert.match(text, /^kubedoh_gateway_cluster_requests_total\{cluster="shop"\} 2$/m)
  assert.match(text, /^kubedoh_snapshot_age_seconds\{cluster="shop"\} 0$/m)
  assert.match(text, /^coredns_dns_requests_total\{.*type="A".*\} 3$/m)
})

test('a new token is valid at once after a query with an unknown one, and a revoked one is not', async () => {
  const admin = 'the-token-of-the-operator'
  const running = await Running.start({ ADMIN_TOKEN_SHA256: await hashToken(admin) })
  await running.publish()
  const status = async (token: string): Promise<number> =>
    (await running.get(`/dns-query${QUESTION}`, token)).status
  assert.equal(await status(`kdt_0123456789ab_${'x'.repeat(43)}`), 401)
  const headers = { authorization: `Bearer ${admin}` }
  const made = await running.app.request('/v1/tokens', { method: 'POST', headers, body: '{}' })
  const { id, token }: { id: string; token: string } = JSON.parse(await made.text())
  assert.equal(await status(token), 200)
  assert.equal((await running.send(`/v1/tokens/${id}`, headers, 'DELETE')).status, 204)
  assert.equal(await status(token), 401)
})

describe('a Corefile that a gateway cannot follow is refused:', () => {
  const cases = [
    { line: 'nonsense', message: /^COREFILE:2:\d+: there is no plugin "nonsense"/ },
    {
      line: 'ready\n etcd a.example.org {\n cluster depot\n }\n nonsense',
      message: /^COREFILE:3:2: CLUSTERS has no cluster "depot"; COREFILE:6:2: there is no/,
    },
    {
      line: 'kubernetes a.example.org {\n cluster depot lab\n }',
      message: /CLUSTERS has no cluster "depot"/,
    },
    {
      line: 'kubernetes a.example.org {\n cluster depot\n }',
      message: /CLUSTERS has no cluster "depot"/,
    },
  ]
  for (const { line, message } of cases) {
    test(line, async () => {
      await assert.rejects(Running.start({ COREFILE: `. {\n ${line}\n}\n` }), (error) => {
        assert.ok(error instanceof GatewayConfigError)
        assert.match(error.message, message)
        return true
      })
    })
  }
})

test('a gateway with one cluster needs no name for it, and ignores directives of servers', async () => {
  const lines = 'health\n reload\n ready\n kubernetes shop.test'
  const running = await Running.start({ COREFILE: `. {\n ${lines}\n}\n` })
  await running.publish()
  assert.equal((await running.get('/readyz', EXPORTER_TOKEN)).status, 200)
})

test('an internal error is logged and not sent to the client', async () => {
  const running = await Running.start()
  const response = await running.get('/v1/clusters/shop', EXPORTER_TOKEN)
  assert.equal(response.status, 500)
  const text = await response.text()
  assert.equal(JSON.parse(text).error.code, 'internal')
  assert.doesNotMatch(text, /secret/)
  assert.match(JSON.stringify(running.host.events), /a secret that no response has/)
  assert.equal(running.host.now(), START_MS)
})

test('a store that fails is named to its writer, and the path to the log only', async () => {
  const running = await Running.start()
  const fail = (): never => {
    throw new StoreError('ENOSPC', new Error('ENOSPC: no space left on device, write /var/x'))
  }
  const writes = { putShard: fail, putManifest: fail, putPublication: fail, pin: fail }
  running.writer = { ...writes, state: fail, history: fail }
  const response = await running.get('/v1/clusters/shop', EXPORTER_TOKEN)
  assert.equal(response.status, 507)
  const { error } = JSON.parse(await response.text())
  const message = "The gateway's storage is full; free space and try again (ENOSPC)"
  assert.deepEqual(error, { code: 'no_space', message })
  assert.match(JSON.stringify(running.host.events), /write \/var\/x/)
})

test('health is a status and nothing else, for everybody', async () => {
  const running = await Running.start({ CLIENT_TOKEN_SHA256: clientSha256 })
  const health = await running.get('/healthz')
  assert.deepEqual([health.status, await health.text()], [200, ''])
  assert.equal(health.headers.get('cache-control'), 'no-store')
})

test('the kit has the scheme that the client sees', async () => {
  const running = await Running.start({ PUBLIC: 'true' })
  const kit = async (scheme: string): Promise<string> => {
    const headers = { 'x-forwarded-proto': scheme }
    return (await running.app.request('http://dns.example.org/kit', { headers })).text()
  }
  assert.match(await kit('https'), /https:\/\/dns\.example\.org/)
  for (const scheme of ['http', 'javascript']) assert.match(await kit(scheme), /no_kit/)
})
