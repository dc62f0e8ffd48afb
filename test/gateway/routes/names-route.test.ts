import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test, vi } from 'vitest'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { FakeHost } from '../../fake-host.ts'
import { CLIENT_TOKEN, clientSha256, Running } from '../running.ts'
import { tokenRecord } from '../tokens.ts'
import { WHOLE_SCOPE } from '../whole-scope.ts'

const ADMIN = 'the-token-of-the-operator'
const NAMES = ['web.shop', 'cart.shop', 'web.blog', 'db.data', 'pod-0.db.data', '_sql._tcp.db.data']

function linesOf(names: readonly string[]): string {
  return names.map((name) => `${name}.svc.cluster.local. 5 IN A 10.96.0.80`).join('\n\n')
}

async function start(
  names = NAMES,
  more: { COREFILE?: string; PUBLIC?: string } = {},
  host?: FakeHost,
) {
  const variables = {
    ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
    CLIENT_TOKEN_SHA256: clientSha256,
    ...more,
  }
  const running = await Running.start(variables, host)
  await running.publish(linesOf(names))
  return running
}

async function list(running: Running, query: string, token = CLIENT_TOKEN): Promise<string> {
  const response = await running.get(`/v1/names${query}`, token)
  assert.equal(response.status, 200, query)
  assert.equal(response.headers.get('cache-control'), 'no-store')
  return response.text()
}

async function namesBelow(running: Running, query: string, token?: string): Promise<string[]> {
  const { names } = JSON.parse(await list(running, query, token))
  return names.map(({ name }: { name: string }) => name)
}

describe('a list of zones', () => {
  test('has the freshness of each cluster', async () => {
    const running = await start()
    await running.host.advance(2000)
    const cluster = { cluster: 'shop', tree: 'cluster', generation: 1, ageSeconds: 2 }
    const clusters = [{ ...cluster, freshness: 'fresh' }]
    assert.deepEqual(JSON.parse(await list(running, '')), {
      zones: [
        { zone: 'shop.example.org.', clusters },
        { zone: 'cluster.local.', clusters },
      ],
    })
  })

  test('reports a cluster that has published nothing', async () => {
    const running = await Running.start({ CLIENT_TOKEN_SHA256: clientSha256 })
    const { zones } = JSON.parse(await list(running, ''))
    const { freshness, generation, ageSeconds } = zones[0].clusters[0]
    assert.deepEqual([freshness, generation, ageSeconds], ['missing', null, null])
  })

  test('has only the zones of the token', async () => {
    const running = await start()
    const scope = { ...WHOLE_SCOPE, origins: ['cluster.local.'] }
    const { token, record } = await tokenRecord({ scope })
    await running.tokens.add(record)
    const { zones } = JSON.parse(await list(running, '', token))
    assert.deepEqual(
      zones.map(({ zone }: { zone: string }) => zone),
      ['cluster.local.'],
    )
    const hidden = await running.get('/v1/names?under=svc.shop.example.org', token)
    assert.equal(hidden.status, 404)
  })
})

