/** Clients that Cloudflare Access has let in, at a gateway. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ASSERTION_HEADER } from '../../../src/gateway/access/access-assertions.ts'
import { START_MS } from '../../fake-host.ts'
import { AUDIENCE, createTeam, ISSUER, type Team } from '../access-team.ts'
import { QUESTION, Running } from '../running.ts'

/** A gateway behind Access, with a token for everybody of example.com. */
async function open(): Promise<{ running: Running; team: Team }> {
  const team = await createTeam()
  const running = await Running.start({ ACCESS_TEAM: ISSUER, ACCESS_AUDIENCE: AUDIENCE })
  running.fetchPage = (url) => team.fetch(url)
  await running.publish()
  await running.tokens.add({
    id: '0123456789ab',
    name: 'staff',
    scope: { clusters: ['*'], origins: ['*'], namespaces: ['*'], recurse: false },
    identities: ['access:@example.com'],
    secrets: [],
    createdMs: START_MS,
    expiresMs: undefined,
  })
  return { running, team }
}

async function statusFor(
  { running, team }: { running: Running; team: Team },
  email: string,
): Promise<number> {
  const assertion = await team.sign({ now: START_MS, email })
  return (await running.send(`/dns-query${QUESTION}`, { [ASSERTION_HEADER]: assertion })).status
}

describe('a gateway behind Cloudflare Access', () => {
  test('answers a client that has a token by identity, and no other', async () => {
    const both = await open()
    assert.equal(await statusFor(both, 'alice@example.com'), 200)
    assert.equal(await statusFor(both, 'mallory@example.net'), 401)
    const { running } = both
    assert.equal(
      (await running.send(`/dns-query${QUESTION}`, { [ASSERTION_HEADER]: 'a.b.c' })).status,
      401,
    )
    assert.equal((await running.get(`/dns-query${QUESTION}`)).status, 401)
  })

  test('says so when it cannot find out', async () => {
    const both = await open()
    both.running.fetchPage = () => Promise.reject(new Error('away'))
    assert.equal(await statusFor(both, 'alice@example.com'), 503)
  })
})
