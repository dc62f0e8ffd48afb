/**
 * Requests of operators to a gateway.
 * @module
 */
import { parseJson, recordOf } from '../../dns/bytes/unknown.ts'
import { tokenId } from '../../gateway/access/token.ts'
import { LOOPBACK } from '../../server/http/doh-listener.ts'
import { CommandError, type Output } from '../../server/node/output.ts'
import { nextAfter401 } from '../credentials/gateway-login.ts'
import {
  findStoredToken,
  keptToken,
  LoginEnded,
  type StoredKind,
} from '../credentials/stored-token.ts'
import { connectReason } from './authorities.ts'
import type { FlagName, Input } from './flags.ts'

const TIMEOUT_MS = 10_000
const UNAUTHORIZED = 401
/** Variable with the token of operators. */
export const ADMIN_VARIABLE = 'KUBEDOH_ADMIN_TOKEN'

/** A response with a status other than 2xx. */
export class GatewayRefusal extends CommandError {
  /** Identifies the error for programs; '' for a response that is not a gateway's. */
  readonly code: string

  constructor(message: string, code: unknown) {
    super(message)
    this.code = typeof code === 'string' ? code : ''
  }
}

/** A request that the token of a login may go with. */
type LoginRequest<T> = {
  /** URL of the gateway. */
  readonly url: string
  readonly kind: StoredKind
  /** Sends it; the token is '' without a login. */
  readonly send: (token: string) => Promise<T>
  /** Returns whether the gateway refused the token. */
  readonly isRefused: (reply: T) => boolean
}

/**
 * Finds a token of the login at a gateway; '' without one. The flags and variables of tokens win.
 * @param refused the token that the gateway has refused
 * @throws {CommandError} when the login cannot be renewed, with the next step
 */
export async function storedTokenOf(
  input: Input,
  url: string,
  kind: StoredKind,
  refused?: string,
): Promise<string> {
  const env = (name: string): string => input.env(name)
  const gateway = new URL(url).origin
  const found = await findStoredToken({ gateway, kind, env, ...(refused && { refused }) })
  return found ?? ''
}

/** Returns the client token of the login at a gateway, also one that has ended; '' without one. */
export function keptTokenOf(input: Input, url: string): string {
  return keptToken(new URL(url).origin, (name) => input.env(name)) ?? ''
}

/**
 * Sends a request with the token of the login at a gateway. If the gateway refuses it (its rules
 * changed, or an operator revoked it), renews the login and sends the request once more.
 * @throws {CommandError} when the login cannot be renewed, with the next step
 */
export async function sendWithLogin<T>(input: Input, request: LoginRequest<T>): Promise<T> {
  const { url, kind, send, isRefused } = request
  const token = await storedTokenOf(input, url, kind)
  const reply = await send(token)
  if (token === '' || !isRefused(reply)) return reply
  try {
    return await send(await storedTokenOf(input, url, kind, token))
  } catch (error) {
    // The ID token has not ended: its person may only have no role.
    if (error instanceof LoginEnded && kind === 'idToken') return reply
    throw error
  }
}

/** Finds the token of operators: that of the variable, else that of the login; '' for none. */
export async function operatorToken(input: Input): Promise<string> {
  const own = trimToken(input.env(ADMIN_VARIABLE), ADMIN_VARIABLE)
  return own === '' ? storedTokenOf(input, readGatewayUrl(input), 'idToken') : own
}

/**
 * Sends a request with the operator's token, or a given one, and resolves with the response's body.
 * @throws {CommandError} without a token or a response, and for a status other than 2xx
 */
export async function callGateway(
  input: Input,
  method: string,
  path: string,
  body?: string,
  token = '',
): Promise<string> {
  const response = await sendToGateway(input, path, { method, ...(body && { body }) }, token)
  const text = await response.text()
  if (response.ok) return text
  const { code, message } = recordOf(recordOf(parseJson(text)).error)
  const problem = typeof message === 'string' ? message : `HTTP status ${response.status}`
  const next = response.status === UNAUTHORIZED ? `; ${await refusedToken(input, token)}` : ''
  throw new GatewayRefusal(`${new URL(response.url).origin}: ${problem}${next}`, code)
}