describe('a list of names', () => {
  test('goes from a zone to the names of a Service', async () => {
    const running = await start()
    const at = (under: string): Promise<string[]> =>
      namesBelow(running, `?under=${under}shop.example.org`)
    assert.deepEqual(await at(''), ['svc.shop.example.org.'])
    assert.deepEqual(await at('svc.'), [
      'blog.svc.shop.example.org.',
      'data.svc.shop.example.org.',
      'shop.svc.shop.example.org.',
    ])
    assert.deepEqual(await at('SHOP.svc.'), [
      'cart.shop.svc.shop.example.org.',
      'web.shop.svc.shop.example.org.',
    ])
    assert.deepEqual(JSON.parse(await list(running, '?under=db.data.svc.cluster.local.')), {
      under: 'db.data.svc.cluster.local.',
      names: [
        { name: 'db.data.svc.cluster.local.', types: ['A'] },
        { name: '_sql._tcp.db.data.svc.cluster.local.', types: ['A'] },
        { name: 'pod-0.db.data.svc.cluster.local.', types: ['A'] },
      ],
      next: null,
      isWhole: true,
    })
  })

  test('has pages', async () => {
    const running = await start()
    const query = '?under=cluster.local&search=web&limit=1'
    const first = JSON.parse(await list(running, query))
    assert.equal(first.next, 'web.blog.svc.cluster.local.')
    const second = JSON.parse(await list(running, `${query}&after=${first.next}`))
    assert.deepEqual(
      second.names.map(({ name }: { name: string }) => name),
      ['web.shop.svc.cluster.local.'],
    )
    assert.equal(second.next, null)
  })

  test('is read one at a time, so that queries do not wait for all of them', async () => {
    const running = await start()
    const { readShard } = running.store
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    running.store.readShard = (sha256) => released.then(() => readShard(sha256))
    const { promise: refused, resolve: onRefused } = Promise.withResolvers<number>()
    const listings = Array.from({ length: 65 }, async () => {
      const { status } = await running.get('/v1/names?under=cluster.local&search=b', CLIENT_TOKEN)
      if (status !== 200) onRefused(status)
      return status
    })
    assert.equal(await refused, 429)
    release()
    const statuses = await Promise.all(listings)
    assert.equal(statuses.filter((status) => status === 200).length, 64)
    assert.deepEqual(await namesBelow(running, '?under=data.svc.cluster.local'), [
      'db.data.svc.cluster.local.',
    ])
  })

  test('is read beside 63 others in a Worker, where some never end', async () => {
    const host = new FakeHost({ isGateway: true, isolatesRequests: true })
    const running = await start(NAMES, {}, Object.assign(host, { after: () => () => undefined }))
    const { readShard } = running.store
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    running.store.readShard = (sha256) => released.then(() => readShard(sha256))
    const ask = async (): Promise<number> =>
      (await running.get('/v1/names?under=cluster.local&search=b', CLIENT_TOKEN)).status
    const listings = Array.from({ length: 65 }, ask)
    assert.equal(await Promise.race(listings), 429)
    assert.equal(await ask(), 429)
    await host.advance(30_000)
    listings.push(ask())
    await new Promise(setImmediate)
    release()
    const statuses = await Promise.all(listings)
    assert.equal(statuses.filter((status) => status === 200).length, 65)
  })

  test('is not whole of a cluster that has published nothing', async () => {
    const running = await Running.start({ CLIENT_TOKEN_SHA256: clientSha256 })
    const { names, isWhole } = JSON.parse(await list(running, '?under=cluster.local'))
    assert.deepEqual([names, isWhole], [[], false])
  })

  test('lacks what other server blocks and acl keep from the client', async () => {
    const kubernetes = 'kubernetes cluster.local {\n cluster shop\n }\n'
    const other = await start(NAMES, {
      COREFILE: `. {\n ${kubernetes}}\ndata.svc.cluster.local {\n template ANY ANY {\n rcode NXDOMAIN\n }\n}\n`,
    })
    const blocked = await start(NAMES, {
      COREFILE: `. {\n acl data.svc.cluster.local {\n block\n }\n ${kubernetes}}\n`,
    })
    for (const running of [other, blocked]) {
      assert.deepEqual(await namesBelow(running, '?under=svc.cluster.local'), [
        'blog.svc.cluster.local.',
        'shop.svc.cluster.local.',
      ])
      assert.deepEqual(await namesBelow(running, '?under=db.data.svc.cluster.local'), [])
    }
  })

  test('never has the cursor at a name that acl keeps from the client', async () => {
    const running = await start(NAMES, {
      COREFILE: `. {\n acl data.svc.cluster.local {\n block\n }\n kubernetes cluster.local {\n cluster shop\n }\n}\n`,
    })
    const query = '?under=svc.cluster.local&limit=1'
    const first = JSON.parse(await list(running, query))
    assert.equal(first.next, 'blog.svc.cluster.local.')
    const second = JSON.parse(await list(running, `${query}&after=${first.next}`))
    const shop = { name: 'shop.svc.cluster.local.', types: [] }
    assert.deepEqual([second.names, second.next], [[shop], null])
    const blocked = await list(running, '?under=cluster.local&search=db&limit=1')
    assert.deepEqual(JSON.parse(blocked).next, null)
  })

  test('gives up after some thousands of names that acl keeps from the client', async () => {
    const COREFILE =
      '. {\n acl data.svc.cluster.local {\n block\n }\n kubernetes cluster.local {\n cluster shop\n }\n}\n'
    const query = '?under=cluster.local&search=db&limit=1'
    for (const [count, isWhole] of [
      [4000, true],
      [5000, false],
    ] as const) {
      const names = Array.from({ length: count }, (_, i) => `db-${i}.data`)
      const found = JSON.parse(await list(await start(names, { COREFILE }), query))
      assert.deepEqual([found.names, found.next, found.isWhole], [[], null, isWhole])
    }
  })

  test('lets other requests run while acl decides on each name', async () => {
    const COREFILE =
      '. {\n acl data.svc.cluster.local {\n block\n }\n kubernetes cluster.local {\n cluster shop\n }\n}\n'
    const names = Array.from({ length: 400 }, (_, i) => `db-${i}.data`)
    const running = await start(names, { COREFILE })
    const { host } = running
    let nowMs = host.elapsed()
    // Each look at the clock takes a millisecond.
    vi.spyOn(host, 'elapsed').mockImplementation(() => nowMs++)
    let pauses = 0
    vi.spyOn(host, 'nextTurn').mockImplementation(async () => {
      pauses++
    })
    await list(running, '?under=cluster.local&search=db&limit=500')
    assert.ok(pauses >= names.length / 10, String(pauses))
  })

  test('needs parameters that make sense', async () => {
    const running = await start()
    const bad = [
      'under=a..b',
      'under=cluster.local&limit=0',
      'under=cluster.local&limit=501',
      'under=cluster.local&limit=x',
      'under=cluster.local&after=example.com',
      'under=cluster.local&after=a..b',
      `under=cluster.local&search=${'x'.repeat(254)}`,
    ]
    for (const query of bad) {
      assert.equal((await running.get(`/v1/names?${query}`, CLIENT_TOKEN)).status, 400, query)
    }
    const outside = await running.get('/v1/names?under=example.com', CLIENT_TOKEN)
    assert.equal(outside.status, 404)
  })
})

