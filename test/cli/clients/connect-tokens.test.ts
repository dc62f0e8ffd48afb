/** The tokens that `kubedoh connect` sends while it runs: of a file, and of a login. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type TestContext, test } from 'vitest'
import { runConnect } from '../../../src/cli/clients/connect.ts'
import { writeCredential } from '../../../src/cli/credentials/credential-file.ts'
import { Input } from '../../../src/cli/flags/flags.ts'
import { formatRcode } from '../../../src/dns/names/rcode.ts'
import { parseResponse } from '../../../src/dns/wire/message.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { freePort } from '../../free-port.ts'
import { writeReplyText } from '../../message-text.ts'
import { askUdp, queryWith } from '../../server/clients.ts'
import { browse, Desk, entryOf, startIssuer } from '../login/local-issuer.ts'
import { Screen } from '../run-cli.ts'

const LOOK_MS = 20
const ANSWER = 'a.example.org. 30 IN A 192.0.2.7'
const ENDED = `x.${Buffer.from('{"exp":1}').toString('base64url')}.x`

/** Starts a gateway that knows one token after the other. Returns its URL. */
async function startGateway(t: TestContext, port: number, isKnown: (token: string) => boolean) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { authorization = '' } = request.headers
      if (!isKnown(authorization.replace('Bearer ', ''))) {
        response.writeHead(401).end()
        return
      }
      response.setHeader('content-type', 'application/dns-message')
      response.end(writeReplyText(['NOERROR aa', ANSWER], new Uint8Array(Buffer.concat(chunks))))
    })
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  t.onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
}

/** Runs connect until the test ends. */
async function connect(
  t: TestContext,
  gateway: string,
  environment: Readonly<Record<string, string>>,
) {
  const port = await freePort()
  const flags = { gateway, domain: 'example.org', system: 'none', listen: `127.0.0.1:${port}` }
  const given = Object.entries(flags).map(([name, text]) => [name, [text]] as const)
  const screen = new Screen()
  const running = runConnect(new Input([], new Map(given), environment), screen, LOOK_MS)
  t.onTestFinished(async () => {
    process.emit('SIGHUP')
    await running
  })
  await Promise.race([screen.shows('stdout', /ready: /), running])
  let id = 0
  /** Resolves a new name, which no cache has. */
  const ask = async (): Promise<string> => {
    id++
    const { message } = await askUdp('127.0.0.1', port, queryWith(id, `a${id}.example.org`))
    return formatRcode(parseResponse(message)?.rcode ?? -1)
  }
  const becomes = async (rcode: string): Promise<void> => {
    while ((await ask()) !== rcode) await setTimeout(LOOK_MS)
  }
  return { screen, ask, becomes }
}

test('a token in a file is read again when another program has replaced it', async (t) => {
  const known = new Set(['first'])
  const port = await freePort()
  await startGateway(t, port, (token) => known.has(token))
  const folder = temporaryFolder(t, { token: 'first\n' })
  const path = join(folder, 'token')
  const { ask, becomes, screen } = await connect(t, `http://127.0.0.1:${port}`, {
    KUBEDOH_CLIENT_TOKEN_FILE: path,
  })
  assert.equal(await ask(), 'NOERROR')
  known.delete('first')
  await becomes('SERVFAIL')
  known.add('second')
  writeFileSync(path, '')
  await screen.shows('stderr', /has no token; KUBEDOH_CLIENT_TOKEN_FILE names it$/m)
  writeFileSync(path, 'second')
  await becomes('NOERROR')
})

test('a login that the gateway refuses is renewed while connect runs', async (t) => {
  const issuer = await startIssuer(t)
  const desk = await Desk.open(t, [entryOf(issuer)])
  await desk.login([], (page) => browse(page, 'ada'))
  const before = desk.kept()
  const { ask, becomes } = await connect(t, desk.gateway, desk.environment)
  assert.equal(await ask(), 'NOERROR')
  assert.equal((await desk.run('token', 'revoke', issuer, 'ada')).status, 0)
  // Tokens of the second of the revocation do not count either.
  while (desk.kept().token === before.token) await setTimeout(LOOK_MS)
  await becomes('NOERROR')
})

test('a laptop that is offline with an ended login starts, and goes on later', async (t) => {
  const [port, issuerPort] = [await freePort(), await freePort()]
  const folder = temporaryFolder(t)
  const gateway = `http://127.0.0.1:${port}`
  const login = { subject: 'ada', clientId: 'x', scopes: 'openid', idToken: ENDED }
  const keep = (token: string, expires: string, refreshToken: string): void => {
    const issuer = `http://127.0.0.1:${issuerPort}`
    const credential = { ...login, token, expires, issuer, refreshToken }
    writeCredential(join(folder, 'kubedoh/credentials.json'), gateway, credential)
  }
  keep('ended', '2026-01-01T00:00:00Z', 'one')
  const { screen, becomes } = await connect(t, gateway, { XDG_CONFIG_HOME: folder })
  const next = `to log in again: kubedoh login --gateway ${gateway}`
  assert.match(screen.text.stderr, /^kubedoh: Cannot renew the login at .*ECONNREFUSED/)
  assert.ok(screen.text.stderr.includes(next))
  assert.match(screen.text.stderr, /cannot be reached yet/)
  keep('ended', '2026-01-01T00:00:00Z', '')
  const line = `The login at ${gateway} has ended; run kubedoh login --gateway ${gateway}\n`
  await screen.shows('stderr', new RegExp(line))
  await startGateway(t, port, (token) => token === 'second')
  keep('second', '2999-01-01T00:00:00Z', '')
  await becomes('NOERROR')
})
