/**
 * Thousands of CI jobs, more than a gateway remembers: what they write, and what is kept of
 * them.
 */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import { createMemoryTokenStore, type TokenStore } from '../../../src/gateway/access/token-store.ts'
import { generateKeyPair } from '../../../src/snapshot/format/signature.ts'
import { FakeHost } from '../../fake-host.ts'
import { FakeIssuer } from '../fake-issuer.ts'
import { QUESTION, Running } from '../running.ts'

const JOBS = 4000
/** Tokens that the gateway remembers of an issuer and of its own, and rate limits of clients. */
const REMEMBERED_MAX = 1024 + 1024 + 2048 + 100
const issuer = new FakeIssuer('https://ci.example.test', 'EdDSA')

/** A store that counts what is written. */
function countingStore(): { readonly store: TokenStore; readonly writes: string[] } {
  const { list, ...inner } = createMemoryTokenStore()
  const writes: string[] = []
  const note =
    <A extends readonly unknown[], R>(name: string, call: (...given: A) => R) =>
    (...given: A): R => {
      writes.push(name)
      return call(...given)
    }
  const store: TokenStore = {
    list,
    add: note('add', inner.add),
    addAll: note('addAll', inner.addAll),
    replace: note('replace', inner.replace),
    remove: note('remove', inner.remove),
    replaceObjects: note('replaceObjects', inner.replaceObjects),
    noteUse: note('noteUse', inner.noteUse),
  }
  return { store, writes }
}

/** Counts the entries of all maps and sets that an object reaches. */
function entriesOf(value: unknown, seen: Set<unknown> = new Set()): number {
  if (typeof value !== 'object' || value === null || seen.has(value)) return 0
  seen.add(value)
  const isMap = value instanceof Map || value instanceof Set
  const parts = isMap ? [...value.values()] : Object.values(value)
  return parts.reduce<number>((sum, part) => sum + entriesOf(part, seen), isMap ? value.size : 0)
}

test(`${JOBS} jobs write nothing, and are not remembered all`, { timeout: 120_000 }, async () => {
  const { store, writes } = countingStore()
  const { privateKey: EXCHANGE_KEY } = await generateKeyPair()
  const rules = [{ when: { sub: 'job-*' }, namespaces: ['shop'], expires: '1h' }]
  const list = [{ issuer: issuer.url, audiences: ['kubedoh'], algorithms: ['EdDSA'], rules }]
  const variables = { ISSUERS: JSON.stringify(list), EXCHANGE_KEY, REQUESTS_PER_MINUTE: '0' }
  const host = new FakeHost({ isGateway: true })
  const running = await Running.start(variables, host, { tokenStore: store })
  running.fetchPage = issuer.fetch
  await running.publish()
  const before = entriesOf(running.gateway?.admission)
  const form = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  }
  let first = ''
  for (let i = 0; i < JOBS; i++) {
    const subject_token = await issuer.sign(host.now(), { sub: `job-${i}` })
    const body = new URLSearchParams({ ...form, subject_token }).toString()
    const url = 'https://dns.example.org/v1/token'
    const response = await running.app.request(url, { method: 'POST', body })
    assert.equal(response.status, 200)
    const { access_token: token } = Object(await response.json())
    if (i % 10 === 0) {
      assert.equal((await running.get(`/dns-query${QUESTION}`, String(token))).status, 200)
    }
    if (i === 0) first = String(token)
  }
  assert.deepEqual(writes, [])
  const grown = entriesOf(running.gateway?.admission) - before
  assert.ok(0 < grown && grown <= REMEMBERED_MAX, `${grown} entries`)
  // What is forgotten is verified again.
  assert.equal((await running.get(`/dns-query${QUESTION}`, first)).status, 200)
  assert.deepEqual(writes, [])
})