describe('names are listed', () => {
  test('for clients and the operator, also of a public gateway, and for nobody else', async () => {
    for (const running of [await start(), await start(NAMES, { PUBLIC: 'true' })]) {
      const { token, record } = await tokenRecord()
      await running.tokens.add(record)
      for (const one of [ADMIN, CLIENT_TOKEN, token]) await list(running, '', one)
      const refused = await running.get('/v1/names')
      assert.equal(refused.status, 401)
      // Basic would have a browser ask for a password, over the page.
      assert.equal(refused.headers.get('www-authenticate'), 'Bearer realm="kubedoh"')
      assert.equal((await running.get('/v1/names', 'x')).status, 401)
    }
  })

  test('byte for byte as if hidden names did not exist', async () => {
    const label = fc.constantFrom('a', 'ab', 'b', 'web', 'x-1')
    const name = fc
      .tuple(fc.constantFrom('', '_http._tcp.', 'pod-0.'), label, label)
      .map(([below, service, namespace]) => `${below}${service}.${namespace}`)
    const under = fc.constantFrom('', 'svc.', 'a.svc.', 'web.svc.', 'ab.b.svc.', 'web.a.svc.')
    const query = fc.record({ under, search: fc.constantFrom('', 'a', 'web', 'svc') })
    const inputs = fc.record({
      names: fc.uniqueArray(name, { minLength: 1, maxLength: 12 }),
      seen: fc.uniqueArray(label, { minLength: 1, maxLength: 2 }),
      queries: fc.array(query, { minLength: 1, maxLength: 6 }),
      limit: fc.integer({ min: 1, max: 4 }),
    })
    await fc.assert(
      fc.asyncProperty(inputs, async ({ names, seen, queries, limit }) => {
        const scope = { ...WHOLE_SCOPE, namespaces: seen }
        const { token, record } = await tokenRecord({ scope })
        const isSeen = (one: string): boolean =>
          seen.some((namespace) => one.endsWith(`.${namespace}`))
        const visible = names.filter(isSeen)
        fc.pre(visible.length > 0)
        const [full, part] = [await start(names), await start(visible)]
        for (const running of [full, part]) await running.tokens.add(record)
        assert.equal(await list(full, '', token), await list(part, '', token))
        for (const { under, search } of queries) {
          const text = `?under=${under}cluster.local&search=${search}&limit=${limit}`
          assert.equal(await list(full, text, token), await list(part, text, token), text)
        }
      }),
      { numRuns: 60 },
    )
  })
})
