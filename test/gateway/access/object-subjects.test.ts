/** Clients of issuers to which ClientTokens give a scope: which objects count for which token. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { type Caller, CallerFinder } from '../../../src/gateway/access/caller.ts'
import { KnownClusters } from '../../../src/gateway/access/known-clusters.ts'
import { ownerOf, subjectIdentity } from '../../../src/gateway/access/object-tokens.ts'
import { revocationOf, type TokenRecord } from '../../../src/gateway/access/token.ts'
import { createMemoryTokenStore } from '../../../src/gateway/access/token-store.ts'
import { readExchangeKey } from '../../../src/gateway/config/exchange-key.ts'
import { readIssuers } from '../../../src/gateway/config/issuers.ts'
import { HttpError } from '../../../src/gateway/doh/http-error.ts'
import { generateKeyPair } from '../../../src/snapshot/format/signature.ts'
import { readTokenIssuer, type TokenIssuer } from '../../../src/snapshot/format/token-issuer.ts'
import { FakeHost } from '../../fake-host.ts'
import { directoryEntry } from '../directory-contract.ts'
import { FakeIssuer } from '../fake-issuer.ts'
import { WHOLE_SCOPE } from '../whole-scope.ts'

const API = 'https://kubernetes.default.svc'
const SSO = 'https://sso.example.com'
const BUILDER = 'system:serviceaccount:shop:builder'
const { privateKey } = await generateKeyPair()
const exchangeKey = await readExchangeKey(privateKey)

/** API servers that call their issuer alike, and an issuer of people. */
const apis = { shop: new FakeIssuer(API), prod: new FakeIssuer(API) }
const sso = new FakeIssuer(SSO)

type Naming = {
  readonly cluster?: string
  readonly issuer?: string
  readonly name?: string
  readonly keys?: 'any' | 'cluster'
  readonly namespaces?: readonly string[]
}

/** Returns the record of an object; one of a tenant unless `keys` says more. */
function object({
  cluster = 'shop',
  issuer = API,
  name = BUILDER,
  keys = 'cluster',
  namespaces = ['shop'],
}: Naming = {}): TokenRecord {
  return {
    id: `${cluster} ${issuer} ${name}`,
    name: 'shop/ci',
    scope: { ...WHOLE_SCOPE, clusters: [cluster], namespaces },
    identities: [subjectIdentity({ issuer, name, keys })],
    secrets: [],
    createdMs: 0,
    expiresMs: undefined,
    by: ownerOf(cluster),
  }
}

function trusted(issuer: string, more: object = {}): object {
  return { issuer, audiences: ['kubedoh'], rules: [], ...more }
}

const IN_SHOP = trusted(API, { keys: 'cluster:shop' })
const IN_PROD = trusted(API, { keys: 'cluster:prod' })

/** A gateway that knows issuers, and gets the objects of two clusters. */
class World {
  readonly host = new FakeHost()
  readonly store = createMemoryTokenStore()
  readonly directory = new KnownClusters(new Map())
  readonly published = new Map<string, TokenIssuer | undefined>()
  listed = [directoryEntry('lab')]
  private readonly finder: CallerFinder

  private constructor(issuers: readonly object[], objectClusters: readonly string[]) {
    this.finder = new CallerFinder(
      {
        access: { isPublic: false, sha256: undefined },
        application: undefined,
        issuers: readIssuers(JSON.stringify(issuers)),
        exchangeKeys: exchangeKey === undefined ? [] : [exchangeKey],
        objectClusters,
        tokenDomain: '',
      },
      {
        host: this.host,
        tokenStore: this.store,
        directory: { store: { list: async () => this.listed }, clusters: this.directory },
        fetch: sso.fetch,
        tokenIssuerOf: async (cluster) => this.published.get(cluster),
      },
      this.host,
    )
  }

  static async open(
    issuers: readonly object[],
    objects: readonly TokenRecord[],
    objectClusters: readonly string[] = ['*'],
  ): Promise<World> {
    const world = new World(issuers, objectClusters)
    for (const [cluster, api] of Object.entries(apis)) {
      world.published.set(cluster, readTokenIssuer(API, (await api.keySet()).keys))
    }
    await world.set(...objects)
    return world
  }

  /** The exporters send these objects, and no others; the gateway has read them a second later. */
  async set(...objects: readonly TokenRecord[]): Promise<void> {
    for (const cluster of ['shop', 'prod', 'lab']) {
      const wanted = objects.filter(({ by }) => by === ownerOf(cluster))
      await this.store.replaceObjects(cluster, wanted)
    }
    await this.host.advance(1001)
  }

