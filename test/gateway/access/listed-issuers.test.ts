/** Issuers that come and go with the clusters of the directory. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { WITH_ISSUERS_MAX } from '../../../src/gateway/access/cluster-directory.ts'
import { SAME_NAME_MAX } from '../../../src/gateway/access/issuers.ts'
import { hashToken } from '../../../src/gateway/access/token.ts'
import type { GatewayStore } from '../../../src/gateway/snapshots/store.ts'
import { generateKeyPair } from '../../../src/snapshot/format/signature.ts'
import { directoryEntry } from '../directory-contract.ts'
import { DirectoryFleet, exporterSide } from '../directory-fleet.ts'
import { FakeIssuer } from '../fake-issuer.ts'

const TOKEN = 'the-token-of-clients'
const sides = {
  lab: { ...(await exporterSide('the-token-of-lab')), address: '192.0.2.1' },
  dev: { ...(await exporterSide('the-token-of-dev')), address: '192.0.2.2' },
}
const { privateKey: EXCHANGE_KEY } = await generateKeyPair()

type Options = { readonly issuers?: string; readonly store?: GatewayStore }

/** Two gateways whose clients need a token, clusters `lab` and `dev`, and an issuer. */
class World {
  readonly issuer: FakeIssuer
  readonly fleet: DirectoryFleet

  private constructor(fleet: DirectoryFleet, issuer: FakeIssuer) {
    this.fleet = fleet
    this.issuer = issuer
    fleet.asking = TOKEN
  }

  static async open({ issuers: ISSUERS = '', store }: Options = {}): Promise<World> {
    const issuer = new FakeIssuer('https://ci.example.com')
    const variables = {
      PUBLIC: 'false',
      CLIENT_TOKEN_SHA256: await hashToken(TOKEN),
      EXCHANGE_KEY,
      ISSUERS,
    }
    const { fetch } = issuer
    const fleet = await DirectoryFleet.open(2, store, undefined, { variables, fetch })
    const world = new World(fleet, issuer)
    if (store !== undefined) return world
    for (const [id, { publicHalf }] of Object.entries(sides)) {
      await world.send('PUT', `/v1/clusters/${id}`, publicHalf, 201)
    }
    for (const id of ['lab', 'dev'] as const) {
      const { address, ...side } = sides[id]
      assert.equal(await fleet.publish(id, side, address, 1), 'stored')
      await fleet.settle(id)
    }
    return world
  }

  async send(method: string, path: string, body?: object, status = 200): Promise<unknown> {
    const response = await this.fleet.send(method, path, { ...(body && { body }) })
    assert.equal(response.status, status, JSON.stringify(response.body))
    return response.body
  }

  /** Gives a cluster the issuer with one rule, or none, and lets gateways learn of it. */
  async set(cluster: string, rule?: object): Promise<void> {
    const rules = [{ when: { team: 'shop' }, namespaces: ['shop'], ...rule }]
    const list = rule && [{ issuer: this.issuer.url, audiences: ['kubedoh'], rules }]
    await this.send('PUT', `/v1/clusters/${cluster}/issuers`, list ?? [])
    await this.fleet.settle('lab')
  }

  token(team = 'shop'): Promise<string> {
    const nowMs = this.fleet.host.now()
    return this.issuer.sign(nowMs, { team, sub: 'ann', iat: Math.floor(nowMs / 1000) })
  }

  /** Returns what each gateway answers. */
  ask(token: string, cluster = 'lab'): Promise<string[]> {
    return Promise.all([0, 1].map((at) => this.fleet.ask(cluster, at, token)))
  }

  async exchange(token: string): Promise<string> {
    const form = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    })
    const { body } = await this.fleet.send('POST', '/v1/token', { body: `${form}`, token: '' })
    return String(Object(body).access_token)
  }
}

const REFUSED = ['401', '401']
const LAB = ['192.0.2.1', '192.0.2.1']

