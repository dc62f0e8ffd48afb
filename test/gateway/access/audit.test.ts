import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { CLIENT_TOKEN, clientSha256, Running } from '../running.ts'

const ADMIN = 'the-token-of-the-operator'
const READER = 'the-token-that-reads'

async function start(): Promise<Running> {
  const running = await Running.start({
    ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
    READ_ONLY_TOKEN_SHA256: await hashToken(READER),
    CLIENT_TOKEN_SHA256: clientSha256,
  })
  await running.publish()
  return running
}

/** Returns the lines of the audit log, without what all of them have. */
function audited({ host }: Running): object[] {
  return host.events
    .filter(({ audit }) => audit === true)
    .map(({ level: _, message: _m, audit: _a, address: _b, ...event }) => event)
}

describe('the audit log', () => {
  const denied = [
    { name: 'a client', token: CLIENT_TOKEN, path: '/v1/explain?name=a' },
    { name: 'a wrong token', token: 'wrong', path: '/v1/tokens' },
    { name: 'no token', token: undefined, path: '/v1/tokens' },
    { name: 'a scrape of the metrics', token: ADMIN, path: '/metrics' },
  ]
  for (const { name, token, path } of denied) {
    test(`has no line for ${name}`, async () => {
      const running = await start()
      await running.get(path, token)
      assert.deepEqual(audited(running), [])
    })
  }

  test('has the new token by its ID and name, and never its secret', async () => {
    const running = await start()
    const response = await running.app.request('/v1/tokens', {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN}` },
      body: JSON.stringify({ name: 'ci' }),
    })
    const { id, token }: { id: string; token: string } = JSON.parse(await response.text())
    const by = { operator: 'admin', method: 'POST', path: '/v1/tokens', status: 201 }
    assert.deepEqual(audited(running), [{ ...by, token: id, name: 'ci' }])
    assert.ok(!JSON.stringify(running.host.events).includes(token))
  })

  test('has refused requests of an operator with their status', async () => {
    const running = await start()
    await running.send('/v1/tokens/0123', { authorization: `Bearer ${ADMIN}` }, 'DELETE')
    const [line] = audited(running)
    const by = { operator: 'admin', method: 'DELETE', path: '/v1/tokens/0123', status: 404 }
    assert.deepEqual(line, by)
  })

  test('has no secret of a token that an operator sent in place of its ID', async () => {
    const running = await start()
    const [id, secret] = ['kdt_0123456789ab', 's'.repeat(43)]
    await running.send(`/v1/tokens/${id}_${secret}`, { authorization: `Bearer ${ADMIN}` }, 'DELETE')
    await running.get(`/v1/explain?name=a.test&as=${id}_${secret}`, ADMIN)
    const [revoked, explained] = audited(running)
    assert.deepEqual(Object.entries(revoked ?? {})[2], ['path', `/v1/tokens/${id}_…`])
    assert.deepEqual(Object.entries(explained ?? {})[5], ['as', `${id}_…`])
    assert.ok(!JSON.stringify(running.host.events).includes(secret))
  })

  // No client encodes so; a person who pastes a token may.
  const id = 'kdt_0123456789ab'
  const encodings: readonly ((secret: string) => string)[] = [
    (secret) => `${id}_${secret.slice(0, 20)}%73${secret.slice(21)}`,
    (secret) => `${id}%5F${secret}`,
    (secret) => `%6Bdt_0123456789ab_${secret}`,
    (secret) => `${id}_${secret.slice(0, 20)}%2573${secret.slice(21)}`,
    (secret) => `${id}_%ff${secret}`,
    (secret) => `${id}_${secret.slice(0, 20)}%zz${secret.slice(20)}`,
  ]
  for (const encode of encodings) {
    test(`has no secret of a token that is encoded: ${encode('…')}`, async () => {
      const running = await start()
      const secret = 's'.repeat(43)
      await running.send(
        `/v1/tokens/${encode(secret)}`,
        { authorization: `Bearer ${ADMIN}` },
        'DELETE',
      )
      const text = JSON.stringify(audited(running))
      assert.ok(text.includes('/v1/tokens/'), text)
      assert.doesNotMatch(text, /sss/)
    })
  }

  test('has explanations for the read-only token, long names cut', async () => {
    const running = await start()
    await running.get('/v1/explain?name=web.shop.svc.shop.example.org', READER)
    await running.get(`/v1/explain?name=${'a'.repeat(2000)}`, READER)
    const by = { operator: 'read-only', method: 'GET', path: '/v1/explain', as: undefined }
    assert.deepEqual(audited(running), [
      { ...by, status: 200, name: 'web.shop.svc.shop.example.org' },
      { ...by, status: 400, name: 'a'.repeat(256) },
    ])
  })
})
