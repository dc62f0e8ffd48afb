/** Clients that see what RBAC shows to their user and groups. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { encodeBase64url } from '../../src/dns/bytes/base64url.ts'
import type { Right } from '../../src/snapshot/format/rights-table.ts'
import { START_MS } from '../fake-host.ts'
import { parseQuestion } from '../message-text.ts'
import { FakeIssuer } from './fake-issuer.ts'
import { WEB } from './publishing.ts'
import { COREFILE, Running } from './running.ts'

const issuer = new FakeIssuer('https://sso.example.test')
const ISSUERS = JSON.stringify([
  {
    issuer: issuer.url,
    audiences: ['kubedoh'],
    kubernetes: { username: { prefix: 'oidc:' }, groups: { claim: 'groups', prefix: 'oidc:' } },
    rules: [{ when: { sub: '*' }, clusters: ['shop'], namespaces: 'rbac', explain: true }],
  },
])
const QUESTIONS = [
  'web.shop.svc.shop.example.org A',
  'nosuch.shop.svc.shop.example.org A',
  'shop.svc.shop.example.org A',
  'shop.example.org SOA',
  '80.0.96.10.in-addr.arpa PTR',
]
const ADA: Right = { kind: 'user', name: 'oidc:ada', namespaces: ['shop'] }
const DEV: Right = { kind: 'group', name: 'oidc:dev', namespaces: ['shop'] }
const ADDRESS = Buffer.from([10, 96, 0, 80]).toString('hex')

const ada = await issuer.sign(START_MS, { sub: 'ada' })
const dev = await issuer.sign(START_MS, { sub: 'ben', groups: ['dev'] })
const eve = await issuer.sign(START_MS, { sub: 'eve', groups: ['ops'] })

async function start(corefile = COREFILE): Promise<Running> {
  const running = await Running.start({ ISSUERS, COREFILE: corefile, REQUESTS_PER_MINUTE: '0' })
  running.fetchPage = issuer.fetch
  return running
}

/** What a token gets for each question: status, headers and body, in wire form and as JSON. */
async function answers(running: Running, token: string): Promise<string> {
  const all: unknown[] = []
  for (const question of QUESTIONS) {
    const dns = encodeBase64url(parseQuestion(question).message)
    const [name, type] = question.split(' ')
    for (const path of [`/dns-query?dns=${dns}`, `/resolve?name=${name}&type=${type}`]) {
      const response = await running.get(path, token)
      const body = Buffer.from(await response.arrayBuffer()).toString('hex')
      all.push([path, response.status, [...response.headers], body])
    }
  }
  return JSON.stringify(all)
}

/** Publishes rights with unchanged names; the gateway notices within a second. */
async function publish(
  running: Running,
  generation: number,
  rightsOf?: readonly Right[] | 'broken',
): Promise<void> {
  await running.publishWhole(WEB, generation, {
    confirmed: new Date(START_MS).toISOString(),
    ...(rightsOf && { rightsOf }),
  })
  if (generation === 1) return
  await running.host.advance(1000)
  await running.get('/resolve?name=svc.shop.example.org', eve)
  await Promise.all(running.kept)
}

