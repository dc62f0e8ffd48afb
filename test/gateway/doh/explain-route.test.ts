import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { WEB } from '../publishing.ts'
import { CLIENT_TOKEN, clientSha256, Running } from '../running.ts'
import { tokenRecord } from '../tokens.ts'
import { WHOLE_SCOPE } from '../whole-scope.ts'

const ADMIN = 'the-token-of-the-operator'
const OTHER = 'www.blog.svc.cluster.local. 5 IN A 10.96.0.90'

async function start(lines = WEB, isPublic = false): Promise<Running> {
  const running = await Running.start({
    ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
    CLIENT_TOKEN_SHA256: clientSha256,
    ...(isPublic && { PUBLIC: 'true' }),
  })
  await running.publish(lines)
  return running
}

async function explain(running: Running, query: string, token: string): Promise<string> {
  const response = await running.get(`/v1/explain?${query}`, token)
  assert.equal(response.status, 200, query)
  assert.equal(response.headers.get('cache-control'), 'no-store')
  return response.text()
}

describe('an explanation', () => {
  test('says which block, plugins, zone, cluster, generation, node and view decided', async () => {
    const running = await start()
    const object = 'Service shop/web'
    const text = await explain(running, 'name=web.shop.svc.shop.example.org', ADMIN)
    assert.deepEqual(JSON.parse(text), {
      question: { name: 'web.shop.svc.shop.example.org.', type: 'A' },
      status: 'NOERROR',
      answer: ['web.shop.svc.shop.example.org. 5 IN A 10.96.0.80'],
      authority: [],
      additional: [],
      records: [
        {
          section: 'answer',
          record: 'web.shop.svc.shop.example.org. 5 IN A 10.96.0.80',
          plugin: 'kubernetes',
          object,
          rule: 'service',
          cluster: 'shop',
          generation: 1,
        },
      ],
      reason: null,
      serverBlock: '.',
      plugins: ['kubernetes'],
      facts: [
        {
          plugin: 'kubernetes',
          name: 'web.shop.svc.shop.example.org.',
          zone: 'shop.example.org.',
          cluster: 'shop',
          tree: 'cluster',
          freshness: 'fresh',
          generation: 1,
          time: new Date(running.host.now()).toISOString(),
          node: { namespace: 'shop', object, rule: 'service', types: ['A'], isImplied: false },
        },
      ],
      view: null,
    })
  })

  const cases: {
    name: string
    query: string
    status: string
    node?: object | null
    facts: number
  }[] = [
    {
      name: 'of a name above others',
      query: 'name=shop.svc.shop.example.org&type=TXT',
      status: 'NXDOMAIN',
      node: {
        namespace: 'shop',
        object: 'Namespace shop',
        rule: 'namespace',
        types: [],
        isImplied: true,
      },
      facts: 1,
    },
    {
      name: 'of a name that there is not',
      query: 'name=nosuch.shop.svc.cluster.local',
      status: 'NXDOMAIN',
      node: null,
      facts: 1,
    },
    { name: 'of a name elsewhere', query: 'name=example.com', status: 'SERVFAIL', facts: 0 },
  ]
  for (const { name, query, status, node, facts } of cases) {
    test(name, async () => {
      const explained = JSON.parse(await explain(await start(), query, ADMIN))
      assert.equal(explained.status, status)
      assert.equal(explained.facts.length, facts)
      assert.deepEqual(explained.facts[0]?.node, node)
    })
  }

  test('of a cluster that has published nothing', async () => {
    const running = await Running.start({ ADMIN_TOKEN_SHA256: await hashToken(ADMIN) })
    const explained = JSON.parse(await explain(running, 'name=a.svc.cluster.local', ADMIN))
    assert.equal(explained.status, 'SERVFAIL')
    const { freshness, generation, time, node } = explained.facts[0]
    assert.deepEqual([freshness, generation, time, node], ['missing', null, null, undefined])
  })
})

describe('who may have answers explained', () => {
  const QUERY = 'name=web.shop.svc.shop.example.org'

  test('is for the operator, and for a token that may explain', async () => {
    const running = await start()
    const { token, record } = await tokenRecord({ scope: { ...WHOLE_SCOPE, explain: true } })
    await running.tokens.add(record)
    for (const one of [ADMIN, CLIENT_TOKEN, token]) await explain(running, QUERY, one)
  })

  test('is nobody else', async () => {
    const running = await start()
    const { token, record } = await tokenRecord()
    await running.tokens.add(record)
    assert.equal((await running.get(`/v1/explain?${QUERY}`)).status, 401)
    assert.equal((await running.get(`/v1/explain?${QUERY}`, 'x')).status, 401)
    assert.equal((await running.get(`/v1/explain?${QUERY}`, token)).status, 403)
    const open = await start(WEB, true)
    assert.equal((await open.get(`/v1/explain?${QUERY}`)).status, 401)
    assert.equal((await open.get(`/v1/explain?${QUERY}`, ADMIN)).status, 200)
  })

  test('asks for names', async () => {
    const running = await start()
    for (const query of ['', 'name=', 'name=a..b', 'name=a&type=nosuch']) {
      assert.equal((await running.get(`/v1/explain?${query}`, ADMIN)).status, 400, query)
    }
  })
})

describe('the operator, for a token', () => {
  test('gets what the token gets, and the objects that it does not see', async () => {
    const running = await start()
    const { token, record } = await tokenRecord({
      scope: { ...WHOLE_SCOPE, namespaces: ['blog'], explain: true },
    })
    await running.tokens.add(record)
    const query = 'name=web.shop.svc.shop.example.org'
    const { hidden, ...rest } = JSON.parse(
      await explain(running, `${query}&as=${record.id}`, ADMIN),
    )
    assert.deepEqual(hidden, ['Service shop/web'])
    assert.deepEqual(rest, JSON.parse(await explain(running, query, token)))
    const none = await explain(running, `name=no.shop.svc.shop.example.org&as=${record.id}`, ADMIN)
    assert.deepEqual(JSON.parse(none).hidden, [])
    const unknown = await running.get(`/v1/explain?${query}&as=0123456789ab`, ADMIN)
    assert.equal(unknown.status, 404)
    const other = await running.get(`/v1/explain?${query}&as=${record.id}`, token)
    assert.equal(other.status, 403)
  })
})

describe('what a view may not see', () => {
  const scopes = [
    { name: 'a namespace', scope: { namespaces: ['blog'] } },
    { name: 'namespaces by labels', scope: { namespaces: ['team=blog'] } },
    { name: 'a cluster', scope: { clusters: ['other'] } },
    { name: 'an origin', scope: { origins: ['cluster.local.'] } },
  ]
  for (const { name, scope } of scopes) {
    test(`is explained byte for byte as what there is not: ${name}`, async () => {
      const { token, record } = await tokenRecord({
        scope: { ...WHOLE_SCOPE, ...scope, explain: true },
      })
      const [full, empty] = [await start(WEB), await start(OTHER)]
      for (const running of [full, empty]) await running.tokens.add(record)
      for (const name of ['web.shop.svc', 'shop.svc', 'nosuch.shop.svc']) {
        for (const type of ['A', 'AAAA', 'SRV', 'ANY']) {
          const query = `name=${name}.shop.example.org&type=${type}`
          const [hidden, absent] = [
            await explain(full, query, token),
            await explain(empty, query, token),
          ]
          assert.equal(hidden, absent, query)
          assert.ok(!hidden.includes('10.96.0.80'), query)
        }
      }
    })
  }
})
