/** Logins of the page: what goes to the issuer, and which redirects count. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { afterEach, describe, test, vi } from 'vitest'
import {
  beginLogin,
  finishLogin,
  type Login,
  LoginFailure,
  type LoginPlace,
  labelOf,
  readPlaces,
  takeRedirect,
} from '../../page/login.ts'

afterEach(() => vi.unstubAllGlobals())

const ORIGIN = 'https://dns.example.org'
const ISSUER = 'https://sso.example.com/realms/acme'
const TOKEN_URL = 'https://tokens.example.com/token'
const PLACE: LoginPlace = {
  issuer: ISSUER,
  clientId: 'kubedoh',
  scopes: 'openid offline_access groups',
  endpoints: { authorize: 'https://sso.example.com/auth?x=1', token: TOKEN_URL, namesItself: true },
}
const OTHER: LoginPlace = { ...PLACE, issuer: 'https://other.example.com' }
/** An issuer without RFC 9207. */
const QUIET: LoginPlace = {
  ...PLACE,
  issuer: 'https://quiet.example.com',
  endpoints: { authorize: 'https://quiet.example.com/auth', token: TOKEN_URL, namesItself: false },
}
const PLACES = [PLACE, OTHER, QUIET]

type Claims = Readonly<Record<string, unknown>>

/** A tab, the last login that it began, and an issuer that gives an ID token for any code. */
class Tab {
  readonly items = new Map<string, string>()
  readonly sent: [url: string, form: URLSearchParams][] = []
  readonly tab = {
    origin: ORIGIN,
    storage: {
      getItem: (key: string) => this.items.get(key) ?? null,
      setItem: (key: string, value: string) => void this.items.set(key, value),
      removeItem: (key: string) => void this.items.delete(key),
    },
  }
  asked = new URLSearchParams()
  /** What the ID token has instead. */
  claims: Claims = {}
  respond: (() => Response | Promise<Response>) | undefined

  constructor() {
    vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
      this.sent.push([url, new URLSearchParams(String(init.body ?? ''))])
      if (url === '/v1/token') return Response.json({ access_token: 'given', expires_in: 60 })
      return this.respond?.() ?? Response.json({ id_token: this.idToken() })
    })
  }

  async begin(place: LoginPlace = PLACE): Promise<URL> {
    const { endpoints } = place
    const url = new URL(await beginLogin(place, endpoints?.authorize ?? '', this.tab))
    this.asked = url.searchParams
    return url
  }

  finish(redirect: Readonly<Record<string, string>> | string = {}): Promise<Login> {
    const state = this.asked.get('state') ?? ''
    const right = { from: 'sso.example.com', code: 'the code', state, iss: ISSUER }
    const search =
      typeof redirect === 'string'
        ? `${new URLSearchParams(right)}&${redirect}`
        : new URLSearchParams({ ...right, ...redirect })
    return finishLogin(new URLSearchParams(search), PLACES, this.tab)
  }

  private idToken(): string {
    const nonce = this.asked.get('nonce')
    const claims = { iss: ISSUER, aud: 'kubedoh', sub: 'ada', nonce, ...this.claims }
    return `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`
  }
}

test('asks the issuer with PKCE, a state and a nonce, each new, and for no token to renew', async () => {
  const tab = new Tab()
  const url = await tab.begin()
  const { nonce, state, code_challenge, ...rest } = Object.fromEntries(url.searchParams)
  assert.equal(url.origin + url.pathname, 'https://sso.example.com/auth')
  assert.deepEqual(rest, {
    x: '1',
    response_type: 'code',
    client_id: 'kubedoh',
    redirect_uri: 'https://dns.example.org/?from=sso.example.com',
    scope: 'openid groups',
    code_challenge_method: 'S256',
  })
  const { verifier } = JSON.parse(tab.items.get('kubedoh-login') ?? '')
  assert.match(verifier, /^[\w-]{43}$/)
  assert.equal(code_challenge, createHash('sha256').update(verifier).digest('base64url'))
  const texts = new Set([nonce, state, verifier])
  const again = Object.fromEntries((await tab.begin()).searchParams)
  assert.equal(texts.add(again.nonce).add(again.state).size, 5)
})

test('gives the code to the issuer, and the ID token to the gateway', async () => {
  const tab = new Tab()
  await tab.begin()
  const { verifier } = JSON.parse(tab.items.get('kubedoh-login') ?? '')
  tab.claims = { name: 'Ada Lovelace', aud: ['kubedoh', 'more'], azp: 'kubedoh' }
  const { token, person } = await tab.finish()
  assert.deepEqual([token, person.name, person.issuer], ['given', 'Ada Lovelace', ISSUER])
  assert.ok(person.untilMs > Date.now())
  const [[url, form] = ['', undefined], [own] = ['']] = tab.sent
  assert.deepEqual([url, own, tab.sent.length], [TOKEN_URL, '/v1/token', 2])
  assert.deepEqual(Object.fromEntries(form ?? []), {
    grant_type: 'authorization_code',
    code: 'the code',
    redirect_uri: 'https://dns.example.org/?from=sso.example.com',
    client_id: 'kubedoh',
    code_verifier: verifier,
  })
  assert.equal(tab.items.size, 0)
  await assert.rejects(tab.finish(), /began no such login/)
})

