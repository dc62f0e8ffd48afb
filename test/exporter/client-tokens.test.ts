import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'vitest'
import { ApiError } from '../../src/cluster/api/object-api.ts'
import { recordOf } from '../../src/dns/bytes/unknown.ts'
import { ClientTokens } from '../../src/exporter/client-tokens.ts'
import { GatewayError } from '../../src/exporter/gateway-client.ts'
import { hashToken } from '../../src/gateway/access/token.ts'
import type { SentToken, TokenOutcome } from '../../src/snapshot/format/client-tokens.ts'
import { FakeClock, START_MS, settle } from '../cluster/follow/fake-clock.ts'
import { page, ScriptedApi } from '../cluster/follow/scripted-api.ts'

const TEXT = `kdo_${'a1'.repeat(32)}`
const SECRET = 'GET /api/v1/namespaces/shop/secrets/dns'
const STATUS = 'PUT /apis/kubedoh.dev/v1alpha1/namespaces/shop/clienttokens/ci/status'
const LISTED = '/apis/kubedoh.dev/v1alpha1/clienttokens'

type Made = { readonly metadata: object; readonly spec: object; readonly status?: unknown }

function made(key = 'shop/ci', spec: object = {}, more: object = {}): Made {
  const [namespace = '', name = ''] = key.split('/')
  const creationTimestamp = new Date(START_MS).toISOString()
  const about = { uid: key, generation: 1, resourceVersion: '5', creationTimestamp, ...more }
  return {
    metadata: { namespace, name, ...about },
    spec: { secretRef: { name: 'dns' }, ...spec },
  }
}

function secret(text: string): object {
  return { data: { token: Buffer.from(text).toString('base64') } }
}

/** An exporter that follows ClientTokens, its API server, and its gateway. */
class Following {
  readonly api = new ScriptedApi()
  readonly clock = new FakeClock()
  readonly lists: (readonly SentToken[])[] = []
  readonly errors: string[] = []
  readonly statuses = new Map<string, Record<string, unknown>>()
  isLeader = true
  isElected = true
  failure: GatewayError | undefined
  outcomes: Partial<TokenOutcome> = {}
  private readonly ended = new AbortController()
  readonly tokens = new ClientTokens({
    api: this.api,
    home: 'dns',
    isLeader: () => this.isLeader,
    isElected: () => this.isElected,
    send: async (tokens) => {
      this.lists.push(tokens)
      if (this.failure !== undefined) throw this.failure
      return tokens.map(({ uid }) => {
        return { uid, id: 'abc', lastUsed: null, refusal: null, ...this.outcomes }
      })
    },
    onWarning: (message) => this.errors.push(message),
    onError: (message) => this.errors.push(message),
    random: () => 1,
    ...this.clock,
  })

  constructor(t: TestContext, ...objects: readonly Made[]) {
    t.onTestFinished(() => this.ended.abort())
    this.api.answer('clienttokens', page('9', JSON.stringify(objects)))
    for (const { metadata } of objects) {
      const { namespace, name } = metadata as { namespace: string; name: string }
      this.api.replies.set(`GET /api/v1/namespaces/${namespace}/secrets/dns`, secret(TEXT))
      const path = `/apis/kubedoh.dev/v1alpha1/namespaces/${namespace}/clienttokens/${name}/status`
      this.api.replies.set(`PUT ${path}`, (body: unknown) => {
        this.statuses.set(`${namespace}/${name}`, recordOf(recordOf(body).status))
        return {}
      })
    }
  }

  run(): void {
    void this.tokens.run(this.ended.signal)
  }

  async start(): Promise<this> {
    this.run()
    return this.sends(1)
  }

  /** Lets time pass until so many lists were sent, and what follows has settled. */
  async sends(count: number): Promise<this> {
    const startMs = performance.now()
    while (this.lists.length < count) {
      assert.ok(performance.now() - startMs < 5000, `${this.lists.length} lists were sent`)
      await this.clock.advance(50)
      // Hashes of the exporter take turns of their own; time must not pass meanwhile.
      await hashToken(TEXT)
    }
    for (let turn = 0; turn < 20; turn++) await settle()
    return this
  }

  /** The watch brings an event. */
  async event(type: string, object: Made): Promise<void> {
    await settle()
    this.api.watching('clienttokens').open()
    this.api.watching('clienttokens').send(type, object)
  }

