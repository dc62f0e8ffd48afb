import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { startGateway } from '../../build/local-gateway.ts'
import { hashToken } from '../../src/gateway/access/token.ts'
import { keys } from '../cluster/follow/memory-gateway.ts'
import { WEB } from '../gateway/publishing.ts'
import { PublishingGateway } from './publishing-gateway.ts'

describe('a Worker whose variables are wrong says so, and answers nothing:', () => {
  const corefile = '. {\n  kubernetes shop.example.org {\n    cluster shop\n  }\n}\n'
  const cases = [
    { variables: {}, message: 'COREFILE is not set' },
    {
      variables: { COREFILE: corefile, CLUSTERS: '{}' },
      message: 'COREFILE:2:3: CLUSTERS has no cluster "shop"',
    },
    {
      variables: { COREFILE: '. {\n  whoami\n}\n', CLUSTER_LOCATION: 'eu' },
      message:
        'CLUSTER_LOCATION "eu" is none of wnam, enam, sam, weur, eeur, apac, apac-ne, apac-se, ' +
        'oc, afr, me',
    },
    {
      variables: { COREFILE: '. {\n  whoami\n}\n', JURISDICTION: 'weur' },
      message: 'JURISDICTION "weur" is none of eu, fedramp, us',
    },
    {
      // Otherwise the names of a company that asked for it would be kept elsewhere.
      variables: { COREFILE: '. {\n  whoami\n}\n', JURISDICTION: 'eu' },
      message:
        'JURISDICTION "eu" cannot be used: ' +
        'Jurisdiction restrictions are not implemented in workerd.',
    },
    {
      // The value may be a secret: only the log quotes it.
      variables: { COREFILE: '. {\n  forward . {$UPSTREAM}\n}\n', UPSTREAM: 'hunter2' },
      message: 'The configuration is invalid; the log of the Worker says where',
    },
  ]
  for (const { variables, message } of cases) {
    test(message, async (t) => {
      const gateway = await startGateway({ variables, port: 0 })
      t.onTestFinished(() => gateway.stop())
      const health = await fetch(`${gateway.url}/healthz`)
      assert.deepEqual([health.status, await health.text()], [503, ''])
      for (const path of ['/', '/dns-query?name=a']) {
        const response = await fetch(`${gateway.url}${path}`)
        assert.equal(response.status, 503)
        assert.equal(response.headers.get('retry-after'), '60')
        assert.deepEqual(await response.json(), { error: { code: 'misconfigured', message } })
      }
    })
  }
})

test('a Worker has the files and variables that its Corefile names', async (t) => {
  const gateway = await startGateway({
    variables: {
      PUBLIC: 'true',
      ZONE: 'a.test',
      COREFILE: `import snippets/*
. {
  import logged
  bind 192.0.2.1
  root zones
  file db.a.test {$ZONE}
  auto b.test {
    directory auto
  }
  hosts hosts c.test
}
`,
      FILES: JSON.stringify({
        'snippets/logged': '(logged) {\n  log\n}\n',
        '/zones/db.a.test': '@ 60 IN SOA ns h 1 2 3 4 5\nwww 60 IN A 192.0.2.1\n',
        'zones/auto/db.b.test': '@ 60 IN SOA ns h 1 2 3 4 5\nwww 60 IN A 192.0.2.2\n',
        'zones/hosts': '192.0.2.3 www.c.test\n',
      }),
    },
  })
  t.onTestFinished(() => gateway.stop())
  for (const [i, name] of ['www.a.test', 'www.b.test', 'www.c.test'].entries()) {
    const response = await fetch(`${gateway.url}/resolve?name=${name}`)
    const { Answer: answer } = Object(await response.json())
    assert.deepEqual(answer?.[0]?.data, `192.0.2.${i + 1}`, name)
  }
})

