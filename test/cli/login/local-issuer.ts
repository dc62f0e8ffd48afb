/**
 * A real OpenID provider on loopback, a gateway that trusts it, and a person with a browser.
 * @module
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { type TestContext, vi } from 'vitest'
import type { Credential } from '../../../src/cli/credentials/credential-file.ts'
import { main } from '../../../src/cli/main.ts'
import { recordOf } from '../../../src/dns/bytes/unknown.ts'
import { generateKeyPair } from '../../../src/snapshot/format/signature.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { freePort } from '../../free-port.ts'
import { startOperatedGateway } from '../operated-gateway.ts'
import { ENVIRONMENT, type Ran, runCli, Screen } from '../run-cli.ts'

const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code'
const CLIENT = {
  client_id: 'kubedoh',
  token_endpoint_auth_method: 'none',
  application_type: 'native',
  grant_types: ['authorization_code', 'refresh_token', DEVICE],
  response_types: ['code'],
  redirect_uris: ['http://127.0.0.1/callback'],
  id_token_signed_response_alg: 'ES256',
}
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const { privateKey: EXCHANGE_KEY } = await generateKeyPair()

/** Starts a provider, which runs until the test ends. Returns its URL. */
export async function startIssuer(t: TestContext): Promise<string> {
  const { url, close } = await openIssuer(await freePort(), { clients: [CLIENT] })
  t.onTestFinished(close)
  return url
}

/** Starts a provider on a port of this machine. @param more of its configuration, with clients */
export async function openIssuer(
  port: number,
  more: object,
): Promise<{ readonly url: string; readonly close: () => void }> {
  const url = `http://127.0.0.1:${port}`
  // It warns of its pages, which are for tests, and of versions of Node newer than itself.
  vi.spyOn(console, 'warn').mockReturnValue()
  vi.spyOn(console, 'info').mockReturnValue()
  const { Provider } = await import('oidc-provider')
  const provider = new Provider(url, {
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' }] },
    cookies: { keys: ['a key of the tests'] },
    features: {
      devInteractions: { enabled: true },
      deviceFlow: { enabled: true },
      revocation: { enabled: true },
    },
    claims: { openid: ['sub'], groups: ['groups'] },
    scopes: ['openid', 'offline_access', 'groups'],
    conformIdTokenClaims: false,
    ttl: { AccessToken: 60, IdToken: 600, RefreshToken: 600, DeviceCode: 60, Grant: 600 },
    findAccount: (_: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, groups: [`team-${accountId}`] }),
    }),
    ...more,
  })
  const server = createServer(provider.callback()).listen(port, '127.0.0.1')
  await once(server, 'listening')
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  return { url, close }
}

/** An entry of `ISSUERS`: ada is an administrator, bob a client. */
export function entryOf(issuer: string, scopes = 'openid groups offline_access'): object {
  const client = { id: 'kubedoh', scopes }
  const rules = [
    { when: { groups: 'team-ada' }, namespaces: ['*'], role: 'administrator', expires: '1h' },
    { when: { groups: 'team-bob' }, namespaces: ['shop'], expires: '1h' },
  ]
  return { issuer, audiences: ['kubedoh'], client, rules }
}

/** A gateway with issuers, and the environment of a person without logins. */
export class Desk {
  readonly gateway: string
  readonly environment: Readonly<Record<string, string>>

  static async open(t: TestContext, issuers: readonly object[]): Promise<Desk> {
    const ISSUERS = JSON.stringify(issuers)
    const variables = { COREFILE: '. {\n  whoami\n}\n', ISSUERS, EXCHANGE_KEY }
    return new Desk(await startOperatedGateway(t, variables), temporaryFolder(t))
  }

  private constructor(port: number, folder: string) {
    this.gateway = `http://127.0.0.1:${port}`
    this.environment = { ...ENVIRONMENT, XDG_CONFIG_HOME: folder, KUBEDOH_GATEWAY: this.gateway }
  }

  get file(): string {
    return join(this.environment.XDG_CONFIG_HOME ?? '', 'kubedoh', 'credentials.json')
  }

  run(...args: readonly string[]): Promise<Ran> {
    return runCli(args, this.environment)
  }

  /** Queries the gateway for a name. */
  query(): Promise<Ran> {
    return this.run('query', 'a.example.org', '--server', `${this.gateway}/dns-query`)
  }

  /** Runs `login`; `visit` gets the page that it shows. */
  async login(args: readonly string[], visit: (page: string) => Promise<unknown>): Promise<Ran> {
    const screen = new Screen()
    const ended = main(['login', ...args], screen, this.environment)
    const [, page = ''] = await screen.shows('stderr', /^(?:or open| ) (http:\S+)$/m)
    await visit(page)
    return { status: await ended, ...screen.text }
  }

  /** Returns the login that is kept. */
  kept(): Credential {
    const { gateways } = recordOf(JSON.parse(readFileSync(this.file, 'utf8')))
    return Object(gateways)[this.gateway]
  }

  /** Changes the login that is kept. */
  change(fields: Partial<Credential>): void {
    const kept = { ...this.kept(), ...fields }
    writeFileSync(this.file, JSON.stringify({ gateways: { [this.gateway]: kept } }))
  }
}

/** What a person does on a page with a form. */
type Deed = 'agree' | 'deny'
const HOPS_MAX = 20

/**
 * Goes through the pages of the issuer as a person with a browser does. Returns the last page.
 * @param name how the person logs in
 */
export async function browse(page: string, name: string, deed: Deed = 'agree'): Promise<string> {
  const jar = new Map<string, string>()
  let [url, init]: [URL, RequestInit] = [new URL(page), {}]
  for (let hopsLeft = HOPS_MAX; hopsLeft > 0; hopsLeft--) {
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ')
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, key = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      jar.set(key, value)
    }
    const text = await response.text()
    const location = response.headers.get('location')
    const abort = /href="([^"]+\/abort)"/.exec(text)?.[1]
    if (location !== null) [url, init] = [new URL(location, url), {}]
    else if (deed === 'deny' && abort !== undefined) [url, init] = [new URL(abort, url), {}]
    else if (text.includes('<form')) [url, init] = submit(text, url, name)
    else return text
  }
  assert.fail(`the pages have no end: ${url.href}`)
}

function submit(page: string, at: URL, name: string): [URL, RequestInit] {
  const [, action = ''] = /<form[^>]* action="([^"]+)"/.exec(page) ?? []
  const body = new URLSearchParams()
  for (const [tag] of page.matchAll(/<input[^>]*>/g)) {
    const [, field = ''] = / name="([^"]*)"/.exec(tag) ?? []
    const [, value = name] = / value="([^"]*)"/.exec(tag) ?? []
    body.set(field, value)
  }
  // On a page with a button for each person.
  const [, button] = new RegExp(`<button name="(\\w+)" value="${name}"`).exec(page) ?? []
  if (button !== undefined) body.set(button, name)
  return [new URL(action, at), { method: 'POST', body }]
}