  token(issuer: FakeIssuer, sub = BUILDER, more: object = {}): Promise<string> {
    const nowMs = this.host.now()
    return issuer.sign(nowMs, { sub, iat: Math.floor(nowMs / 1000), ...more })
  }

  async find(token: string): Promise<Caller> {
    const client = { address: '192.0.2.1', port: 53, transport: 'https' } as const
    const keepAlive = (promise: Promise<void>): void => void promise
    return this.finder.find({ client, header: () => null, keepAlive }, token)
  }

  atOnce(token: string): Caller | undefined {
    const path = '/dns-query'
    const head = { method: 'GET', path, address: '192.0.2.1', header: () => null }
    return this.finder.findAtOnce(head, token, undefined)
  }

  exchange(token: string): ReturnType<CallerFinder['exchange']> {
    return this.finder.exchange(token, () => undefined)
  }

  /** Returns the namespaces that a token sees, by both paths; or a status. */
  async sees(token: string): Promise<string> {
    const slow = await this.find(token).catch((error: unknown) => {
      if (error instanceof HttpError) return `${error.status}`
      throw error
    })
    const fast = this.atOnce(token)
    if (typeof slow === 'string') {
      assert.equal(fast, undefined)
      return slow
    }
    assert.deepEqual(
      [fast?.visibility?.id, fast?.tokenId],
      [slow.visibility?.id, slow.tokenId],
      'the paths differ',
    )
    const scope = JSON.parse(slow.visibility?.id ?? '{}')
    return `${scope.clusters}/${scope.namespaces}`
  }
}

