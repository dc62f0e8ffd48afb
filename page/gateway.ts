/**
 * Requests of the page to its own gateway. The token goes into a header, never into a URL, so that
 * no log of a proxy has it.
 * @module
 */
import { isRecord, recordOf } from '../src/dns/bytes/unknown.ts'
import { parseName } from '../src/dns/names/name.ts'
import { parseType } from '../src/dns/names/rr-type.ts'
import { writeQuery } from '../src/dns/wire/write-query.ts'
import type { Name, Zone } from './names.ts'

/** Why a request failed. */
export type Failure = {
  /** `away`: no response. `denied`: the token is not valid, or there is none. */
  readonly kind: 'away' | 'denied' | 'forbidden' | 'refused'
  readonly message: string
}

/** A failed request. */
export class GatewayFailure extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}

/** One page of names. */
export type NamesPage = {
  readonly names: readonly Name[]
  readonly next: string | null
  readonly isWhole: boolean
}

/** A token that the gateway gave, and when it ends, in milliseconds since 1970. */
export type GivenToken = { readonly token: string; readonly untilMs: number }

/** What the page sends with. */
export type Session = {
  readonly token: string
  readonly signal?: AbortSignal
}

const NOT_JSON: Failure = { kind: 'refused', message: 'The response is not what the page expects.' }
const NOT_A_NAME =
  'Not a domain name. A label has 1 to 63 bytes and a name at most 255; ' +
  'write other scripts in their xn-- form.'
const TIMEOUT_MS = 10_000
const UDP_BYTES = 1232

/** Sends a query. @throws {GatewayFailure} */
export async function sendQuery(message: Uint8Array, session: Session): Promise<Uint8Array> {
  const headers = { 'content-type': 'application/dns-message', accept: 'application/dns-message' }
  const body = new Uint8Array(message)
  const response = await send('/dns-query', session, { method: 'POST', headers, body })
  return new Uint8Array(await response.arrayBuffer())
}

/** Writes a query; a text that explains the mistake if the name or the type is not valid. */
export function readQuery(name: string, type: string): Uint8Array | string {
  const wire = parseName(name)
  if (wire === undefined) {
    return NOT_A_NAME
  }
  const number = parseType(type)
  return number === undefined
    ? 'Not a type of records.'
    : writeQuery({ name: wire, type: number, udpBytes: UDP_BYTES })
}

/** Lists the zones that the token sees. @throws {GatewayFailure} */
export async function readZones(session: Session): Promise<readonly Zone[]> {
  const body = await readJson('/v1/names', session)
  if (isZones(body)) return body.zones
  throw new GatewayFailure(NOT_JSON)
}

/** Lists the names below one. @throws {GatewayFailure} */
export async function readNames(
  parameters: Readonly<Record<string, string>>,
  session: Session,
): Promise<NamesPage> {
  const body = await readJson(`/v1/names?${new URLSearchParams(parameters)}`, session)
  if (isPage(body)) return body
  throw new GatewayFailure(NOT_JSON)
}

/** Explains an answer. @throws {GatewayFailure} */
export function explain(
  name: string,
  type: string,
  session: Session,
): Promise<Readonly<Record<string, unknown>>> {
  return readJson(`/v1/explain?${new URLSearchParams({ name, type })}`, session)
}

/** Reads a file of the onboarding kit. @throws {GatewayFailure} */
export async function readKitFile(file: string, session: Session): Promise<Blob> {
  return (await send(`/kit/${file}`, session)).blob()
}

/**
 * Gives an issuer's ID token for a token of the gateway (RFC 8693); `undefined` for one that does
 * not count. @throws {GatewayFailure}
 */
export async function exchangeIdToken(idToken: string): Promise<GivenToken | undefined> {
  const body = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
    subject_token: idToken,
  })
  const response = await request('/v1/token', { token: '' }, { method: 'POST', body })
  if (!response.ok && response.status !== 400) throw new GatewayFailure(await failureOf(response))
  const found: unknown = await response.json().catch(() => undefined)
  const { access_token: token, expires_in: seconds, error } = recordOf(found)
  if (typeof token === 'string' && typeof seconds === 'number') {
    return { token, untilMs: Date.now() + 1000 * seconds }
  }
  if (error === 'invalid_grant') return undefined
  throw new GatewayFailure(NOT_JSON)
}

// The gateway that sent this page also writes these bodies: a proxy's error page has no such field.
function isZones(body: object): body is { readonly zones: readonly Zone[] } {
  return 'zones' in body && Array.isArray(body.zones)
}

function isPage(body: object): body is NamesPage {
  return 'names' in body && Array.isArray(body.names)
}

async function readJson(
  path: string,
  session: Session,
): Promise<Readonly<Record<string, unknown>>> {
  const body: unknown = await (await send(path, session)).json().catch(() => undefined)
  if (isRecord(body)) return body
  throw new GatewayFailure(NOT_JSON)
}

async function send(path: string, session: Session, init: RequestInit = {}): Promise<Response> {
  const response = await request(path, session, init)
  if (response.ok) return response
  throw new GatewayFailure(await failureOf(response))
}

async function request(path: string, session: Session, init: RequestInit): Promise<Response> {
  const { token, signal } = session
  const headers = { ...init.headers, ...(token !== '' && { authorization: `Bearer ${token}` }) }
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  return fetch(path, {
    ...init,
    headers,
    // With credentials of its own, a browser would ask for a password after a 401.
    credentials: token === '' ? 'same-origin' : 'omit',
    cache: 'no-store',
    referrerPolicy: 'no-referrer',
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new GatewayFailure({ kind: 'away', message: 'The gateway does not respond.' })
  })
}

async function failureOf(response: Response): Promise<Failure> {
  const body: unknown = await response.json().catch(() => undefined)
  const error = isRecord(body) && isRecord(body.error) ? body.error : {}
  const message = typeof error.message === 'string' ? `${error.message}.` : 'The request failed.'
  const { status } = response
  if (status === 401) return { kind: 'denied', message }
  if (status === 403) return { kind: 'forbidden', message }
  const seconds = response.headers.get('retry-after')
  if (status !== 429) return { kind: status > 501 ? 'away' : 'refused', message }
  return { kind: 'refused', message: `Too many requests. Wait ${seconds ?? 'some'} seconds.` }
}
