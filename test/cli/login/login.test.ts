/** Logins at a real OpenID provider, and the commands that use them. */
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Input } from '../../../src/cli/flags/flags.ts'
import { runLogin } from '../../../src/cli/login/login.ts'
import { freePort } from '../../free-port.ts'
import { failed, Screen } from '../run-cli.ts'
import { browse, Desk, entryOf, startIssuer } from './local-issuer.ts'

/** An ID token that has ended. */
const ENDED = `x.${Buffer.from('{"exp":1}').toString('base64url')}.x`
const PAST = '2026-01-01T00:00:00Z'

describe('login in a browser', () => {
  test('gives commands a token, which the file keeps for its user only', async (t) => {
    const issuer = await startIssuer(t)
    const desk = await Desk.open(t, [entryOf(issuer)])
    const login = `run kubedoh login --gateway ${desk.gateway}`
    const without = await desk.query()
    const hint = `HTTP status 401; pass a valid token, --token TOKEN, or ${login}\n`
    assert.ok(without.stderr.endsWith(hint), without.stderr)
    assert.ok((await desk.run('token', 'list')).stderr.endsWith(`, or ${login}\n`))
    assert.ok((await desk.run('doctor')).stdout.includes(login))
    const { status, stdout, stderr } = await desk.login([], async (page) => {
      assert.match(await browse(page, 'ada'), /You can close this window/)
    })
    assert.equal(status, 0, stderr)
    assert.match(stdout, new RegExp(`^logged in at ${desk.gateway} as ada of ${issuer}\n`))
    assert.match(stdout, /commands renew it\n$/)
    assert.equal(statSync(desk.file).mode & 0o777, 0o600)
    assert.equal(statSync(dirname(desk.file)).mode & 0o777, 0o700)
    const { token, refreshToken, ...rest } = desk.kept()
    assert.ok(token.length > 0 && refreshToken.length > 0)
    expect(rest).toMatchObject({ issuer, clientId: 'kubedoh', subject: 'ada' })
    assert.equal((await desk.query()).status, 0)
    assert.equal((await desk.run('token', 'list')).status, 0)
    const doctor = await desk.run('doctor')
    assert.match(doctor.stdout, /gateway.*reachable/)
    assert.equal((await desk.run('explain', 'a.example.org')).status, 0)
  })

  test('gives a person without a role no right of operators', async (t) => {
    const desk = await Desk.open(t, [entryOf(await startIssuer(t))])
    await desk.login([], (page) => browse(page, 'bob'))
    assert.equal((await desk.query()).status, 0)
    assert.match((await desk.run('token', 'list')).stderr, /the login has no role for this/)
  })

  test('fails with the reason when the person declines, or no rule fits', async (t) => {
    const desk = await Desk.open(t, [entryOf(await startIssuer(t))])
    const denied = await desk.login([], async (page) => {
      assert.match(await browse(page, 'ada', 'deny'), /No login/)
    })
    assert.equal(denied.status, 1)
    assert.match(denied.stderr, /access_denied/)
    const eve = await desk.login([], (page) => browse(page, 'eve'))
    assert.match(eve.stderr, /gives this person no token: no rule of its ISSUERS fits/)
  })

  test('goes on when a redirect has another state', async (t) => {
    const desk = await Desk.open(t, [entryOf(await startIssuer(t))])
    const { status } = await desk.login([], async (page) => {
      const redirect = new URL(page).searchParams.get('redirect_uri') ?? ''
      for (const query of ['', '?state=x&code=y', '?state=x&error=access_denied']) {
        const response = await fetch(`${redirect}${query}`)
        assert.equal(response.status, 400, query)
        assert.match(await response.text(), /Not this login/)
      }
      assert.equal((await fetch(new URL('/', redirect))).status, 404)
      await browse(page, 'ada')
    })
    assert.equal(status, 0)
  })

  test('ends when nobody comes', async (t) => {
    const desk = await Desk.open(t, [entryOf(await startIssuer(t))])
    const input = new Input([], new Map(), desk.environment)
    await assert.rejects(runLogin(input, new Screen(), 20), /Nobody logged in within the time/)
  })
})

test('a login on another device needs no browser on this one', async (t) => {
  const desk = await Desk.open(t, [entryOf(await startIssuer(t))])
  const { status, stderr } = await desk.login(['--device'], async (page) => {
    await browse(page, 'ada')
  })
  assert.equal(status, 0, stderr)
  assert.match(stderr, /^Open http\S+\/device on any device and enter the code \S+\nor open /)
  assert.equal((await desk.query()).status, 0)
})