async function refusedToken(input: Input, token: string): Promise<string> {
  const gateway = new URL(readGatewayUrl(input)).origin
  if (token !== '' && token === input.text('token')) {
    return nextAfter401(gateway, "the token in --token is not this gateway's: pass another one")
  }
  if (input.env(ADMIN_VARIABLE).trim() !== '') {
    const text = `the token in ${ADMIN_VARIABLE} is not this gateway's: set another one`
    return nextAfter401(gateway, text)
  }
  return `the login has no role for this, or was revoked; see kubedoh login --gateway ${gateway}`
}

/**
 * Sends a request with the operator's token, or a given one; resolves with any response.
 * @throws {CommandError} without a token or a response
 */
export async function sendToGateway(
  input: Input,
  path: string,
  init: { readonly method?: string; readonly body?: string } = {},
  token = '',
): Promise<Response> {
  const own =
    token === ''
      ? trimToken(input.env(ADMIN_VARIABLE), ADMIN_VARIABLE)
      : trimToken(token, '--token')
  const url = new URL(path, readGatewayUrl(input))
  if (own !== '') return send(url, init, own)
  return sendWithLogin(input, {
    url: url.href,
    kind: 'idToken',
    send: (stored) => (stored === '' ? noToken(url.origin) : send(url, init, stored)),
    isRefused: ({ status }) => status === UNAUTHORIZED,
  })
}

async function noToken(gateway: string): Promise<never> {
  const next = await nextAfter401(gateway, 'create a token for it with "kubedoh keys --admin"')
  throw new CommandError(`${ADMIN_VARIABLE} is not set; ${next}`)
}

async function send(url: URL, init: RequestInit, token: string): Promise<Response> {
  try {
    return await fetch(url, {
      ...init,
      headers: { authorization: `Bearer ${token}` },
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
  } catch (error) {
    throw new CommandError(`${url.origin}: ${connectReason(error)}`)
  }
}

/** Prints a response of the gateway: as it is with `--json`, else formatted. */
export function printResponse(
  input: Input,
  output: Output,
  [text, format]: readonly [text: string, format: (value: unknown) => string],
): void {
  output.stdout.write(input.isSet('json') ? text : format(JSON.parse(text)))
}

/** Formats rows as aligned columns, two spaces apart. */
export function formatColumns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0))) ?? []
  return rows
    .map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}

/** Characters that a token in an HTTP header may have: no spaces, no line breaks. */
const TOKEN = /^[!-~]+$/

/**
 * Returns a token without the white space that files and shells add. Errors never contain the
 * token.
 * @param from the flag or variable it came from
 * @throws {CommandError} when a header cannot carry it
 */
export function trimToken(text: string, from: string): string {
  const token = text.trim()
  if (token === '' || TOKEN.test(token)) return token
  throw new CommandError(`${from} contains a space or another character that tokens cannot have`)
}

/** Returns the identifier, also of a complete token: a secret does not belong into a URL. */
export function idOf(given = ''): string {
  return tokenId(given) ?? given
}

/** Fewest characters of a token that this process checks: attempts have no bound. */
const OWN_TOKEN_MIN = 16

/** As {@link trimToken}, for such a token. @throws {CommandError} for a short one, too */
export function trimOwnToken(text: string, from: string): string {
  const token = trimToken(text, from)
  if (token === '' || token.length >= OWN_TOKEN_MIN) return token
  throw new CommandError(`${from} has fewer than ${OWN_TOKEN_MIN} characters`)
}

/**
 * Reads `--gateway`, or another flag. Never sends a token unencrypted to another machine.
 * @throws {CommandError} for other text than a URL, and `http://` to another machine without
 *   KUBEDOH_INSECURE
 */
export function readGatewayUrl(input: Input, flag: FlagName = 'gateway'): string {
  const text = input.text(flag)
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isHttp = url?.protocol === 'http:'
  if (url !== undefined && `${url.username}${url.password}` !== '') {
    throw new CommandError(
      `--${flag} has a user or password; set the token in its variable instead`,
    )
  }
  if (url === undefined || (!isHttp && url.protocol !== 'https:')) {
    throw new CommandError(`--${flag} "${text}" is not a URL such as https://dns.example.org`)
  }
  if (isHttp && !input.isSet('insecure') && !LOOPBACK.has(url.hostname)) {
    throw new CommandError(
      `--${flag} ${text} would send the token unencrypted; use https:// or set KUBEDOH_INSECURE=1`,
    )
  }
  return text
}
