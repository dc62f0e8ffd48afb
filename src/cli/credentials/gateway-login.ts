/**
 * What a gateway says of logins, and the token that it gives for one.
 * @module
 */
import { causeText, isRecord, listOf, parseJson, recordOf } from '../../dns/bytes/unknown.ts'
import { readBody } from '../../gateway/doh/read-body.ts'
import { LOOPBACK } from '../../server/http/doh-listener.ts'
import { CommandError } from '../../server/node/output.ts'
import type { LoginPlace } from './identity-provider.ts'

const TIMEOUT_MS = 10_000
const RESPONSE_BYTES_MAX = 64 * 1024
const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token'

/** A client token, and when it ends, in ISO 8601. */
export type GivenToken = { readonly token: string; readonly expires: string }

/**
 * Reads where people log in for a gateway.
 * @throws {CommandError} when nobody can, and when the gateway cannot be reached
 */
export async function readLoginPlaces(gateway: string): Promise<readonly LoginPlace[]> {
  const { ok, status, value } = await send(gateway, '/v1/login', {})
  if (status === 404) {
    throw new CommandError(
      `${gateway} has no logins: no entry of its ISSUERS has a client, or it has no EXCHANGE_KEY`,
    )
  }
  if (!ok) throw new CommandError(`${gateway}: HTTP status ${status}; is it a kubedoh gateway?`)
  const places = listOf(value.issuers)
  if (places.length > 0 && places.every(isPlace)) return places
  throw new CommandError(`${gateway} sent invalid issuers; is it a kubedoh gateway?`)
}

/**
 * Returns what a client does after 401: also, to log in, where the gateway has logins.
 * @param otherwise what it does at every gateway
 */
export async function nextAfter401(gateway: string, otherwise: string): Promise<string> {
  const places = await readLoginPlaces(gateway).catch(() => [])
  return places.length > 0 ? `${otherwise}, or run kubedoh login --gateway ${gateway}` : otherwise
}

/**
 * Gives an issuer's ID token for a client token (RFC 8693).
 * @throws {CommandError} when the gateway refuses it, and when it cannot be reached
 */
export async function exchangeIdToken(gateway: string, idToken: string): Promise<GivenToken> {
  const form = {
    grant_type: GRANT,
    subject_token_type: ID_TOKEN,
    subject_token: idToken,
  }
  const body = new URLSearchParams(form)
  const { ok, status, value } = await send(gateway, '/v1/token', { method: 'POST', body })
  const { access_token: token, expires_in: seconds, error } = value
  if (error === 'invalid_grant') {
    throw new CommandError(
      `${gateway} gives this person no token: no rule of its ISSUERS fits, or an operator ` +
        'revoked the login',
    )
  }
  if (!ok || typeof token !== 'string' || typeof seconds !== 'number') {
    throw new CommandError(`${gateway} gives no token: HTTP status ${status}`)
  }
  return { token, expires: new Date(Date.now() + 1000 * seconds).toISOString() }
}

type Reply = {
  readonly ok: boolean
  readonly status: number
  readonly value: Readonly<Record<string, unknown>>
}

async function send(gateway: string, path: string, init: RequestInit): Promise<Reply> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  try {
    const response = await fetch(new URL(path, gateway), { ...init, redirect: 'manual', signal })
    const text = new TextDecoder().decode(await readBody(response, RESPONSE_BYTES_MAX))
    return { ok: response.ok, status: response.status, value: recordOf(parseJson(text)) }
  } catch (error) {
    throw new CommandError(`${gateway}: ${causeText(error)}`)
  }
}

function isPlace(value: unknown): value is LoginPlace {
  if (!isRecord(value)) return false
  const { issuer, clientId, scopes } = value
  const url = typeof issuer === 'string' && URL.canParse(issuer) ? new URL(issuer) : undefined
  const isSafe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.has(url.hostname))
  return isSafe && typeof clientId === 'string' && typeof scopes === 'string'
}