describe('an object that names a client of an issuer', () => {
  test('gives it the scope of the object, and its day of use', async () => {
    const world = await World.open([IN_SHOP], [object()])
    const token = await world.token(apis.shop)
    assert.equal(world.atOnce(token), undefined)
    assert.equal(await world.sees(token), 'shop/shop')
    assert.equal((await world.find(token)).tokenId, object().id)
    assert.equal(await world.sees(await world.token(apis.shop, `${BUILDER}x`)), '401')
  })

  type Attack = {
    readonly name: string
    readonly issuers?: readonly object[]
    readonly objects: readonly TokenRecord[]
    readonly clusters?: readonly string[]
    readonly from?: FakeIssuer
    readonly sub?: string
    readonly claims?: object
    readonly sees: string
  }
  const both = [IN_SHOP, IN_PROD]
  const rule = { when: { sub: '*' }, namespaces: ['web'] }
  const attacks: readonly Attack[] = [
    {
      name: 'of another cluster, whose API server calls its issuer alike',
      issuers: both,
      objects: [object()],
      from: apis.prod,
      sees: '401',
    },
    {
      name: 'of the home of another cluster',
      issuers: both,
      objects: [object({ keys: 'any', namespaces: ['*'] })],
      from: apis.prod,
      sees: '401',
    },
    {
      name: 'of each of two clusters, by the keys of one',
      issuers: both,
      objects: [object(), object({ cluster: 'prod', namespaces: ['web'] })],
      from: apis.prod,
      sees: 'prod/web',
    },
    {
      name: 'of a tenant, where no keys of a cluster verify',
      issuers: [trusted(SSO)],
      objects: [object({ issuer: SSO, name: 'ann' })],
      from: sso,
      sub: 'ann',
      sees: '401',
    },
    {
      name: 'of a home, which may name a person',
      issuers: [trusted(SSO)],
      objects: [object({ issuer: SSO, name: 'ann', keys: 'any' })],
      from: sso,
      sub: 'ann',
      sees: 'shop/shop',
    },
    {
      name: 'of a home, for a person with a rule, which it must not narrow',
      issuers: [trusted(SSO, { rules: [rule] })],
      objects: [object({ issuer: SSO, name: 'ann', keys: 'any' })],
      from: sso,
      sub: 'ann',
      sees: '*/web',
    },
    {
      name: 'with a pattern, which is a name as any other',
      objects: [object({ name: 'system:serviceaccount:shop:*', keys: 'any' })],
      sees: '401',
    },
    { name: 'for a client without a name', objects: [object()], claims: { sub: '' }, sees: '401' },
    { name: 'for another audience', objects: [object()], claims: { aud: 'other' }, sees: '401' },
    { name: 'for a token that has expired', objects: [object()], claims: { exp: 1 }, sees: '401' },
    {
      name: 'for a token that another key has signed',
      objects: [object()],
      from: new FakeIssuer(API),
      sees: '401',
    },
    {
      name: 'of an issuer that the gateway does not trust',
      issuers: [trusted(SSO)],
      objects: [object({ keys: 'any' })],
      sees: '401',
    },
    {
      name: 'where the gateway does not name its cluster',
      objects: [object()],
      clusters: ['prod'],
      sees: '401',
    },
    {
      name: 'of several homes: the first cluster by its identifier',
      issuers: [trusted(SSO)],
      objects: ['shop', 'prod'].map((cluster) =>
        object({ cluster, issuer: SSO, name: 'ann', keys: 'any' }),
      ),
      from: sso,
      sub: 'ann',
      sees: 'prod/shop',
    },
  ]
  for (const { name, issuers, objects, clusters, from, sub, claims, sees } of attacks) {
    test(`${name}: ${sees}`, async () => {
      const world = await World.open(issuers ?? [IN_SHOP], objects, clusters)
      const token = await world.token(from ?? apis.shop, sub, claims)
      assert.equal(await world.sees(token), sees)
    })
  }

  test('does not wait for the keys of another cluster', async () => {
    const world = await World.open([IN_PROD, IN_SHOP], [object()])
    world.published.delete('prod')
    assert.equal(await world.sees(await world.token(apis.shop)), 'shop/shop')
  })

  test('counts for nobody while an issuer is away whose rules may fit', async () => {
    const other = trusted(API, { keys: `${SSO}/missing`, rules: [rule] })
    const world = await World.open([IN_SHOP, other], [object()])
    assert.equal(await world.sees(await world.token(apis.shop)), '503')
  })

  test('ends with the list that lacks it, for a token that was checked just now', async () => {
    const world = await World.open([IN_SHOP], [object()])
    const token = await world.token(apis.shop)
    assert.equal(await world.sees(token), 'shop/shop')
    await world.set(object({ namespaces: ['shop', 'web'] }))
    assert.equal(await world.sees(token), 'shop/shop,web')
    await world.set()
    assert.equal(await world.sees(token), '401')
  })

  test('ends at its time', async () => {
    const world = await World.open([IN_SHOP], [])
    await world.set({ ...object(), expiresMs: world.host.now() + 5000 })
    const token = await world.token(apis.shop)
    assert.equal(await world.sees(token), 'shop/shop')
    await world.host.advance(5000)
    assert.equal(await world.sees(token), '401')
  })

  test('does not count for a client that an operator revoked, also one known', async () => {
    const world = await World.open([IN_SHOP], [object()])
    const token = await world.token(apis.shop)
    assert.equal(await world.sees(token), 'shop/shop')
    await world.store.add({
      ...object(),
      id: 'revoked',
      identities: [revocationOf(`${API} ${BUILDER}`)],
      createdMs: world.host.now() + 1,
      by: 'an operator',
    })
    await world.host.advance(1001)
    assert.equal(await world.sees(token), '401')
    await world.host.advance(1000)
    assert.equal(await world.sees(await world.token(apis.shop)), 'shop/shop')
  })

  test('yields to a rule that comes, for a token that was checked just now', async () => {
    const named = object({ cluster: 'shop', issuer: SSO, name: 'ann', keys: 'any' })
    const world = await World.open([trusted(SSO)], [named])
    const token = await world.token(sso, 'ann')
    assert.equal(await world.sees(token), 'shop/shop')
    const issuers = JSON.stringify([trusted(SSO, { rules: [rule] })])
    world.listed = [{ ...directoryEntry('lab'), issuers }]
    await world.host.advance(1001)
    // The gateway learns of the rule with this request.
    assert.equal(await world.sees(await world.token(sso, 'bob')), 'lab/web')
    assert.equal(world.atOnce(token), undefined)
    assert.equal(await world.sees(token), 'lab/web')
  })

  test('of a cluster does not count for the issuers that another one lists', async () => {
    const named = (cluster: string): TokenRecord =>
      object({ cluster, issuer: SSO, name: 'ann', keys: 'any' })
    const world = await World.open([], [named('shop')])
    world.listed = [{ ...directoryEntry('lab'), issuers: JSON.stringify([trusted(SSO)]) }]
    await world.host.advance(1001)
    const token = await world.token(sso, 'ann')
    assert.equal(await world.sees(token), '401')
    await world.set(named('shop'), named('lab'))
    assert.equal(await world.sees(token), 'lab/shop')
  })

  test('gives no token in exchange, and the log says nothing of a refusal', async () => {
    const world = await World.open([IN_SHOP], [object()])
    const token = await world.token(apis.shop)
    assert.equal(await world.exchange(token), 'by object')
    assert.equal(await world.sees(token), 'shop/shop')
    assert.deepEqual(world.host.events, [])
    const other = await world.token(apis.shop, 'system:serviceaccount:shop:other')
    assert.equal(await world.exchange(other), undefined)
    assert.deepEqual(
      world.host.events.map(({ reason }) => reason),
      ['no rule fits its claims'],
    )
  })
})