test('a Worker answers from what is published, and goes over to what is newer', async (t) => {
  const shop = await PublishingGateway.start(await keys())
  t.onTestFinished(() => shop.stop())
  const question = 'web.shop.svc.shop.example.org A'
  assert.match((await shop.ask(question)).join('\n'), /^SERVFAIL/)
  const etag = await shop.publish(WEB, 1)
  const answer = WEB.replace('cluster.local', 'shop.example.org')
  await until(async () => (await shop.ask(question)).includes(answer))
  await shop.publish(WEB.replace('0.80', '0.81'), 2, etag)
  await until(async () => (await shop.ask(question)).includes(answer.replace('0.80', '0.81')))
  assert.match((await shop.ask('none.shop.svc.shop.example.org A')).join('\n'), /^NXDOMAIN/)
})

test('a Worker without the recovery of Cloudflare restores no tokens, and says why', async (t) => {
  const ADMIN_TOKEN_SHA256 = await hashToken('the-operator')
  const variables = { COREFILE: '. {\n  whoami\n}\n', ADMIN_TOKEN_SHA256 }
  const gateway = await startGateway({ variables })
  t.onTestFinished(() => gateway.stop())
  const headers = { authorization: 'Bearer the-operator' }
  const send = (path: string, body: unknown): Promise<Response> =>
    fetch(`${gateway.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  assert.equal((await send('/v1/tokens', {})).status, 201)
  const refused = await send('/v1/tokens/restore', { at: new Date().toISOString() })
  assert.equal(refused.status, 501)
  const message =
    "Tokens cannot be restored here: This Durable Object's storage back-end does not implement " +
    'point-in-time recovery.'
  assert.deepEqual(await refused.json(), { error: { code: 'cannot_restore', message } })
  const { tokens } = Object(await (await fetch(`${gateway.url}/v1/tokens`, { headers })).json())
  assert.equal(tokens.length, 1)
})

test('a Worker that nobody has queried has the age of a cluster in its metrics', async (t) => {
  const ADMIN_TOKEN_SHA256 = await hashToken('the-operator')
  const shop = await PublishingGateway.start(await keys(), undefined, { ADMIN_TOKEN_SHA256 })
  t.onTestFinished(() => shop.stop())
  await shop.publish(WEB, 1)
  const headers = { authorization: 'Bearer the-operator' }
  const text = await (await fetch(`${shop.gateway.url}/metrics`, { headers })).text()
  assert.match(text, /^kubedoh_gateway_metrics_scope\{scope="isolate"\} 1$/m)
  assert.match(text, /^kubedoh_snapshot_age_seconds\{cluster="shop"\} \d/m)
})

test('requests that come at once to a cold Worker are all answered', async (t) => {
  const shop = await PublishingGateway.start(await keys())
  t.onTestFinished(() => shop.stop())
  await shop.publish(WEB, 1)
  const question = 'web.shop.svc.cluster.local A'
  const replies = await Promise.all(Array.from({ length: 24 }, () => shop.ask(question)))
  for (const reply of replies) assert.ok(reply.includes(WEB))
})

/** Asks again and again, as clients do; the runner's time limit ends it. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50))
}

for (const [HTTP3, alpn] of [
  ['true', 'h3,h2,http/1.1'],
  ['false', 'h2,http/1.1'],
] as const) {
  test(`a Worker with HTTP3 = "${HTTP3}" designates itself by ${alpn}`, async (t) => {
    const COREFILE = '. {\n  whoami\n}\n'
    const gateway = await startGateway({ variables: { PUBLIC: 'true', COREFILE, HTTP3 } })
    t.onTestFinished(() => gateway.stop())
    const { port } = new URL(gateway.url)
    const url = `http://localhost:${port}/resolve?name=_dns.resolver.arpa&type=SVCB`
    const response = await fetch(url, { headers: { 'x-forwarded-proto': 'https' } })
    const { Answer: answer } = Object(await response.json())
    const data = `1 localhost. alpn="${alpn}" port="${port}" dohpath="/dns-query{?dns}"`
    assert.equal(answer?.[0]?.data, data)
  })
}