describe('the issuers of a cluster in the directory', () => {
  test('count everywhere, for this cluster only, until they go', async () => {
    const world = await World.open()
    const token = await world.token()
    assert.deepEqual(await world.ask(token), REFUSED)
    assert.deepEqual(world.issuer.asked, [])
    await world.set('lab', {})
    assert.deepEqual(await world.ask(token), LAB)
    const [hidden] = await world.ask(token, 'dev')
    assert.deepEqual(await world.ask(token, 'none'), [hidden, hidden])
    assert.deepEqual(await world.ask(TOKEN, 'dev'), ['192.0.2.2', '192.0.2.2'])
    await world.set('lab')
    assert.deepEqual(await world.ask(token), REFUSED)
    const asked = world.issuer.asked.length
    assert.deepEqual(await world.ask(await world.token()), REFUSED)
    assert.equal(world.issuer.asked.length, asked)
  })

  test('go with the cluster, and so does what was given in exchange', async () => {
    const world = await World.open()
    await world.set('lab', {})
    const token = await world.token()
    const exchanged = await world.exchange(token)
    assert.deepEqual([await world.ask(token), await world.ask(exchanged)], [LAB, LAB])
    await world.send('DELETE', '/v1/clusters/lab', undefined, 204)
    await world.fleet.settle('dev')
    assert.deepEqual([await world.ask(token), await world.ask(exchanged)], [REFUSED, REFUSED])
  })

  test('end what was given in exchange when their rule changes, and only then', async () => {
    const world = await World.open()
    await world.set('lab', {})
    const exchanged = await world.exchange(await world.token())
    assert.deepEqual(await world.ask(exchanged), LAB)
    await world.set('dev', {})
    await world.set('lab', { expires: '2h' })
    assert.deepEqual(await world.ask(exchanged), LAB)
    await world.set('lab', { namespaces: ['data'] })
    assert.deepEqual(await world.ask(exchanged), REFUSED)
    await world.set('lab', {})
    assert.deepEqual(await world.ask(exchanged), LAB)
    assert.deepEqual(await world.ask(await world.exchange(exchanged)), REFUSED)
  })

  test('that change leave what is known of others', async () => {
    const world = await World.open()
    await world.set('lab', {})
    const token = await world.token()
    assert.deepEqual(await world.ask(token), LAB)
    const asked = world.issuer.asked.length
    await world.set('dev', { when: { team: 'data' } })
    await world.send('POST', '/v1/clusters/lab/keys', sides.dev.publicHalf)
    // What an issuer is asked for is for all clusters that name it.
    assert.deepEqual(await world.ask(await world.token('data'), 'dev'), ['192.0.2.2', '192.0.2.2'])
    await world.fleet.settle('lab')
    assert.deepEqual(await world.ask(token), LAB)
    assert.equal(world.issuer.asked.length, asked)
  })

  test('count at a gateway that has not read the directory before', async () => {
    const { fleet, issuer } = await World.open().then(async (world) => {
      await world.set('lab', {})
      return world
    })
    const cold = await World.open({ store: fleet.store })
    const nowMs = cold.fleet.host.now()
    await issuer.sign(nowMs, {})
    cold.issuer.instead.set('/keys', async () => Response.json(await issuer.keySet()))
    const token = await issuer.sign(nowMs, { team: 'shop', sub: 'ann' })
    assert.deepEqual(await cold.ask(token), LAB)
  })

  test('count after those of ISSUERS, of which the first rule that fits decides', async () => {
    const rules = [{ when: { team: 'shop' }, clusters: ['dev'], namespaces: ['*'] }]
    const issuers = [{ issuer: 'https://ci.example.com', audiences: ['kubedoh'], rules }]
    const world = await World.open({ issuers: JSON.stringify(issuers) })
    await world.set('lab', {})
    assert.deepEqual(await world.ask(await world.token(), 'dev'), ['192.0.2.2', '192.0.2.2'])
    assert.notDeepEqual(await world.ask(await world.token()), LAB)
    await world.set('lab', { when: { team: 'data' } })
    assert.deepEqual(await world.ask(await world.token('data')), LAB)
  })

  test('may have operators of this cluster', async () => {
    const world = await World.open()
    await world.set('lab', { role: 'operator' })
    const token = await world.token()
    const status = async (method: string, path: string): Promise<number> =>
      (await world.fleet.send(method, path, { token, at: 1 })).status
    assert.equal(await status('GET', '/v1/clusters/lab/generations'), 200)
    for (const [method, path] of [
      ['GET', '/v1/clusters/dev/generations'],
      ['GET', '/v1/clusters'],
      ['PUT', '/v1/clusters/lab/issuers'],
      ['DELETE', '/v1/clusters/lab'],
      ['GET', '/v1/tokens'],
      ['GET', '/metrics'],
    ] as const) {
      assert.equal(await status(method, path), 401, path)
    }
    await world.set('lab')
    assert.equal(await status('GET', '/v1/clusters/lab/generations'), 401)
  })

  test('of a list that cannot be read do not count; those of others do', async () => {
    const world = await World.open()
    await world.set('lab', {})
    const { store } = world.fleet.store.directory ?? assert.fail()
    const broken = { ...directoryEntry('broken'), issuers: '[{"issuer":"https://evil.test"}]' }
    await store.add(broken)
    await store.add({ ...directoryEntry('none'), issuers: '{' })
    await world.fleet.settle('lab')
    assert.deepEqual(await world.ask(await world.token()), LAB)
    const logged = world.fleet.host.events.filter(
      ({ message }) => message === 'the issuers of a cluster in the directory do not count',
    )
    assert.deepEqual(
      logged.slice(0, 2).map(({ cluster, error }) => [cluster, error]),
      [
        ['broken', 'issuers[0].audiences is not a list of 1 to 64 texts'],
        ['none', 'issuers is not a JSON list'],
      ],
    )
  })

  test('are listed as they were given', async () => {
    const world = await World.open()
    const rules = [{ namespaces: ['shop'], when: { b: 'x', a: ['y'] } }]
    const issuers = [{ rules, audiences: ['kubedoh'], issuer: world.issuer.url }]
    const added = await world.send('PUT', '/v1/clusters/lab/issuers', issuers)
    assert.partialDeepStrictEqual(added, { id: 'lab', issuers })
    const { clusters } = Object(await world.send('GET', '/v1/clusters'))
    assert.deepEqual(
      clusters.map((one: { id: string; issuers: unknown }) => [one.id, one.issuers]),
      [
        ['prod', []],
        ['lab', issuers],
        ['dev', []],
      ],
    )
  })
})

