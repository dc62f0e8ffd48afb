import assert from 'node:assert/strict'
import type { JWTPayload } from 'jose'
import { describe, test } from 'vitest'
import { Issuers, type KnownSubject } from '../../../src/gateway/access/issuers.ts'
import { readIssuers } from '../../../src/gateway/config/issuers.ts'
import { IssuerKeys } from '../../../src/gateway/jwt/issuer-keys.ts'
import type { TokenIssuer } from '../../../src/snapshot/format/token-issuer.ts'
import { FakeIssuer } from '../fake-issuer.ts'

const NOW_MS = Date.parse('2026-01-01T00:00:00Z')
const URL_OF = 'https://ci.example.test'

type Options = { readonly issuer?: FakeIssuer; readonly keys?: string }

/** A gateway's view of one issuer. Time passes where it is waited for. */
class Checking {
  nowMs = NOW_MS
  readonly logged: string[] = []
  readonly issuer: FakeIssuer
  readonly issuers: Issuers

  constructor(
    rules: readonly object[],
    { issuer = new FakeIssuer(URL_OF), ...more }: Options = {},
  ) {
    this.issuer = issuer
    const config = [{ issuer: issuer.url, audiences: ['kubedoh'], rules, ...more }]
    this.issuers = new Issuers(readIssuers(JSON.stringify(config)), [], {
      tokenIssuerOf: async () => undefined,
      fetch: issuer.fetch,
      after: (ms, run) => {
        const timer = setTimeout(() => {
          this.nowMs += ms
          run()
        })
        return () => clearTimeout(timer)
      },
      clock: { now: () => this.nowMs, elapsed: () => this.nowMs - 777 },
      log: (entry) => this.logged.push(`${entry.reason}`),
    })
  }

  async ask(claims: JWTPayload): Promise<KnownSubject | undefined> {
    return this.issuers.find(await this.issuer.sign(this.nowMs, claims))
  }
}

/** Returns the namespaces of a rule; `none` for a token that does not count. */
function namespacesOf(known: KnownSubject | undefined): readonly string[] {
  if (known === undefined) return ['none']
  const scope: { readonly namespaces: readonly string[] } = JSON.parse(known.visibility.id)
  return scope.namespaces
}

const SERVICE_ACCOUNT = {
  'kubernetes.io': { namespace: 'shop', serviceaccount: { name: 'builder', uid: '9-f' } },
}