  /** Returns `STATUS REASON` of the condition of an object. */
  condition(key = 'shop/ci'): string {
    const { conditions } = this.statuses.get(key) ?? {}
    const [{ status, reason } = recordOf(undefined)] = (conditions ?? []) as Record<
      string,
      unknown
    >[]
    return `${status} ${reason}`
  }
}

describe('ClientTokens', () => {
  test('are sent as hashes, and have a status', async (t) => {
    const following = await new Following(t, made()).start()
    const scope = { namespaces: ['shop'], origins: ['*'], recurse: false, explain: false }
    const about = { uid: 'shop/ci', name: 'shop/ci', expiresMs: null }
    assert.deepEqual(following.lists, [[{ ...about, sha256: await hashToken(TEXT), ...scope }]])
    assert.equal(following.condition(), 'True Accepted')
    const { identifier, scope: text, observedGeneration } = following.statuses.get('shop/ci') ?? {}
    assert.deepEqual([identifier, text, observedGeneration], ['abc', 'shop', 1])
    assert.ok(!JSON.stringify([...following.statuses]).includes(await hashToken(TEXT)))
    assert.ok(following.api.paths.includes(LISTED))
  })

  test('that are deleted are missing in the next list, at once', async (t) => {
    const following = await new Following(t, made(), made('shop/other')).start()
    const beforeMs = following.clock.elapsed()
    await following.event('DELETED', made())
    await following.sends(2)
    assert.deepEqual(
      following.lists[1]?.map(({ uid }) => uid),
      ['shop/other'],
    )
    assert.ok(following.clock.elapsed() - beforeMs <= 1000)
  })

  test('of a tenant give the names of its own namespace, and nothing else', async (t) => {
    const greedy: Record<string, object> = {
      'shop/all': { namespaces: ['*'] },
      'shop/part': { namespaces: ['shop*'] },
      'shop/other': { namespaces: ['shop', 'web'] },
      'shop/label': { namespaces: ['team=a'] },
      'shop/both': { namespaces: ['shop&team=a'] },
      'shop/recurse': { recurse: true },
      'shop/explain': { explain: true },
      'dnsx/all': { namespaces: ['*'] },
    }
    const objects = Object.entries(greedy).map(([key, spec]) => made(key, spec))
    const fine = [
      made('shop/own', { namespaces: ['shop'] }),
      made('web/ci'),
      made('dns/all', greedy['shop/all']),
    ]
    const following = await new Following(t, ...objects, ...fine).start()
    const sent = following.lists[0] ?? []
    assert.deepEqual(
      sent.map(({ name, namespaces }) => [name, ...namespaces]),
      [
        ['dns/all', '*'],
        ['shop/own', 'shop'],
        ['web/ci', 'web'],
      ],
    )
    for (const key of Object.keys(greedy)) {
      assert.match(following.condition(key), /^False (OutsideAllowedNamespaces|NotAllowed)$/, key)
    }
    // No Secret is read for what is refused.
    assert.ok(!following.api.calls.includes('GET /api/v1/namespaces/dnsx/secrets/dns'))
  })

  test('of a tenant name ServiceAccounts of its own namespace, those of the home anybody', async (t) => {
    const subjects: Record<string, string> = {
      'shop/own': 'system:serviceaccount:shop:ci',
      'shop/other': 'system:serviceaccount:web:ci',
      'shop/longer': 'system:serviceaccount:shop-x:ci',
      'shop/person': 'ann@example.com',
      'shop/pattern': 'system:serviceaccount:*:ci',
      'shop/prefix': 'x system:serviceaccount:shop:ci',
      'dns/person': 'ann@example.com',
      'dns/other': 'system:serviceaccount:web:ci',
    }
    const issuer = 'https://sso.example.com'
    const objects = Object.entries(subjects).map(([key, name]) =>
      made(key, { secretRef: undefined, subject: { issuer, name } }),
    )
    const following = await new Following(t, ...objects).start()
    assert.deepEqual(
      following.lists[0]?.map(({ name, subject, sha256 }) => [name, subject, sha256]),
      [
        ['dns/other', { issuer, name: subjects['dns/other'], keys: 'any' }, undefined],
        ['dns/person', { issuer, name: 'ann@example.com', keys: 'any' }, undefined],
        ['shop/own', { issuer, name: subjects['shop/own'], keys: 'cluster' }, undefined],
      ],
    )
    for (const key of Object.keys(subjects)) {
      const isFine = key === 'shop/own' || key.startsWith('dns/')
      assert.equal(following.condition(key), isFine ? 'True Accepted' : 'False NotAllowed', key)
    }
    assert.ok(!following.api.calls.some((call) => call.includes('/secrets/')))
  })

  test('of the home may give the rest, too', async (t) => {
    const spec = {
      namespaces: ['shop', 'team=a'],
      origins: ['a.test'],
      recurse: true,
      explain: true,
    }
    const following = await new Following(t, made('dns/wide', spec)).start()
    const { scope } = following.statuses.get('dns/wide') ?? {}
    assert.equal(scope, 'shop,team=a at a.test recurse explain')
  })

  const broken: { readonly reply: unknown; readonly reason: string }[] = [
    { reply: new ApiError('secrets "dns" not found', 404), reason: 'SecretNotFound' },
    { reply: new ApiError('no right', 403), reason: 'SecretForbidden' },
    { reply: { data: { other: 'eA==' } }, reason: 'SecretNotFound' },
    { reply: {}, reason: 'SecretNotFound' },
    { reply: secret('a-password-of-others'), reason: 'InvalidToken' },
    { reply: secret(`kdo_${'a'.repeat(31)}`), reason: 'InvalidToken' },
    { reply: secret(`kdo_${'a'.repeat(129)}`), reason: 'InvalidToken' },
    { reply: secret(`${TEXT}\n${TEXT}`), reason: 'InvalidToken' },
  ]
  for (const { reply, reason } of broken) {
    test(`with a Secret of ${JSON.stringify(reply).slice(0, 60)} are ${reason}`, async (t) => {
      const following = new Following(t, made())
      following.api.replies.set(SECRET, reply)
      await following.start()
      assert.deepEqual(following.lists, [[]])
      assert.equal(following.condition(), `False ${reason}`)
      const all = JSON.stringify([[...following.statuses], following.errors])
      assert.ok(!all.includes('a-password') && !all.includes('kdo_a'))
    })
  }

  test('have the new text of a Secret within about a minute, and none when it goes', async (t) => {
    const following = await new Following(t, made()).start()
    const other = `kdo_${'b2'.repeat(32)}`
    following.api.replies.set(SECRET, secret(`${other}\n`))
    await following.sends(2)
    assert.ok(following.clock.elapsed() < 777 + 65_000)
    assert.equal(following.lists[1]?.[0]?.sha256, await hashToken(other))
    following.api.replies.set(SECRET, new ApiError('not found', 404))
    await following.sends(3)
    assert.deepEqual(following.lists[2], [])
    assert.equal(following.condition(), 'False SecretNotFound')
  })

  test('count soon after their Secret comes', async (t) => {
    const following = new Following(t, made())
    following.api.replies.set(SECRET, new ApiError('not found', 404))
    await following.start()
    following.api.replies.set(SECRET, secret(TEXT))
    await following.sends(2)
    assert.equal(following.condition(), 'True Accepted')
    assert.ok(following.clock.elapsed() < 777 + 15_000)
  })

  test('are not sent again because of the statuses that are written', async (t) => {
    const following = await new Following(t, made()).start()
    for (const resourceVersion of ['6', '7']) {
      const written = { ...made('shop/ci', {}, { resourceVersion }) }
      await following.event('MODIFIED', { ...written, status: following.statuses.get('shop/ci') })
      await following.clock.advance(2000)
    }
    assert.equal(following.lists.length, 1)
  })

  test('keep the text that was read last while the API server is away', async (t) => {
    const following = await new Following(t, made()).start()
    following.api.replies.set(SECRET, new ApiError('away'))
    await following.sends(3)
    assert.deepEqual(following.lists[2], following.lists[0])
  })

  test('are not sent before each Secret was read once', async (t) => {
    const following = new Following(t, made(), made('web/ci'))
    following.api.replies.set(SECRET, new ApiError('etcd is away', 500))
    following.run()
    for (let turn = 0; turn < 50; turn++) await following.clock.advance(50)
    assert.equal(following.lists.length, 0)
    assert.deepEqual(following.errors, ['cannot send the ClientTokens: etcd is away'])
    following.api.replies.set(SECRET, secret(TEXT))
    await following.sends(1)
    assert.equal(following.lists[0]?.length, 2)
  })

  test('are sent and written by the leader only', async (t) => {
    const following = new Following(t, made())
    following.isLeader = false
    following.run()
    for (let turn = 0; turn < 20; turn++) await following.clock.advance(50)
    assert.deepEqual([following.lists, following.api.calls.includes(SECRET)], [[], false])
    following.isLeader = true
    following.tokens.elected()
    await following.sends(1)
    assert.equal(following.condition(), 'True Accepted')
  })

  test('have the reason of a gateway that takes none, and count later', async (t) => {
    const following = new Following(t, made())
    following.failure = new GatewayError('The gateway answers 403: not named', 403)
    await following.start()
    assert.equal(following.condition(), 'False GatewayRefused')
    following.failure = undefined
    await following.sends(2)
    assert.equal(following.condition(), 'True Accepted')
  })

  test('are sent again soon after a failure, which is logged once', async (t) => {
    const following = new Following(t, made())
    following.failure = new GatewayError('away')
    await following.start()
    await following.sends(3)
    assert.deepEqual(following.errors, ['cannot send the ClientTokens: away'])
    assert.equal(following.condition(), 'undefined undefined')
    assert.ok(following.clock.elapsed() < 777 + 5000)
  })

  test('end at their time', async (t) => {
    const expires = new Date(START_MS + 30_000).toISOString()
    const following = await new Following(t, made('shop/ci', { expires })).start()
    assert.equal(following.lists[0]?.[0]?.expiresMs, START_MS + 30_000)
    await following.sends(2)
    assert.deepEqual(following.lists[1], [])
    assert.equal(following.condition(), 'False Expired')
  })

  test('of one namespace leave room to those of others, the oldest first', async (t) => {
    const many = Array.from({ length: 101 }, (_, i) =>
      made(`shop/t${i}`, {}, { creationTimestamp: new Date(START_MS - i * 1000).toISOString() }),
    )
    const following = await new Following(t, ...many, made('web/ci')).start()
    const names = new Set(following.lists[0]?.map(({ name }) => name))
    assert.deepEqual([names.size, names.has('web/ci'), names.has('shop/t0')], [101, true, false])
    assert.equal(following.condition('shop/t0'), 'False TooMany')
  })

  test('cost no write while nothing changes, and one for a new day of use', async (t) => {
    const following = await new Following(t, made()).start()
    const writes = (): number => following.api.calls.filter((call) => call === STATUS).length
    await following.sends(3)
    assert.equal(writes(), 1)
    following.outcomes = { lastUsed: '2026-01-01' }
    await following.sends(4)
    assert.equal(writes(), 2)
    assert.equal(following.statuses.get('shop/ci')?.lastUsed, '2026-01-01')
  })

  test('name the right that the exporter lacks to write a status', async (t) => {
    const following = new Following(t, made())
    following.api.replies.set(STATUS, new ApiError('no right', 403))
    await following.start()
    await following.sends(2)
    const [error = '', ...more] = following.errors
    assert.match(error, /^cannot write the status of ClientTokens: no right; add to the Cluster/)
    assert.deepEqual(more, [])
  })

  test('of several gateways have their status from one, and the last day of all', async (t) => {
    const conditions = [{ type: 'Accepted', status: 'True', reason: 'Accepted', message: '' }]
    const status = { identifier: 'abc', lastUsed: '2026-01-02', conditions }
    const following = new Following(t, { ...made(), status }, made('shop/new'))
    following.isElected = false
    following.outcomes = { lastUsed: '2026-01-01' }
    await following.start()
    assert.deepEqual([...following.statuses], [])
    following.outcomes = { lastUsed: '2026-01-03' }
    following.tokens.elected()
    await following.sends(2)
    assert.deepEqual([...following.statuses.keys()], ['shop/ci'])
    assert.equal(following.statuses.get('shop/ci')?.lastUsed, '2026-01-03')
    following.isElected = true
    following.outcomes = { lastUsed: null }
    following.tokens.elected()
    await following.sends(3)
    assert.deepEqual([...following.statuses.keys()], ['shop/ci', 'shop/new'])
    assert.equal(following.statuses.get('shop/ci')?.lastUsed, '2026-01-02')
  })
})