test('a login is refused with the next step', async (t) => {
  const port = await freePort()
  const server = createServer().listen(port, '127.0.0.1')
  t.onTestFinished(() => void server.close())
  const issuer = await startIssuer(t)
  const none = await Desk.open(t, [])
  const one = await Desk.open(t, [entryOf(issuer)])
  const other = 'https://sso.example.test'
  const two = await Desk.open(t, [entryOf(issuer), entryOf(other)])
  const cases: [desk: Desk, args: readonly string[], message: string][] = [
    [
      none,
      [],
      `${none.gateway} has no logins: no entry of its ISSUERS has a client, or it has no EXCHANGE_KEY`,
    ],
    [two, [], `${two.gateway} has several issuers; pass --issuer with one of: ${issuer}, ${other}`],
    [one, ['--issuer', other], `--issuer "${other}" is not one of ${one.gateway}: ${issuer}`],
    [
      one,
      ['--listen', `127.0.0.1:${port}`],
      `Cannot listen on 127.0.0.1:${port}: address in use; stop the other process or choose another port`,
    ],
    [
      one,
      ['--listen', '0.0.0.0:0'],
      '--listen "0.0.0.0:0" is not an address of loopback, such as 127.0.0.1:8400',
    ],
  ]
  for (const [desk, args, message] of cases) {
    assert.deepEqual(await desk.run('login', ...args), failed(`kubedoh: ${message}`))
  }
})

describe('a login that ends', () => {
  test('is renewed by the command that needs it, once', async (t) => {
    const desk = await Desk.open(t, [entryOf(await startIssuer(t))])
    await desk.login([], (page) => browse(page, 'ada'))
    const first = desk.kept()
    desk.change({ token: 'ended', expires: PAST, idToken: ENDED })
    const ran = await Promise.all([desk.query(), desk.run('token', 'list'), desk.query()])
    assert.deepEqual(
      ran.map(({ status, stderr }) => stderr || status),
      [0, 0, 0],
    )
    const renewed = desk.kept()
    assert.notEqual(renewed.token, 'ended')
    assert.notEqual(renewed.idToken, ENDED)
    assert.notEqual(renewed.refreshToken, first.refreshToken)
    // The ID token that is valid still is enough.
    desk.change({ token: 'ended', expires: PAST })
    assert.equal((await desk.query()).status, 0)
    assert.equal(desk.kept().refreshToken, renewed.refreshToken)
  })

  test('says what to do when the issuer renews it no more', async (t) => {
    const desk = await Desk.open(t, [entryOf(await startIssuer(t))])
    await desk.login([], (page) => browse(page, 'ada'))
    const next = `run kubedoh login --gateway ${desk.gateway}`
    for (const refreshToken of ['', 'another']) {
      desk.change({ expires: PAST, idToken: ENDED, refreshToken })
      const message = `kubedoh: The login at ${desk.gateway} has ended; ${next}`
      assert.deepEqual(await desk.query(), failed(message))
    }
  })

  test('is renewed once when the gateway refuses its token', async (t) => {
    const desk = await Desk.open(t, [entryOf(await startIssuer(t))])
    await desk.login([], (page) => browse(page, 'ada'))
    const first = desk.kept()
    desk.change({ token: 'refused' })
    assert.equal((await desk.query()).status, 0)
    const second = desk.kept()
    assert.notEqual(second.refreshToken, first.refreshToken)
    desk.change({ idToken: `${second.idToken}x` })
    const { status, stderr } = await desk.run('token', 'list')
    assert.equal(status, 0, stderr)
    assert.notEqual(desk.kept().refreshToken, second.refreshToken)
    desk.change({ token: 'refused', refreshToken: 'another' })
    const next = `run kubedoh login --gateway ${desk.gateway}`
    const message = `kubedoh: The login at ${desk.gateway} has ended; ${next}`
    assert.deepEqual(await desk.query(), failed(message))
  })

  test('says that the issuer is away, and how to log in', async (t) => {
    const desk = await Desk.open(t, [entryOf(await startIssuer(t))])
    await desk.login([], (page) => browse(page, 'ada'))
    desk.change({ token: 'refused', issuer: `http://127.0.0.1:${await freePort()}` })
    const { status, stderr } = await desk.query()
    assert.equal(status, 1)
    const lines = stderr.trimEnd().split('\n')
    assert.equal(lines.length, 1)
    assert.match(stderr, /^kubedoh: Cannot renew the login at http.*ECONNREFUSED/)
    assert.ok(stderr.endsWith(`; to log in again: kubedoh login --gateway ${desk.gateway}\n`))
  })

  test('yields to a token in a flag or a variable', async (t) => {
    const desk = await Desk.open(t, [entryOf(await startIssuer(t))])
    await desk.login([], (page) => browse(page, 'ada'))
    desk.change({ expires: PAST, idToken: ENDED, refreshToken: '' })
    const server = ['--server', `${desk.gateway}/dns-query`]
    const ran = await desk.run('query', 'a.example.org', ...server, '--token', 'mine')
    assert.match(ran.stderr, /HTTP status 401/)
  })
})

test('logout forgets the login, and ends it at the issuer', async (t) => {
  const desk = await Desk.open(t, [entryOf(await startIssuer(t))])
  await desk.login([], (page) => browse(page, 'ada'))
  const kept = desk.kept()
  const { status, stdout } = await desk.run('logout')
  assert.equal(status, 0)
  assert.match(stdout, /the refresh token is revoked at http/)
  assert.match(stdout, /kubedoh token revoke http\S+ 'ada' --gateway/)
  assert.deepEqual(await desk.run('logout'), failed(`kubedoh: No login at ${desk.gateway}`))
  assert.match((await desk.query()).stderr, /HTTP status 401/)
  desk.change({ ...kept, expires: PAST, idToken: ENDED })
  assert.match((await desk.query()).stderr, /has ended; run kubedoh login/)
})