describe('the directory has', () => {
  const list = (issuer: string): string =>
    JSON.stringify([
      { issuer, audiences: ['a'], rules: [{ when: { sub: 'a' }, namespaces: ['a'] }] },
    ])

  test(`${SAME_NAME_MAX} issuers of the same name at most`, async () => {
    const world = await World.open()
    const { store } = world.fleet.store.directory ?? assert.fail()
    for (let i = 0; i < SAME_NAME_MAX; i++) {
      await store.add({ ...directoryEntry(`c${i}`), issuers: list('https://same.example.com') })
    }
    const same = JSON.parse(list('https://same.example.com'))
    const refused = await world.send('PUT', '/v1/clusters/lab/issuers', same, 409)
    assert.partialDeepStrictEqual(refused, { error: { code: 'too_many' } })
    const other = JSON.parse(list('https://other.example.com'))
    await world.send('PUT', '/v1/clusters/lab/issuers', other)
  })

  test(`${WITH_ISSUERS_MAX} clusters with issuers at most`, async () => {
    const world = await World.open()
    const { store } = world.fleet.store.directory ?? assert.fail()
    for (let i = 0; i < WITH_ISSUERS_MAX; i++) {
      await store.add({ ...directoryEntry(`c${i}`), issuers: list(`https://ci.c${i}.test`) })
    }
    const own = JSON.parse(list('https://other.example.com'))
    const refused = await world.send('PUT', '/v1/clusters/lab/issuers', own, 409)
    assert.partialDeepStrictEqual(refused, { error: { code: 'too_many' } })
    await store.remove('c0')
    await world.send('PUT', '/v1/clusters/lab/issuers', own)
    // A change of a cluster that has issuers takes no more room.
    await world.send('PUT', '/v1/clusters/lab/issuers', own)
  })
})