describe('a redirect sends nothing anywhere', () => {
  const cases: [name: string, redirect: Readonly<Record<string, string>> | string, RegExp][] = [
    ['with another state', { state: 'x' }, /began no such login/],
    ['with two states', 'state=x', /began no such login/],
    ['from the URL of another issuer', { from: 'other.example.com' }, /Another issuer/],
    ['that another issuer signs', { iss: OTHER.issuer }, /Another issuer/],
    ['without the name that this issuer always gives', { iss: '' }, /Another issuer/],
    ['with two names', `iss=${OTHER.issuer}`, /Another issuer/],
    ['with two codes', 'code=y', /refused the login/],
  ]
  for (const [name, redirect, message] of cases) {
    test(name, async () => {
      const tab = new Tab()
      await tab.begin()
      await assert.rejects(tab.finish(redirect), message)
      assert.deepEqual(tab.sent, [])
      assert.equal(tab.items.size, 0)
    })
  }

  test('with two names, from an issuer that need not name itself', async () => {
    const tab = new Tab()
    await tab.begin(QUIET)
    const from = 'quiet.example.com'
    await assert.rejects(tab.finish({ from, iss: ISSUER }), /Another issuer/)
    await tab.begin(QUIET)
    const state = tab.asked.get('state') ?? ''
    const search = new URLSearchParams({ from, code: 'the code', state, iss: QUIET.issuer })
    const twice = new URLSearchParams(`${search}&iss=${QUIET.issuer}`)
    await assert.rejects(finishLogin(twice, PLACES, tab.tab), /Another issuer/)
    assert.deepEqual(tab.sent, [])
    await tab.begin(QUIET)
    tab.claims = { iss: QUIET.issuer }
    search.delete('iss')
    search.set('state', tab.asked.get('state') ?? '')
    assert.equal((await finishLogin(search, PLACES, tab.tab)).token, 'given')
  })

  test('of a login that was never begun', async () => {
    for (const kept of ['', '{}', 'x', '{"issuer":"a","state":"","nonce":"b","verifier":"c"}']) {
      const tab = new Tab()
      tab.items.set('kubedoh-login', kept)
      await assert.rejects(tab.finish(), /began no such login/, kept)
      assert.deepEqual(tab.sent, [])
    }
  })
})

describe('an ID token is not taken', () => {
  const cases: [name: string, claims: Claims][] = [
    ['of another issuer', { iss: OTHER.issuer }],
    ['of another login', { nonce: 'x' }],
    ['without a nonce', { nonce: undefined }],
    ['for another client', { aud: 'other' }],
    ['for several clients, and issued to another', { aud: ['kubedoh', 'x'], azp: 'x' }],
  ]
  for (const [name, claims] of cases) {
    test(name, async () => {
      const tab = new Tab()
      tab.claims = claims
      await tab.begin()
      await assert.rejects(tab.finish(), /is not of this login/)
      assert.deepEqual(
        tab.sent.map(([url]) => url),
        [TOKEN_URL],
      )
    })
  }
})

describe('an issuer that gives no token', () => {
  const away = (): never => {
    throw new TypeError('Failed to fetch')
  }
  const cases: [name: string, respond: () => Response, message: RegExp][] = [
    ['refuses', () => Response.json({ error: 'invalid_grant' }, { status: 400 }), /invalid_grant/],
    ['has a page of errors', () => new Response('<b>', { status: 502 }), /HTTP status 502/],
    ['gives another token', () => Response.json({ access_token: 'x' }), /no ID token/],
    ['sends no JSON', () => new Response('x'), /no ID token/],
    ['sends too much', () => new Response(`"${'x'.repeat(300_000)}"`), /no ID token/],
    ['is away', away, /sso\.example\.com does not respond/],
  ]
  for (const [name, respond, message] of cases) {
    test(name, async () => {
      const tab = new Tab()
      tab.respond = respond
      await tab.begin()
      await assert.rejects(tab.finish(), message)
      assert.ok(tab.sent.every(([url]) => url === TOKEN_URL))
    })
  }

  test('answers, but lets no page read', async () => {
    const tab = new Tab()
    await tab.begin()
    let count = 0
    tab.respond = () => (count++ === 0 ? away() : new Response())
    await assert.rejects(tab.finish(), (error) => {
      assert.ok(error instanceof LoginFailure && error.isOfPage)
      assert.match(error.message, /lets no page of https:\/\/dns\.example\.org read/)
      return true
    })
    // The second request has no code, and asks only whether a server answers.
    assert.deepEqual([tab.sent.length, String(tab.sent[1]?.[1])], [2, ''])
  })
})

test('a browser that keeps nothing begins no login', async () => {
  const refuse = (): never => {
    throw new Error('forbidden')
  }
  const storage = { getItem: refuse, setItem: refuse, removeItem: refuse }
  const tab = { origin: ORIGIN, storage }
  await assert.rejects(beginLogin(PLACE, 'https://sso.example.com/', tab), LoginFailure)
  await assert.rejects(finishLogin(new URLSearchParams('state=x'), PLACES, tab), LoginFailure)
})

test('a redirect leaves the address, and nothing else is one', () => {
  const cases: [search: string, isRedirect: boolean][] = [
    ['?from=a&code=b&state=c', true],
    ['?error=access_denied&state=c', true],
    ['?code=b', false],
    ['?state=b', false],
    ['?from=a', false],
    ['', false],
  ]
  for (const [search, isRedirect] of cases) {
    const paths: string[] = []
    const found = takeRedirect(search, (path) => void paths.push(path))
    assert.deepEqual([found !== undefined, paths], [isRedirect, isRedirect ? ['/'] : []], search)
  }
})

test('the places of a page are those that it has', () => {
  assert.deepEqual(readPlaces(JSON.stringify(PLACES)), PLACES)
  for (const text of [undefined, '', '{}', '[1,{"issuer":"x"}]']) {
    assert.deepEqual(readPlaces(text), [])
  }
  assert.equal(labelOf(ISSUER, PLACES), 'sso.example.com')
  const beside = { ...PLACE, issuer: 'https://sso.example.com/realms/other/' }
  assert.equal(labelOf(beside.issuer, [PLACE, beside]), 'sso.example.com/realms/other')
})
