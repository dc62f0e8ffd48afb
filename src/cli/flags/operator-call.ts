/**
 * Requests of operators to a gateway.
 * @module
 */
import { causeText, parseJson, recordOf } from '../../dns/bytes/unknown.ts'
import { tokenId } from '../../gateway/access/token.ts'
import { LOOPBACK } from '../../server/http/doh-listener.ts'
import { CommandError, type Output } from '../../server/node/output.ts'
import { findStoredToken, type StoredKind } from '../credentials/stored-token.ts'
import type { FlagName, Input } from './flags.ts'

const TIMEOUT_MS = 10_000
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

/**
 * Finds a token of the login at a gateway; '' without one. The flags and variables of tokens win.
 * @throws {CommandError} when the login has ended, with the next step
 */
export async function storedTokenOf(input: Input, url: string, kind: StoredKind): Promise<string> {
  const env = (name: string): string => input.env(name)
  return (await findStoredToken({ gateway: new URL(url).origin, kind, env })) ?? ''
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
  const next = response.status === 401 ? `; ${refusedToken(input, token)}` : ''
  throw new GatewayRefusal(`${new URL(response.url).origin}: ${problem}${next}`, code)
}

function refusedToken(input: Input, token: string): string {
  if (token !== '' && token === input.text('token')) {
    return "the token in --token is not this gateway's"
  }
  if (input.env(ADMIN_VARIABLE).trim() !== '') {
    return `the token in ${ADMIN_VARIABLE} is not this gateway's`
  }
  return 'the login has no role for this, or was revoked'
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
  const admin = token === '' ? await operatorToken(input) : trimToken(token, '--token')
  if (admin === '') {
    throw new CommandError(
      `${ADMIN_VARIABLE} is not set; create a token for it with "kubedoh keys --admin"`,
    )
  }
  const url = new URL(path, readGatewayUrl(input))
  try {
    return await fetch(url, {
      ...init,
      headers: { authorization: `Bearer ${admin}` },
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
  } catch (error) {
    throw new CommandError(`${url.origin}: ${causeText(error)}`)
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
