import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { accessTokens } from '../../../src/gateway/access/access-assertions.ts'
import { AUDIENCE, type Claims, createTeam, ISSUER, type Team } from '../access-team.ts'

const NOW_MS = Date.parse('2026-01-01T00:00:00Z')

/** A gateway's view of a team, and the clock that it goes by. */
class Checking {
  nowMs = NOW_MS
  /** What the wall clock was set by. */
  steppedMs = 0
  readonly team: Team
  readonly assertions: ReturnType<typeof accessTokens>
  readonly refusals: string[] = []

  constructor(team: Team) {
    this.team = team
    this.assertions = accessTokens(
      { issuer: ISSUER, audience: AUDIENCE },
      {
        tokenIssuerOf: async () => undefined,
        fetch: (url) => team.fetch(url),
        after: () => () => undefined,
        clock: { now: () => this.nowMs + this.steppedMs, elapsed: () => this.nowMs - 777 },
        onRefused: (reason) => this.refusals.push(reason),
      },
    )
  }

  async ask(claims: Claims): Promise<readonly string[]> {
    return this.find(await this.team.sign({ now: this.nowMs, ...claims }))
  }

  async find(assertion: string): Promise<readonly string[]> {
    return (await this.assertions.find(assertion)) ?? []
  }
}

describe('an assertion', () => {
  const cases: { name: string; claims: Claims; identities: string[] }[] = [
    {
      name: 'says whose it is, and of which domain',
      claims: { email: 'Alice@Example.com' },
      identities: ['access:alice@example.com', 'access:@example.com'],
    },
    {
      name: "says which service's token it is of",
      claims: { common_name: 'e367826f93b8d71185e03fe518aff3b4.access' },
      identities: ['access:e367826f93b8d71185e03fe518aff3b4.access'],
    },
    { name: 'says nothing without a name', claims: {}, identities: [] },
    {
      name: 'of another application counts for nothing',
      claims: { email: 'a@b', audience: 'f'.repeat(64) },
      identities: [],
    },
    {
      name: 'of another team counts for nothing',
      claims: { email: 'a@b', issuer: 'https://evil.example' },
      identities: [],
    },
    {
      name: 'that has ended counts for nothing',
      claims: { email: 'a@b', lifeSeconds: -120 },
      identities: [],
    },
    {
      name: 'that never ends counts for nothing',
      claims: { email: 'a@b', lifeSeconds: undefined },
      identities: [],
    },
  ]
  for (const { name, claims, identities } of cases) {
    test(name, async () => {
      assert.deepEqual(await new Checking(await createTeam()).ask(claims), identities)
    })
  }

  test('by a stranger counts for nothing', async () => {
    const checking = new Checking(await createTeam())
    const stranger = await createTeam()
    assert.deepEqual(await checking.find(await stranger.sign({ now: NOW_MS, email: 'a@b' })), [])
    for (const text of ['', 'a.b.c', 'x'.repeat(10_000)]) {
      assert.deepEqual(await checking.find(text), [])
    }
  })

  test('in another spelling counts for nothing', async () => {
    const checking = new Checking(await createTeam())
    const { team } = checking
    const token = await team.sign({ now: NOW_MS, email: 'a@b' })
    const [head = '', payload = '', mark = ''] = token.split('.')
    const last = mark.at(-1) ?? ''
    // 256 bytes leave four bits of the last character unused.
    const next = String.fromCharCode(last.charCodeAt(0) + 1)
    for (const text of [
      `${token}==`,
      `${token}=`,
      `${token} `,
      `${token}\n`,
      `${head}==.${payload}.${mark}`,
      `${head}.${payload}=.${mark}`,
      `${head}.${payload}.${mark.slice(0, -1)}${next}`,
      `${head}.${payload}.${mark.replaceAll('_', '/').replaceAll('-', '+')}`,
      `${head}.${payload}.${mark.slice(0, 9)}\n${mark.slice(9)}`,
    ]) {
      const isSame = text === token
      assert.equal((await checking.find(text)).length > 0, isSame, text)
    }
  })

  test('without a signature counts for nothing', async () => {
    const checking = new Checking(await createTeam())
    const { team } = checking
    const [, payload] = (await team.sign({ now: NOW_MS, email: 'a@b' })).split('.')
    const head = btoa('{"alg":"none"}').replaceAll('=', '')
    assert.deepEqual(await checking.find(`${head}.${payload}.`), [])
  })
})

describe('the keys of Access', () => {
  test('are read once an hour', async () => {
    const checking = new Checking(await createTeam())
    await checking.ask({ email: 'a@b' })
    await checking.ask({ email: 'a@b' })
    assert.deepEqual(checking.team.asked, [`${ISSUER}/cdn-cgi/access/certs`])
    checking.nowMs += 3_600_000
    await checking.ask({ email: 'a@b' })
    assert.equal(checking.team.asked.length, 2)
  })

  test('are read again for one that is new, and not at every forgery', async () => {
    const checking = new Checking(await createTeam())
    await checking.ask({ email: 'a@b' })
    await checking.team.rotate()
    assert.deepEqual(await checking.ask({ email: 'a@b' }), [])
    checking.nowMs += 10_000
    assert.deepEqual(await checking.ask({ email: 'a@b' }), ['access:a@b', 'access:@b'])
    assert.equal(checking.team.asked.length, 2)
  })

  test('are kept for a day while they cannot be read', async () => {
    const checking = new Checking(await createTeam())
    await checking.ask({ email: 'a@b' })
    checking.team.fetch = () => Promise.reject(new TypeError('fetch failed'))
    checking.nowMs += 23.9 * 3_600_000
    assert.deepEqual(await checking.ask({ email: 'a@b' }), ['access:a@b', 'access:@b'])
    checking.nowMs += 0.2 * 3_600_000
    await assert.rejects(checking.ask({ email: 'a@b' }), /Cannot read the keys of https:.*failed/)
  })

  test('are needed', async () => {
    const checking = new Checking(await createTeam())
    checking.team.fetch = () => Promise.resolve(new Response('away', { status: 500 }))
    await assert.rejects(checking.ask({ email: 'a@b' }), /HTTP status 500/)
    checking.team.fetch = () => Promise.resolve(new Response('{}'))
    checking.nowMs += 1000
    await assert.rejects(checking.ask({ email: 'a@b' }), /not a JSON Web Key Set/)
  })
})