describe('a rule', () => {
  const cases: { name: string; when: object; claims: JWTPayload; fits: boolean }[] = [
    {
      name: 'by a text',
      when: { ref: 'refs/heads/main' },
      claims: { ref: 'refs/heads/main' },
      fits: true,
    },
    { name: 'by another text', when: { ref: 'main' }, claims: { ref: 'mainly' }, fits: false },
    {
      name: 'by a pattern',
      when: { repository: 'acme/*' },
      claims: { repository: 'acme/x' },
      fits: true,
    },
    {
      name: 'by a pattern of another',
      when: { repository: 'acme/*' },
      claims: { repository: 'acme-evil/x' },
      fits: false,
    },
    {
      name: 'by one pattern of two',
      when: { ref: ['a', 'b*'] },
      claims: { ref: 'bc' },
      fits: true,
    },
    { name: 'by two claims', when: { a: '1', b: '2' }, claims: { a: '1', b: '2' }, fits: true },
    {
      name: 'by two claims, of which one differs',
      when: { a: '1', b: '2' },
      claims: { a: '1', b: '3' },
      fits: false,
    },
    { name: 'by a claim that is missing', when: { a: '*' }, claims: {}, fits: false },
    {
      name: 'by a value of a list',
      when: { groups: 'dev' },
      claims: { groups: ['ops', 'dev'] },
      fits: true,
    },
    { name: 'by an empty list', when: { groups: '*' }, claims: { groups: [] }, fits: false },
    {
      name: 'by a list in a list',
      when: { groups: 'dev' },
      claims: { groups: [['dev']] },
      fits: false,
    },
    {
      name: 'by true',
      when: { email_verified: 'true' },
      claims: { email_verified: true },
      fits: true,
    },
    { name: 'by a number', when: { project_id: '22' }, claims: { project_id: 22 }, fits: true },
    { name: 'by null', when: { a: '*' }, claims: { a: null }, fits: false },
    { name: 'by an object', when: { a: '*' }, claims: { a: {} }, fits: false },
    {
      name: 'by a claim in an object',
      when: { 'kubernetes.io': { namespace: 'shop', serviceaccount: { name: 'b*' } } },
      claims: SERVICE_ACCOUNT,
      fits: true,
    },
    {
      name: 'by another claim in an object',
      when: { 'kubernetes.io': { namespace: 'data' } },
      claims: SERVICE_ACCOUNT,
      fits: false,
    },
    {
      name: 'by an object where a text is',
      when: { sub: { name: '*' } },
      claims: { sub: 'x' },
      fits: false,
    },
    {
      name: 'by a claim with a wildcard in it',
      when: { ref: 'main' },
      claims: { ref: '*' },
      fits: false,
    },
    ...['acme/*', '*', 'acme*', 'other/acme/shop', 'acme', '', ' acme/shop', '\n', '\0acme/x'].map(
      (repository) => ({
        name: `by the text ${JSON.stringify(repository)}`,
        when: { repository: 'acme/shop' },
        claims: { repository },
        fits: false,
      }),
    ),
    // A pattern's `*` is any text; what a client may be called is checked apart.
    ...['acme/', 'acme/*', 'acme/\n', 'acme/\u202e'].map((repository) => ({
      name: `by a pattern and the text ${JSON.stringify(repository)}`,
      when: { repository: 'acme/*' },
      claims: { repository },
      fits: true,
    })),
    ...['a\nb', '\0', '\u0085', 'x'.repeat(256)].map((sub) => ({
      name: `by a client that is called ${JSON.stringify(sub).slice(0, 20)}`,
      when: { repository: '*' },
      claims: { sub, repository: 'x' },
      fits: false,
    })),
    { name: 'by a name that all objects have', when: { toString: '*' }, claims: {}, fits: false },
  ]
  for (const { name, when, claims, fits } of cases) {
    test(`${name}: ${fits ? 'fits' : 'does not fit'}`, async () => {
      const known = await new Checking([{ when, namespaces: ['shop'] }]).ask(claims)
      assert.deepEqual(namespacesOf(known), fits ? ['shop'] : ['none'])
    })
  }

  test('counts before those after it', async () => {
    const checking = new Checking([
      { when: { ref: 'main' }, namespaces: ['prod'] },
      { when: { ref: '*' }, namespaces: ['dev-*'], explain: true },
    ])
    assert.deepEqual(namespacesOf(await checking.ask({ ref: 'main' })), ['prod'])
    const other = await checking.ask({ ref: 'x', sub: 'job' })
    assert.deepEqual(namespacesOf(other), ['dev-*'])
    assert.deepEqual([other?.mayExplain, other?.subject], [true, `${URL_OF} job`])
  })
})

describe('a token of an issuer', () => {
  const rules = [{ when: { sub: '*' }, namespaces: ['*'] }]

  for (const algorithm of ['RS256', 'ES256']) {
    test(`counts by ${algorithm}, without a request where it was seen before`, async () => {
      const checking = new Checking(rules, { issuer: new FakeIssuer(URL_OF, algorithm) })
      const token = await checking.issuer.sign(NOW_MS, { sub: 'a' })
      assert.equal(checking.issuers.findAtOnce(token), undefined)
      assert.notEqual(await checking.issuers.find(token), undefined)
      assert.notEqual(checking.issuers.findAtOnce(token), undefined)
      const places = ['/.well-known/openid-configuration', '/keys']
      assert.deepEqual(
        checking.issuer.asked,
        places.map((path) => URL_OF + path),
      )
      checking.nowMs += 3_600_000
      assert.equal(checking.issuers.findAtOnce(token), undefined)
    })
  }

  test('by an algorithm that is not listed does not count', async () => {
    const checking = new Checking(rules, { issuer: new FakeIssuer(URL_OF, 'ES384') })
    assert.equal(await checking.ask({ sub: 'a' }), undefined)
    assert.match(checking.logged.join(), /alg/)
  })

  test('of an issuer that is not listed asks nobody', async () => {
    const checking = new Checking(rules)
    const stranger = new FakeIssuer('https://evil.example.test')
    assert.equal(await checking.issuers.find(await stranger.sign(NOW_MS, { sub: 'a' })), undefined)
    assert.equal(await checking.issuers.find('a.b.c'), undefined)
    assert.deepEqual([checking.issuer.asked, stranger.asked], [[], []])
  })

  const refused: { name: string; claims: JWTPayload; reason: RegExp }[] = [
    { name: 'of another audience', claims: { sub: 'a', aud: 'other' }, reason: /aud/ },
    { name: 'that has ended', claims: { sub: 'a', exp: NOW_MS / 1000 - 61 }, reason: /exp/ },
    { name: 'of the future', claims: { sub: 'a', nbf: NOW_MS / 1000 + 61 }, reason: /nbf/ },
    { name: 'that no rule fits', claims: {}, reason: /no rule/ },
  ]
  for (const { name, claims, reason } of refused) {
    test(`${name} does not count, and the log says why, once a second`, async () => {
      const checking = new Checking(rules)
      assert.equal(await checking.ask(claims), undefined)
      assert.equal(await checking.ask(claims), undefined)
      assert.equal(checking.logged.length, 1)
      assert.match(checking.logged.join(), reason)
    })
  }
})

