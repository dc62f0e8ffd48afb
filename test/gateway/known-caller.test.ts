import assert from 'node:assert/strict'
import { test } from 'vitest'
import { findKnownCaller } from '../../src/gateway/known-caller.ts'
import { TokenBook } from '../../src/gateway/token-book.ts'
import { createMemoryTokenStore } from '../../src/gateway/token-store.ts'
import { FakeHost } from '../fake-host.ts'
import { tokenRecord } from './tokens.ts'

const { token, record } = await tokenRecord()

async function openBook(): Promise<TokenBook> {
  const host = new FakeHost()
  const store = createMemoryTokenStore()
  await store.add({ ...record, identities: ['cert:a'] })
  const { after } = host
  const book = new TokenBook({ store, clock: host, after, onError: (error) => assert.fail(error) })
  await book.find(token)
  return book
}

const CASES: readonly {
  name: string
  headers?: Readonly<Record<string, string>>
  pathToken?: string
  identities?: readonly string[]
  isKnown: boolean
}[] = [
  { name: 'a Bearer token', headers: { authorization: `Bearer ${token}` }, isKnown: true },
  { name: 'a scheme in lower case', headers: { authorization: `bearer ${token}` }, isKnown: true },
  {
    name: 'a Basic password',
    headers: { authorization: `Basic ${btoa(`x:${token}`)}` },
    isKnown: true,
  },
  { name: 'two tokens', headers: { authorization: `Bearer ${token}, Bearer x` }, isKnown: false },
  { name: 'a token in the path', pathToken: token, isKnown: true },
  {
    name: 'a wrong token in the path beside a right one',
    headers: { authorization: `Bearer ${token}` },
    pathToken: 'x',
    isKnown: false,
  },
  { name: 'a certificate', identities: ['cert:b', 'cert:a'], isKnown: true },
  {
    name: 'a certificate beside a wrong token',
    headers: { authorization: 'Bearer x' },
    identities: ['cert:a'],
    isKnown: false,
  },
  {
    name: 'a certificate that another site uses',
    headers: { 'sec-fetch-site': 'cross-site' },
    identities: ['cert:a'],
    isKnown: false,
  },
  { name: 'an unknown certificate', identities: ['cert:b'], isKnown: false },
  { name: 'nothing', isKnown: false },
]

for (const { name, headers = {}, pathToken, identities = [], isKnown } of CASES) {
  test(`${isKnown ? 'knows' : 'leaves to the slow path'} ${name}`, async () => {
    const carriers = {
      address: '192.0.2.1',
      header: (one: string) => headers[one],
      identities: () => identities,
    }
    const found = findKnownCaller(await openBook(), undefined, { carriers, pathToken })
    assert.equal(found?.record.id, isKnown ? record.id : undefined)
  })
}
