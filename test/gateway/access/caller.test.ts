import assert from 'node:assert/strict'
import { describe, it, test } from 'vitest'
import { type Caller, CallerFinder, type RequestHead } from '../../../src/gateway/access/caller.ts'
import { sentToken } from '../../../src/gateway/access/sent-token.ts'
import { hashToken, type TokenRecord } from '../../../src/gateway/access/token.ts'
import type { Access } from '../../../src/gateway/config/config.ts'
import { HttpError } from '../../../src/gateway/doh/http-error.ts'
import { FakeHost } from '../../fake-host.ts'
import { storeOf, tokenRecord } from '../tokens.ts'

const TOKEN = 'kd_Zm9v-YmFy'
const sha256 = await hashToken(TOKEN)

const CLOSED: Access = { isPublic: false, sha256: undefined }

type Headers = Readonly<Record<string, string | undefined>>

function headOf(headers: Headers, identities: readonly string[] = []): RequestHead {
  return {
    method: 'GET',
    path: '/dns-query',
    address: '192.0.2.1',
    header: (name) => headers[name],
    identities: () => identities,
  }
}

/** A finder that knows some tokens. */
function finderOf(records: readonly TokenRecord[], access = CLOSED): CallerFinder {
  const host = new FakeHost()
  const fetch = (): never => assert.fail('no request is expected')
  const tokenIssuerOf = fetch
  const runtime = { host, tokenStore: storeOf(records), fetch, tokenIssuerOf }
  return new CallerFinder(
    {
      access,
      application: undefined,
      issuers: [],
      exchangeKeys: [],
      objectClusters: [],
      tokenDomain: '',
    },
    runtime,
    host,
  )
}

function find(finder: CallerFinder, head: RequestHead, pathToken?: string): Promise<Caller> {
  const client = { address: head.address, port: 53, transport: 'https' } as const
  const { header, identities = () => [] } = head
  const keepAlive = (): undefined => undefined
  return finder.find({ client, header, identities, keepAlive }, pathToken)
}

describe('sentToken', () => {
  const cases: { header: string | undefined; token: string | undefined }[] = [
    { header: undefined, token: undefined },
    { header: '', token: undefined },
    { header: `Bearer ${TOKEN}`, token: TOKEN },
    { header: `bearer   ${TOKEN}`, token: TOKEN },
    { header: 'Bearer', token: undefined },
    { header: `Bearer  ${TOKEN}`, token: TOKEN },
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
      assert.equal(sentToken(headOf({ authorization: header })), token)
    })
  }
})

const made = await tokenRecord({ identities: ['cert:ab'] })

describe('find', () => {
  const { id } = made.record
  const open: Access = { isPublic: true, sha256: undefined }
  const one: Access = { isPublic: false, sha256 }
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
    { name: 'keeps everybody out by default', access: CLOSED, who: undefined },
    {
      name: 'rejects a client that guesses',
      access: CLOSED,
      header: bearer,
      path: TOKEN,
      who: undefined,
    },
    { name: 'knows a token that was made', access: CLOSED, path: made.token, who: id },
    {
      name: 'knows it as a password',
      access: CLOSED,
      header: `Basic ${btoa(`me:${made.token}`)}`,
      who: id,
    },
    { name: 'knows it beside the other', access: one, path: made.token, who: id },
    { name: 'knows a certificate', access: CLOSED, identities: ['cert:ab'], who: id },
    { name: 'knows one of several', access: one, identities: ['cert:cd', 'cert:ab'], who: id },
    { name: 'knows no other certificate', access: one, identities: ['cert:cd'], who: undefined },
    {
      name: 'does not know half a token',
      access: CLOSED,
      path: made.token.slice(0, -1),
      who: undefined,
    },
    {
      name: 'does not know a token with another secret',
      access: CLOSED,
      path: made.token.replace(/.{5}$/, 'AAAAA'),
      who: undefined,
    },
  ]
  for (const { name, access, header, path, identities = [], who } of cases) {
    test(name, async () => {
      const finder = finderOf([made.record], access)
      const found = find(finder, headOf({ authorization: header }, identities), path)
      if (who === undefined) await assert.rejects(found, isChallenge)
      else assert.equal((await found).tokenId ?? 'everybody', who)
    })
  }
})

test('the configured token needs no list of tokens, whatever its form', async () => {
  const { token } = await tokenRecord()
  const tokenStore = { list: () => Promise.reject(new Error('away')) }
  const fetch = (): never => assert.fail('no request is expected')
  const host = new FakeHost()
  const access = { isPublic: false, sha256: await hashToken(token) }
  const finder = new CallerFinder(
    {
      access,
      application: undefined,
      issuers: [],
      exchangeKeys: [],
      objectClusters: [],
      tokenDomain: '',
    },
    { host, tokenStore, fetch, tokenIssuerOf: fetch },
    host,
  )
  const caller = await find(finder, headOf({ authorization: `Bearer ${token}` }))
  assert.equal(caller.mayExplain, true)
})

test('what a page of another site has a browser send is not its owner’s', async () => {
  const finder = finderOf([made.record])
  const ask = (site: string): Promise<Caller> =>
    find(finder, headOf({ 'sec-fetch-site': site }, ['cert:ab']))
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
    const finder = finderOf([{ ...record, identities: ['cert:a'] }])
    await finder.tokens.find(token)
    const found = finder.findAtOnce(headOf(headers, identities), pathToken, undefined)
    assert.equal(found?.tokenId, isKnown ? record.id : undefined)
    assert.equal(found !== undefined, isKnown)
  })
}

describe('findAtOnce', () => {
  const bearer = { authorization: `Bearer ${TOKEN}` }

  it('knows the configured client token once it was found', async () => {
    const finder = finderOf([], { isPublic: false, sha256 })
    assert.equal(finder.findAtOnce(headOf(bearer), undefined, undefined), undefined)
    await find(finder, headOf({}), TOKEN)
    for (const path of [TOKEN, undefined]) {
      const found = finder.findAtOnce(headOf(path === undefined ? bearer : {}), path, undefined)
      assert.deepEqual([found?.tokenId, found?.mayExplain], [undefined, true])
    }
    assert.equal(finder.findAtOnce(headOf(bearer), 'x', undefined), undefined)
  })

  it('reads the address when it is wanted, and not before', () => {
    let reads = 0
    const head = {
      ...headOf({}),
      get address() {
        reads++
        return '192.0.2.1'
      },
    }
    const caller = finderOf([], { isPublic: true, sha256 }).findAtOnce(head, undefined, 512)
    assert.equal(reads, 0)
    assert.equal(caller?.address, '192.0.2.1')
    assert.equal(reads, 1)
    assert.equal(caller.bytesMax, 512)
  })

  it('gives what the token may see, which is everything without one', async () => {
    const scope = { clusters: ['*'], origins: ['*'], namespaces: ['shop'], recurse: false }
    const finder = finderOf([{ ...record, scope }])
    await finder.tokens.find(token)
    const { visibility } = finder.findAtOnce(headOf({}), token, undefined) ?? {}
    assert.equal(visibility?.id, JSON.stringify(scope))
    assert.equal((await find(finder, headOf({}), token)).visibility, visibility)
    const everybody = finderOf([], { isPublic: true, sha256: undefined })
    assert.equal('visibility' in (await find(everybody, headOf({}))), false)
    assert.equal(everybody.findAtOnce(headOf({}), undefined, undefined)?.visibility, undefined)
  })
})
