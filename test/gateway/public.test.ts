/** What a gateway on the open internet withstands, and what it reveals to each client. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  CLIENT_TOKEN,
  COREFILE,
  clientSha256,
  EXPORTER_TOKEN,
  QUESTION,
  Running,
} from './running.ts'
import { tokenRecord } from './tokens.ts'

const PATH = `/dns-query${QUESTION}`

async function statuses(count: number, send: () => Promise<Response>): Promise<number[]> {
  const all = []
  for (let i = 0; i < count; i++) all.push((await send()).status)
  return all
}

describe('too many requests', () => {
  const slow = { CLIENT_TOKEN_SHA256: clientSha256, REQUESTS_PER_MINUTE: '10' }

  test('are refused, with a word on when to come again', async () => {
    const running = await Running.start(slow)
    const get = (): Promise<Response> => running.get(PATH, CLIENT_TOKEN)
    assert.deepEqual(await statuses(3, get), [200, 200, 429])
    const refused = await get()
    assert.equal(refused.headers.get('retry-after'), '5')
    const message = 'Too many requests; slow down'
    assert.deepEqual(await refused.json(), { error: { code: 'too_many_requests', message } })
    await running.host.advance(6000)
    assert.deepEqual(await statuses(2, get), [200, 429])
  })

  test('of one token do not count for another', async () => {
    const running = await Running.start(slow)
    const tokens = await Promise.all([tokenRecord(), tokenRecord()])
    for (const { record } of tokens) await running.tokens.add(record)
    for (const { token } of tokens) {
      assert.deepEqual(await statuses(3, () => running.get(PATH, token)), [200, 200, 429])
    }
  })

  test('without a token are soon limited, and do not affect clients with one', async () => {
    const running = await Running.start(slow)
    assert.deepEqual(await statuses(4, () => running.get(PATH, 'x')), [401, 401, 429, 429])
    assert.deepEqual(await statuses(2, () => running.get('/metrics')), [429, 429])
    assert.equal((await running.get(PATH, CLIENT_TOKEN)).status, 200)
  })

  test('of an exporter are refused too', async () => {
    const running = await Running.start(slow)
    const get = (): Promise<Response> => running.get('/v1/clusters/shop', EXPORTER_TOKEN)
    assert.deepEqual(await statuses(3, get), [500, 500, 429])
  })

  test('are none when the operator says so', async () => {
    const running = await Running.start({ ...slow, REQUESTS_PER_MINUTE: '0' })
    const all = await statuses(50, () => running.get(PATH, CLIENT_TOKEN))
    assert.deepEqual(new Set(all), new Set([200]))
  })
})

describe('pages in a browser', () => {
  const page = 'https://app.example.org'
  const preflight = { origin: page, 'access-control-request-method': 'GET' }

  test('may not ask unless they are named', async () => {
    const running = await Running.start({ PUBLIC: 'true' })
    const response = await running.send(PATH, { origin: page })
    assert.equal(response.headers.get('access-control-allow-origin'), null)
  })

  test('may ask when they are, and others may not', async () => {
    const variables = { CLIENT_TOKEN_SHA256: clientSha256, CORS_ORIGINS: `${page} https://b.test` }
    const running = await Running.start(variables)
    const allowed = await running.send(PATH, preflight, 'OPTIONS')
    assert.equal(allowed.status, 204)
    assert.equal(allowed.headers.get('access-control-allow-origin'), page)
    assert.match(allowed.headers.get('access-control-allow-headers') ?? '', /authorization/)
    const authorization = `Bearer ${CLIENT_TOKEN}`
    const answer = await running.send(PATH, { origin: page, authorization })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('access-control-allow-origin'), page)
    assert.match(answer.headers.get('vary') ?? '', /Accept.*Origin|Origin.*Accept/)
    const other = await running.send(PATH, { origin: 'https://c.test', authorization })
    assert.equal(other.headers.get('access-control-allow-origin'), null)
  })
})

describe('the age of names', () => {
  test('stands in a header', async () => {
    const running = await Running.start({ PUBLIC: 'true' })
    const age = async (path = PATH): Promise<string | null> =>
      (await running.get(path)).headers.get('kubedoh-snapshot-age')
    assert.equal(await age(), null)
    await running.publish()
    await running.host.advance(5000)
    assert.equal(await age(), '5')
    assert.equal(await age('/resolve?name=elsewhere.example.net'), null)
  })

  test('is no business of who may not see the cluster', async () => {
    const running = await Running.start()
    await running.publish()
    const scope = { clusters: ['depot'], origins: ['*'], namespaces: ['*'], recurse: false }
    const { token, record } = await tokenRecord({ scope })
    await running.tokens.add(record)
    const response = await running.get(PATH, token)
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('kubedoh-snapshot-age'), null)
  })
})

describe('browsers that judge a server by names elsewhere', () => {
  const probes = 'www.gstatic.com example.com {\n  forward . https://resolver.test/dns-query\n}\n'

  test('are answered whatever their token may see, and about nothing else', async () => {
    const elsewhere = '. {\n  forward . https://resolver.test/dns-query\n}\n'
    const corefile = `${COREFILE.replace('. {', 'shop.example.org {')}${probes}${elsewhere}`
    const running = await Running.start({ COREFILE: corefile })
    const scope = { clusters: ['*'], origins: ['shop.example.org.'], namespaces: ['*'] }
    const { token, record } = await tokenRecord({ scope: { ...scope, recurse: false } })
    await running.tokens.add(record)
    for (const name of ['www.gstatic.com', 'example.com', 'www.example.net']) {
      let status = 0
      void running.get(`/resolve?name=${name}`, token).then((response) => {
        status = response.status
      })
      while (status === 0) {
        await new Promise(setImmediate)
        await running.host.advance(500)
      }
      assert.equal(status, 200)
    }
    const asked = new Set(running.host.asked.map(({ question }) => question.split(' ')[0]))
    asked.delete('.')
    assert.deepEqual(asked, new Set(['www.gstatic.com.', 'example.com.']))
  })

  test('do not learn of another resolver', async () => {
    const running = await Running.start({
      COREFILE: '. {\n  forward . https://resolver.test/dns-query\n}\n',
      PUBLIC: 'true',
    })
    const response = await running.get('/resolve?name=_dns.resolver.arpa&type=SVCB')
    assert.match(await response.text(), /"Status":0/)
    assert.deepEqual(running.host.asked, [])
  })
})

test('an open gateway explains answers to tokens that may explain, for what they see', async () => {
  const running = await Running.start({ PUBLIC: 'true', CLIENT_TOKEN_SHA256: clientSha256 })
  await running.publish()
  const explain = async (token?: string): Promise<readonly unknown[]> => {
    const response = await running.get('/v1/explain?name=web.shop.svc.shop.example.org', token)
    const { status, error } = JSON.parse(await response.text())
    return [response.status, status ?? error.code, response.headers.get('www-authenticate')]
  }
  const scope = { clusters: ['*'], origins: ['*'], namespaces: ['blog'], recurse: false }
  const shopper = { ...scope, namespaces: ['shop'], explain: true }
  const tokens = [{ scope }, { scope: { ...scope, explain: true } }, { scope: shopper }].map(
    tokenRecord,
  )
  const [plain, blogger, seer] = await Promise.all(tokens)
  for (const one of [plain, blogger, seer]) if (one) await running.tokens.add(one.record)
  assert.deepEqual(await explain(plain?.token), [403, 'forbidden', null])
  assert.deepEqual(await explain(blogger?.token), [200, 'NXDOMAIN', null])
  assert.deepEqual(await explain(seer?.token), [200, 'NOERROR', null])
  assert.deepEqual(await explain(CLIENT_TOKEN), [200, 'NOERROR', null])
  // A challenge of Basic would have browsers ask for a password.
  assert.deepEqual(await explain(), [401, 'unauthorized', 'Bearer realm="kubedoh"'])
})