describe('the keys of a cluster', () => {
  test('do not count where the cluster has another issuer', async () => {
    const keys = [{ kty: 'EC', kid: 'one' }]
    const clusterKeys = new IssuerKeys({
      issuer: URL_OF,
      keys: { cluster: 'lab' },
      fetch: () => assert.fail('no request is expected'),
      tokenIssuerOf: async () => ({ issuer: 'https://other.test', keys }),
      after: () => () => undefined,
      clock: { now: () => NOW_MS, elapsed: () => NOW_MS },
    })
    await assert.rejects(clusterKeys.current(), /the issuer of cluster "lab" is https:\/\/other/)
  })

  for (const [state, kept] of [
    [undefined, true],
    ['no cluster', false],
  ] as const) {
    test(`${kept ? 'count while it is away' : 'go with it'}`, async () => {
      const issuer = new FakeIssuer(URL_OF)
      const keys = [{ kty: 'EC', kid: 'one' }]
      let published: TokenIssuer | 'no cluster' | undefined = { issuer: URL_OF, keys }
      let nowMs = NOW_MS
      const clusterKeys = new IssuerKeys({
        issuer: URL_OF,
        keys: { cluster: 'lab' },
        fetch: issuer.fetch,
        tokenIssuerOf: async () => published,
        after: () => () => undefined,
        clock: { now: () => nowMs, elapsed: () => nowMs },
      })
      assert.deepEqual(await clusterKeys.current(), keys)
      published = state
      nowMs += 11_000
      if (kept) assert.deepEqual(await clusterKeys.current(), keys)
      else await assert.rejects(clusterKeys.current(), /there is no cluster "lab"/)
    })
  }
})

describe('the keys of an issuer', () => {
  const rules = [{ when: { sub: '*' }, namespaces: ['*'] }]

  test('that change each second are read once in ten', async () => {
    const checking = new Checking(rules, { keys: `${URL_OF}/keys` })
    for (let second = 0; second < 60; second++) {
      await checking.issuer.rotate()
      await checking.ask({ sub: 'a' })
      checking.nowMs += 1000
    }
    assert.equal(checking.issuer.asked.length, 6)
  })

  const bad: { name: string; path: string; answer: () => Promise<Response>; reason: RegExp }[] = [
    {
      name: 'by a discovery document of another issuer',
      path: '/.well-known/openid-configuration',
      answer: async () => Response.json({ issuer: 'https://x.test', jwks_uri: `${URL_OF}/keys` }),
      reason: /not of this issuer/,
    },
    ...[
      'http://ci.example.test/keys',
      'https://10.0.0.1/keys',
      'https://[fd00::1]/',
      'https://db/',
      'https://db.svc.cluster.local/',
      'https://a.example.test:8443/',
      'file:///etc/passwd',
      7,
    ].map((place) => ({
      name: `at ${place}`,
      path: '/.well-known/openid-configuration',
      answer: async () => Response.json({ issuer: URL_OF, jwks_uri: place }),
      reason: /no place for keys/,
    })),
    {
      name: 'of a megabyte',
      path: '/keys',
      answer: async () => new Response('x'.repeat(1_000_000)),
      reason: /over 65536 bytes/,
    },
    {
      name: 'that are no JSON',
      path: '/keys',
      answer: async () => new Response('<html>'),
      reason: /not a JSON object/,
    },
    {
      name: 'that are no list',
      path: '/keys',
      answer: async () => Response.json({ keys: {} }),
      reason: /not a JSON Web Key Set/,
    },
    {
      name: 'elsewhere',
      path: '/keys',
      answer: async () => new Response(null, { status: 302 }),
      reason: /status 302/,
    },
    {
      name: 'that never come',
      path: '/keys',
      answer: () => new Promise(() => undefined),
      reason: /no answer/,
    },
  ]
  for (const { name, path, answer, reason } of bad) {
    test(`${name} are refused`, async () => {
      const checking = new Checking(rules)
      checking.issuer.instead.set(path, answer)
      await assert.rejects(checking.ask({ sub: 'a' }), reason)
    })
  }
})
