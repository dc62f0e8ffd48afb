/**
 * `kubedoh login`: a token of a gateway for a person whom one of its issuers knows.
 * @module
 */
import { isIP } from 'node:net'
import { CommandError, type Output } from '../../server/node/output.ts'
import { parseListenAddress } from '../../server/sockets/listen-address.ts'
import {
  credentialPath,
  withLockedCredentials,
  writeCredential,
} from '../credentials/credential-file.ts'
import { exchangeIdToken, readLoginPlaces } from '../credentials/gateway-login.ts'
import {
  type Identity,
  IdentityProvider,
  type LoginPlace,
} from '../credentials/identity-provider.ts'
import type { Input } from '../flags/flags.ts'
import { readGatewayUrl } from '../flags/operator-call.ts'
import { LoopbackRedirect } from './loopback-redirect.ts'
import { openBrowser } from './open-browser.ts'

/** How long a person may take. */
const LOGIN_MS_MAX = 5 * 60_000
const LISTEN = '127.0.0.1:0'

/**
 * Logs a person in and keeps the login.
 * @param loginMs how long the person may take in the browser
 * @throws {CommandError} when the gateway has no logins, and when the issuer or the gateway refuses
 */
export async function runLogin(
  input: Input,
  output: Output,
  loginMs: number = LOGIN_MS_MAX,
): Promise<void> {
  const gateway = new URL(readGatewayUrl(input)).origin
  const path = keptIn(input)
  const place = choose(await readLoginPlaces(gateway), input.text('issuer'), gateway)
  const provider = await IdentityProvider.open(place)
  const identity = await (input.isSet('device')
    ? identifyOnDevice(provider, output)
    : identifyInBrowser(provider, input, { output, loginMs }))
  const given = await exchangeIdToken(gateway, identity.idToken)
  const { issuer, clientId, scopes } = place
  const credential = { ...given, ...identity, issuer, clientId, scopes }
  await withLockedCredentials(path, async () => writeCredential(path, gateway, credential))
  const renewal = identity.refreshToken === '' ? 'log in again then' : 'commands renew it'
  output.stdout.write(
    `logged in at ${gateway} as ${printable(identity.subject)} of ${issuer}\n` +
      `the token counts until ${given.expires}; ${renewal}\n`,
  )
}

/** Returns the file of logins. @throws {CommandError} for a process without a home */
export function keptIn(input: Input): string {
  const path = credentialPath((name) => input.env(name))
  if (path !== undefined) return path
  throw new CommandError('There is no folder to keep a login in; set HOME or XDG_CONFIG_HOME')
}

function choose(places: readonly LoginPlace[], issuer: string, gateway: string): LoginPlace {
  const known = places.map((place) => printable(place.issuer)).join(', ')
  const fitting = issuer === '' ? places : places.filter((place) => place.issuer === issuer)
  const [place, ...others] = fitting
  if (place === undefined) {
    throw new CommandError(`--issuer "${issuer}" is not one of ${gateway}: ${known}`)
  }
  if (others.length === 0) return place
  throw new CommandError(`${gateway} has several issuers; pass --issuer with one of: ${known}`)
}

async function identifyInBrowser(
  provider: IdentityProvider,
  input: Input,
  { output, loginMs }: { readonly output: Output; readonly loginMs: number },
): Promise<Identity> {
  const { host, port } = readListen(input.text('listen') || LISTEN)
  const redirect = await LoopbackRedirect.listen(host, port)
  try {
    const { url, state, finish } = await provider.beginInBrowser(redirect.url)
    output.stderr.write(`Log in on this page, in the browser of this machine:\n  ${url.href}\n`)
    openBrowser(url, (name) => input.env(name))
    return await finish(await redirect.wait(state, AbortSignal.timeout(loginMs)))
  } finally {
    redirect.close()
  }
}

/** The redirect has the code of the login, so it must not leave this machine. */
function readListen(text: string): { readonly host: string; readonly port: number } {
  const { host = '', port } = parseListenAddress(text)
  if ((isIP(host) === 4 && host.startsWith('127.')) || host === '::1') return { host, port }
  throw new CommandError(`--listen "${text}" is not an address of loopback, such as 127.0.0.1:8400`)
}

async function identifyOnDevice(provider: IdentityProvider, output: Output): Promise<Identity> {
  const { page, pageWithCode, code, finish } = await provider.beginOnDevice()
  output.stderr.write(
    `Open ${printable(page)} on any device and enter the code ${printable(code)}\n` +
      (pageWithCode === '' ? '' : `or open ${printable(pageWithCode)}\n`),
  )
  return finish()
}

/** Another machine's words reach a terminal without its control characters. */
function printable(text: string): string {
  return text.replace(/[^ -~]/g, '?')
}
