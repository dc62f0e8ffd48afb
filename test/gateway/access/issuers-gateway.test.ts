/** Clients of a gateway that an issuer knows. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { encodeBase64url } from '../../../src/dns/bytes/base64url.ts'
import { readTokenIssuer } from '../../../src/snapshot/format/token-issuer.ts'
import { START_MS } from '../../fake-host.ts'
import { formatReply, parseQuestion } from '../../message-text.ts'
import { FakeIssuer } from '../fake-issuer.ts'
import { QUESTION, Running } from '../running.ts'

const issuer = new FakeIssuer('https://ci.example.test')
const ISSUERS = JSON.stringify([
  {
    issuer: issuer.url,
    audiences: ['kubedoh'],
    rules: [
      { when: { job: 'shop' }, namespaces: ['shop'], explain: true },
      { when: { job: 'data' }, namespaces: ['data'] },
      { when: { job: 'labels' }, namespaces: ['team=a'] },
    ],
  },
])

async function open(variables: { readonly REQUESTS_PER_MINUTE?: string } = {}): Promise<Running> {
  const running = await Running.start({ ISSUERS, ...variables })
  running.fetchPage = issuer.fetch
  await running.publish(undefined, 1, { shop: ['team=a'] })
  return running
}

function tokenOf(job: string, sub = job): Promise<string> {
  return issuer.sign(START_MS, { job, sub })
}

async function ask(running: Running, token: string, question: string): Promise<string[]> {
  const dns = encodeBase64url(parseQuestion(question).message)
  const response = await running.get(`/dns-query?dns=${dns}`, token)
  assert.equal(response.status, 200)
  return formatReply(new Uint8Array(await response.arrayBuffer()))
}

describe('a gateway with issuers', () => {
  test('shows a client what its rule allows; the rest is like names that do not exist', async () => {
    const running = await open()
    const shop = await ask(running, await tokenOf('shop'), 'web.shop.svc.shop.example.org A')
    assert.match(shop.join('\n'), /NOERROR/)
    const labels = await ask(running, await tokenOf('labels'), 'web.shop.svc.shop.example.org A')
    assert.deepEqual(labels, shop)
    const data = await tokenOf('data')
    const hidden = await ask(running, data, 'web.shop.svc.shop.example.org A')
    const absent = await ask(running, data, 'wex.shop.svc.shop.example.org A')
    assert.match(hidden.join('\n'), /NXDOMAIN/)
    assert.deepEqual(
      hidden.map((line) => line.replace('wex', 'web')),
      absent.map((line) => line.replace('wex', 'web')),
    )
  })

  test('takes its token in the path, and refuses those that do not count alike', async () => {
    const running = await open()
    const shop = await tokenOf('shop')
    assert.equal((await running.get(`/t/${shop}/dns-query${QUESTION}`)).status, 200)
    const refused = ['other', ''].map((job) => tokenOf(job))
    const stranger = new FakeIssuer(issuer.url).sign(START_MS, { job: 'shop' })
    const bodies = new Set<string>()
    for (const token of ['x', 'a.b.c', await stranger, ...(await Promise.all(refused))]) {
      const response = await running.get(`/dns-query${QUESTION}`, token)
      assert.equal(response.status, 401)
      bodies.add(await response.text())
    }
    assert.equal(bodies.size, 1)
  })

  test('explains where the rule says so', async () => {
    const running = await open()
    const path = '/v1/explain?name=web.shop.svc.shop.example.org&type=A'
    assert.equal((await running.get(path, await tokenOf('shop'))).status, 200)
    assert.equal((await running.get(path, await tokenOf('data'))).status, 403)
  })

  test('counts the requests of each subject, not of the address that many share', async () => {
    const running = await open({ REQUESTS_PER_MINUTE: '5' })
    const status = async (sub: string): Promise<number> =>
      (await running.get(`/dns-query${QUESTION}`, await tokenOf('shop', sub))).status
    const first = [await status('a'), await status('a')]
    assert.deepEqual(first, [200, 429])
    assert.equal(await status('b'), 200)
  })

  test('says so when it cannot check, and goes on with other tokens', async () => {
    const running = await open()
    running.fetchPage = () => Promise.reject(new Error('away'))
    const response = await running.get(`/dns-query${QUESTION}`, await tokenOf('shop'))
    assert.equal(response.status, 503)
    assert.match(await response.text(), /"code":"access_unavailable"/)
    assert.equal((await running.get(`/dns-query${QUESTION}`, 'kdt_x')).status, 401)
  })

  test('takes tokens of ServiceAccounts by the keys that their cluster publishes', async () => {
    const api = new FakeIssuer('https://kubernetes.default.svc')
    const entry = { issuer: api.url, audiences: ['kubedoh'], keys: 'cluster:shop' }
    const rules = [{ when: { sub: 'system:serviceaccount:ci:*' }, namespaces: ['shop'] }]
    const other = { ...entry, keys: 'cluster:other' }
    const running = await Running.start({
      ISSUERS: JSON.stringify([
        { ...other, rules },
        { ...entry, rules },
      ]),
    })
    const ask = async (): Promise<number> => {
      const sub = 'system:serviceaccount:ci:builder'
      const token = await api.sign(running.host.now(), { sub, jti: `${running.host.now()}` })
      return (await running.get(`/dns-query${QUESTION}`, token)).status
    }
    await running.publish()
    assert.equal(await ask(), 503)
    for (const generation of [2, 3]) {
      await api.rotate()
      const published = readTokenIssuer(api.url, (await api.keySet()).keys)
      await running.publish(undefined, generation, undefined, undefined, published)
      await running.host.advance(10_000)
      assert.equal(await ask(), 200)
    }
  })
})
