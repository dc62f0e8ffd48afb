import assert from 'node:assert/strict'
import { describe, it, test } from 'vitest'
import {
  findCaller,
  findKnownCaller,
  headerToken,
  RemoteClient,
} from '../../../src/gateway/access/access.ts'
import { hashToken, visibilityOf } from '../../../src/gateway/access/token.ts'
import { TokenBook } from '../../../src/gateway/access/token-book.ts'
import { createMemoryTokenStore } from '../../../src/gateway/access/token-store.ts'
import type { Access } from '../../../src/gateway/config/config.ts'
import { HttpError } from '../../../src/gateway/doh/http-error.ts'
import { FakeHost } from '../../fake-host.ts'
import { bookOf, tokenRecord } from '../tokens.ts'

const TOKEN = 'kd_Zm9v-YmFy'
const sha256 = await hashToken(TOKEN)

function request(authorization: string | undefined): Request {
  const headers = authorization === undefined ? {} : { authorization }
  return new Request('https://dns.example.org/dns-query', { headers })
}

describe('headerToken', () => {
  const cases: { header: string | undefined; token: string | undefined }[] = [
    { header: undefined, token: undefined },
    { header: '', token: undefined },
    { header: `Bearer ${TOKEN}`, token: TOKEN },
    { header: `bearer   ${TOKEN}`, token: TOKEN },
    { header: 'Bearer', token: undefined },
    { header: `Bearer ${TOKEN} more`, token: undefined },
    { header: `Basic ${btoa(`anyone:${TOKEN}`)}`, token: TOKEN },
    { header: `BASIC ${btoa(`:${TOKEN}`)}`, token: TOKEN },
    { header: `Basic ${btoa('a:b:c')}`, token: 'b:c' },
    { header: `Basic ${btoa(`${TOKEN}:`)}`, token: TOKEN },
    { header: `Basic ${btoa(TOKEN)}`, token: TOKEN },
    { header: 'Basic %%%', token: undefined },
    { header: `Digest ${TOKEN}`, token: undefined },
    { header: TOKEN, token: undefined },
  ]
  for (const { header, token } of cases) {
    test(`reads ${token} from "${header}"`, () => {
      assert.equal(headerToken(request(header)), token)
    })
  }
})

const made = await tokenRecord({ identities: ['cert:ab'] })

describe('findCaller', () => {
  const { id } = made.record
  const open: Access = { isPublic: true, sha256: undefined }
  const one: Access = { isPublic: false, sha256 }
  const closed: Access = { isPublic: false, sha256: undefined }
  const bearer = `Bearer ${TOKEN}`
  type Case = {
    name: string
    access: Access
    header?: string
    path?: string
    identities?: string[]
    who: string | undefined
  }
  const cases: Case[] = [
    { name: 'lets everybody in where all may query', access: open, who: 'everybody' },
    { name: 'admits a client that has the token', access: one, header: bearer, who: 'everybody' },
    {
      name: 'admits a client that has the token in the path',
      access: one,
      path: TOKEN,
      who: 'everybody',
    },
    { name: 'rejects a client that has none', access: one, who: undefined },
    {
      name: 'rejects a client that has another',
      access: one,
      header: `${bearer}x`,
      who: undefined,
    },
    { name: 'goes by the path first', access: one, header: bearer, path: 'x', who: undefined },
    { name: 'keeps everybody out by default', access: closed, who: undefined },
    {
      name: 'rejects a client that guesses',
      access: closed,
      header: bearer,
      path: TOKEN,
      who: undefined,
    },
    { name: 'knows a token that was made', access: closed, path: made.token, who: id },
    {
      name: 'knows it as a password',
      access: closed,
      header: `Basic ${btoa(`me:${made.token}`)}`,
      who: id,
    },
    { name: 'knows it beside the other', access: one, path: made.token, who: id },
    { name: 'knows a certificate', access: closed, identities: ['cert:ab'], who: id },
    { name: 'knows one of several', access: one, identities: ['cert:cd', 'cert:ab'], who: id },
    { name: 'knows no other certificate', access: one, identities: ['cert:cd'], who: undefined },
    {
      name: 'does not know half a token',
      access: closed,
      path: made.token.slice(0, -1),
      who: undefined,
    },
    {
      name: 'does not know a token with another secret',
      access: closed,
      path: made.token.replace(/.{5}$/, 'AAAAA'),
      who: undefined,
    },
  ]
  for (const { name, access, header, path, identities = [], who } of cases) {
    test(name, async () => {
      const book = bookOf([made.record])
      const credentials = { pathToken: path, identities: () => identities }
      const found = findCaller(access, book, request(header), credentials)
      if (who === undefined) await assert.rejects(found, isChallenge)
      else assert.equal((await found).tokenId ?? 'everybody', who)
    })
  }
})

test('what a page of another site has a browser send is not its owner’s', async () => {
  const book = bookOf([made.record])
  const access: Access = { isPublic: false, sha256: undefined }
  const credentials = { pathToken: undefined, identities: () => ['cert:ab'] }
  const ask = (site: string): ReturnType<typeof findCaller> => {
    const headers = { 'sec-fetch-site': site }
    return findCaller(
      access,
      book,
      new Request('https://dns.test/resolve', { headers }),
      credentials,
    )
  }
  await assert.rejects(ask('cross-site'), isChallenge)
  for (const site of ['same-origin', 'none'])
    assert.equal((await ask(site)).tokenId, made.record.id)
})

/** The same in every case, so that nothing can be learnt from it. */
function isChallenge(error: unknown): boolean {
  assert.ok(error instanceof HttpError)
  assert.equal(
    `${error.status} ${error.code} ${error.message}`,
    '401 unauthorized A token is needed',
  )
  const challenge = 'Bearer realm="kubedoh", Basic realm="kubedoh"'
  assert.deepEqual(error.headers, { 'www-authenticate': challenge })
  return true
}

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

describe('RemoteClient', () => {
  it('reads the address when it is wanted, and not before', () => {
    let reads = 0
    const client = new RemoteClient({
      get address() {
        reads++
        return '192.0.2.1'
      },
    })
    assert.equal(reads, 0)
    assert.equal(client.address, '192.0.2.1')
    assert.equal(reads, 1)
  })

  it('sees everything without a view', () => {
    const remote = { address: '192.0.2.1' }
    assert.equal(new RemoteClient(remote).visibility, undefined)
    const view = visibilityOf({
      clusters: ['*'],
      origins: ['*'],
      namespaces: ['shop'],
      recurse: false,
    })
    assert.equal(new RemoteClient(remote, view).visibility, view)
  })
})