describe('a token by RBAC', () => {
  test('sees what a binding shows to its user or group, as long as that exists', async () => {
    const running = await start()
    await publish(running, 1, [ADA])
    const hidden = await answers(running, eve)
    assert.ok(!hidden.includes(ADDRESS))
    assert.ok((await answers(running, ada)).includes(ADDRESS))
    assert.equal(await answers(running, dev), hidden)
    await publish(running, 2, [DEV])
    assert.ok((await answers(running, dev)).includes(ADDRESS))
    assert.equal(await answers(running, ada), await answers(running, eve))
    await publish(running, 3, [])
    assert.equal(await answers(running, dev), await answers(running, eve))
  })

  test('sees nothing by a manifest without a table, also after one that had it', async () => {
    const running = await start()
    await publish(running, 1)
    assert.equal(await answers(running, ada), await answers(running, eve))
    await publish(running, 2, [ADA])
    assert.ok((await answers(running, ada)).includes(ADDRESS))
    await publish(running, 3)
    assert.equal(await answers(running, ada), await answers(running, eve))
  })

  test('sees nothing by a table that cannot be read, while others see their names', async () => {
    const running = await start()
    await publish(running, 1, [ADA])
    await answers(running, ada)
    await publish(running, 2, 'broken')
    assert.equal(await answers(running, ada), await answers(running, eve))
    await publish(running, 3, [ADA])
    assert.ok((await answers(running, ada)).includes(ADDRESS))
  })

  test('keeps the snapshot and the rights of before while new ones cannot be loaded', async () => {
    const running = await start()
    await publish(running, 1, [ADA])
    await answers(running, ada)
    const { readShard } = running.store
    running.store.readShard = () => Promise.resolve(undefined)
    await publish(running, 2, [DEV])
    assert.ok((await answers(running, ada)).includes(ADDRESS))
    assert.ok(!(await answers(running, dev)).includes(ADDRESS))
    running.store.readShard = readShard
    await publish(running, 3, [DEV])
    assert.ok(!(await answers(running, ada)).includes(ADDRESS))
    assert.ok((await answers(running, dev)).includes(ADDRESS))
  })

  test('loses a name at once that a cache or a rewritten name could keep', async () => {
    const running = await start(`. {
  cache 3600
  rewrite name exact shortcut.example.org web.shop.svc.shop.example.org
  kubernetes shop.example.org cluster.local {
    cluster shop
  }
}
`)
    const ask = async (): Promise<string> =>
      (await running.get('/resolve?name=shortcut.example.org&type=A', ada)).text()
    await publish(running, 1, [ADA])
    assert.match(await ask(), /10\.96\.0\.80/)
    assert.match(await ask(), /10\.96\.0\.80/)
    await publish(running, 2, [])
    assert.match(await ask(), /"Status":3/)
  })

  test('is explained by its user and groups', async () => {
    const running = await start()
    await publish(running, 1, [DEV])
    const path = '/v1/explain?name=web.shop.svc.shop.example.org&type=A'
    const body = await (await running.get(path, dev)).text()
    assert.match(body, /"namespaces":"rbac",.*"user":"oidc:ben","groups":\["oidc:dev"\]/)
    assert.match(body, /Service shop\/web/)
    assert.doesNotMatch(await (await running.get(path, eve)).text(), /Service shop\/web/)
    const names = await running.get('/v1/names?under=shop.svc.shop.example.org', dev)
    assert.match(await names.text(), /web\.shop\.svc/)
    const none = await running.get('/v1/names?under=shop.svc.shop.example.org', eve)
    assert.doesNotMatch(await none.text(), /web/)
  })

  test('of a name that only the API server gives is refused', async () => {
    const running = await start()
    await publish(running, 1, [{ kind: 'group', name: 'system:masters', namespaces: 'all' }])
    const bare = JSON.parse(ISSUERS)
    bare[0].kubernetes = { username: { prefix: '' }, groups: { claim: 'groups' } }
    const unsafe = await Running.start({ ISSUERS: JSON.stringify(bare), REQUESTS_PER_MINUTE: '0' })
    unsafe.fetchPage = issuer.fetch
    await publish(unsafe, 1, [{ kind: 'group', name: 'system:masters', namespaces: 'all' }])
    for (const claims of [{ sub: 'x', groups: ['system:masters'] }, { sub: 'system:admin' }]) {
      const token = await issuer.sign(START_MS, claims)
      assert.equal((await unsafe.get('/resolve?name=shop.example.org', token)).status, 401)
      // With a prefix it is another name, which RBAC does not know.
      assert.ok(!(await answers(running, token)).includes(ADDRESS))
    }
  })
})
