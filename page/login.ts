/**
 * Signing in at an issuer: an authorization code with PKCE (RFC 6749 §4.1, RFC 7636), without a
 * secret, as RFC 9700 wants it. The page gives the ID token to its gateway in exchange for a token
 * of the gateway, and keeps neither it nor any other token of the issuer.
 *
 * What a login needs to end lies in `sessionStorage`: the page has to find it after its way through
 * the issuer's pages, and no other tab, and no request, has it.
 * @module
 */
import { decodeBase64url, encodeBase64url } from '../src/dns/bytes/base64url.ts'
import { isRecord, isTexts, listOf, parseJson, recordOf } from '../src/dns/bytes/unknown.ts'
import { exchangeIdToken, type GivenToken } from './gateway.ts'

/** Where somebody can sign in, as the gateway wrote it into the page. */
export type LoginPlace = {
  readonly issuer: string
  readonly clientId: string
  readonly scopes: string
  /** Absent while the gateway cannot read what the issuer says of itself. */
  readonly endpoints?: {
    readonly authorize: string
    readonly token: string
    /** Whether each redirect back has `iss` (RFC 9207). */
    readonly namesItself: boolean
  }
}

/** Who signed in, for this page only: the gateway decides by what the issuer signed. */
export type Person = {
  readonly name: string
  readonly issuer: string
  /** When the token ends, in milliseconds since 1970. */
  readonly untilMs: number
}

/** A login that has ended well. */
export type Login = { readonly token: string; readonly person: Person }

/** What a login uses of its tab. */
export type LoginTab = {
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  /** Origin of the page. */
  readonly origin: string
}

/** A login that did not end well; the message is a sentence. */
export class LoginFailure extends Error {
  /** Whether `kubedoh login` may succeed where the page cannot. */
  readonly isOfPage: boolean

  constructor(message: string, isOfPage = false) {
    super(message)
    this.isOfPage = isOfPage
  }
}

type Begun = {
  readonly issuer: string
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** A token endpoint, the issuer's label, and the origin of the page. */
type TokenPlace = { readonly url: string; readonly label: string; readonly origin: string }

const KEY = 'kubedoh-login'
/** Of a state, a nonce and a verifier: 43 characters, the fewest of a verifier (RFC 7636 §4.1). */
const RANDOM_BYTES = 32
const TIMEOUT_MS = 10_000
/** Largest response of a token endpoint. */
const RESPONSE_BYTES_MAX = 256 * 1024
/** Longest part of an issuer's own words, and longest name of a person. */
const WORDS_MAX = 200
/** Claims that name a person, the best first (OpenID Connect Core 1.0 §5.1). */
const NAMES = ['name', 'preferred_username', 'email', 'sub']
const AGAIN = 'Sign in again.'

/** Reads the places that the gateway wrote into the page. */
export function readPlaces(text: string | undefined): readonly LoginPlace[] {
  const isPlace = (one: unknown): one is LoginPlace =>
    isRecord(one) && isTexts([one.issuer, one.clientId, one.scopes])
  return listOf(parseJson(text ?? '')).filter(isPlace)
}

/** Returns what people call an issuer: its host, and its path where others share the host. */
export function labelOf(issuer: string, places: readonly LoginPlace[]): string {
  const { host, pathname } = new URL(issuer)
  const isShared = places.some((one) => one.issuer !== issuer && hostOf(one.issuer) === host)
  return isShared ? `${host}${pathname.replace(/\/$/, '')}` : host
}

/**
 * Begins a login. Returns the URL of the issuer's page.
 * @throws {LoginFailure} when the browser keeps nothing
 */
export async function beginLogin(
  { issuer, clientId, scopes }: LoginPlace,
  authorize: string,
  { storage, origin }: LoginTab,
): Promise<string> {
  const [state, nonce, verifier] = [randomText(), randomText(), randomText()]
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  const url = new URL(authorize)
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri(origin, issuer),
    // The page renews nothing, so it wants no token for that.
    scope: scopes
      .split(' ')
      .filter((scope) => scope !== 'offline_access')
      .join(' '),
    state,
    nonce,
    code_challenge: encodeBase64url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  const begun: Begun = { issuer, state, nonce, verifier }
  try {
    storage.setItem(KEY, JSON.stringify(begun))
  } catch {
    throw new LoginFailure('This browser lets the page keep nothing, which a login needs.', true)
  }
  return url.href
}

/** Returns the parameters of a redirect from an issuer, and removes them from the address. */
export function takeRedirect(
  search: string,
  replacePath: (path: string) => void,
): URLSearchParams | undefined {
  const parameters = new URLSearchParams(search)
  const isRedirect = parameters.has('state') && (parameters.has('code') || parameters.has('error'))
  if (!isRedirect) return undefined
  replacePath('/')
  return parameters
}

/** Ends a login, at most once. @throws {LoginFailure} */
export async function finishLogin(
  redirect: URLSearchParams,
  places: readonly LoginPlace[],
  tab: LoginTab,
): Promise<Login> {
  const begun = takeBegun(tab.storage)
  if (begun === undefined || only(redirect, 'state') !== begun.state) {
    throw new LoginFailure(`This tab began no such login, or has ended it. ${AGAIN}`)
  }
  const { issuer } = begun
  const place = places.find((one) => one.issuer === issuer)
  const label = labelOf(issuer, places)
  const endpoints = place?.endpoints
  if (place === undefined || endpoints === undefined) throw away(label)
  const isNamed = redirect.has('iss') || endpoints.namesItself
  const isItself = !isNamed || only(redirect, 'iss') === issuer
  if (only(redirect, 'from') !== hostOf(issuer) || !isItself) {
    throw new LoginFailure(`Another issuer than ${label} answered, so nothing was sent. ${AGAIN}`)
  }
  const code = only(redirect, 'code')
  if (code === undefined) throw refusal(label, Object.fromEntries(redirect))
  const form = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri(tab.origin, issuer),
    client_id: place.clientId,
    code_verifier: begun.verifier,
  }
  const idToken = await redeem(form, { url: endpoints.token, label, origin: tab.origin })
  const name = checkIdToken(idToken, { ...begun, clientId: place.clientId, label })
  const given = await exchange(idToken, `${name} at ${label}`)
  return { token: given.token, person: { name, issuer, untilMs: given.untilMs } }
}

/**
 * Returns where an issuer sends people back to. Each host has a URL of its own: a code that another
 * issuer than that of the login has sent is then recognized, and goes to neither (RFC 9700 §4.4).
 */
function redirectUri(origin: string, issuer: string): string {
  return `${origin}/?${new URLSearchParams({ from: hostOf(issuer) })}`
}

function hostOf(issuer: string): string {
  return new URL(issuer).host
}

function randomText(): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)))
}

/** Returns a parameter that may occur only once (RFC 6749 §3.1). */
function only(parameters: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = parameters.getAll(name)
  return more.length === 0 ? value : undefined
}

function takeBegun(storage: LoginTab['storage']): Begun | undefined {
  const { issuer, state, nonce, verifier } = recordOf(parseJson(readItem(storage)))
  return isFilled(issuer) && isFilled(state) && isFilled(nonce) && isFilled(verifier)
    ? { issuer, state, nonce, verifier }
    : undefined
}

function readItem(storage: LoginTab['storage']): string {
  try {
    const text = storage.getItem(KEY) ?? ''
    storage.removeItem(KEY)
    return text
  } catch {
    return ''
  }
}

/** Gives a code for an ID token. */
async function redeem(form: Readonly<Record<string, string>>, at: TokenPlace): Promise<string> {
  const { url, label } = at
  const response = await fetch(url, {
    ...REQUEST,
    method: 'POST',
    body: new URLSearchParams(form),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(() => undefined)
  if (response === undefined) throw (await isThere(url)) ? closed(at) : away(label)
  const found = recordOf(parseJson(await readText(response)))
  if (!response.ok) throw refusal(label, { error: `HTTP status ${response.status}`, ...found })
  if (typeof found.id_token === 'string') return found.id_token
  throw new LoginFailure(`${label} gave no ID token.`)
}

const REQUEST: RequestInit = {
  credentials: 'omit',
  cache: 'no-store',
  referrerPolicy: 'no-referrer',
}

/** Returns whether a server answers, though the page may not read what. */
async function isThere(url: string): Promise<boolean> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  return fetch(url, { ...REQUEST, mode: 'no-cors', signal }).then(
    () => true,
    () => false,
  )
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  let text = ''
  for (;;) {
    const read = await reader?.read().catch(() => undefined)
    if (read?.value === undefined) return text
    text += decoder.decode(read.value, { stream: true })
    if (text.length <= RESPONSE_BYTES_MAX) continue
    await reader?.cancel()
    return ''
  }
}

/**
 * Checks that an ID token is of this login (OpenID Connect Core 1.0 §3.1.3.7), and returns whom it
 * names. The gateway checks its signature and its times.
 */
function checkIdToken(
  token: string,
  { issuer, clientId, nonce, label }: Begun & { readonly clientId: string; readonly label: string },
): string {
  const bytes = decodeBase64url(token.split('.')[1] ?? '')
  const claims = recordOf(parseJson(new TextDecoder().decode(bytes)))
  const audiences = isTexts(claims.aud) ? claims.aud : [claims.aud]
  const isOurs = audiences.includes(clientId) && (claims.azp ?? clientId) === clientId
  if (claims.iss !== issuer || claims.nonce !== nonce || !isOurs) {
    throw new LoginFailure(`The ID token of ${label} is not of this login. ${AGAIN}`)
  }
  const name = NAMES.map((claim) => claims[claim]).find(isFilled) ?? 'somebody'
  return name.slice(0, WORDS_MAX)
}

async function exchange(idToken: string, who: string): Promise<GivenToken> {
  const given = await exchangeIdToken(idToken)
  if (given !== undefined) return given
  throw new LoginFailure(
    `No rule of this gateway allows ${who} anything, or an operator revoked the login. ` +
      'Ask the operator of this gateway.',
  )
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function away(label: string): LoginFailure {
  return new LoginFailure(`${label} does not respond. ${AGAIN}`)
}

function closed({ label, origin }: TokenPlace): LoginFailure {
  return new LoginFailure(
    `${label} lets no page of ${origin} read its responses (CORS). An operator of ` +
      `${label} can add this origin to its client.`,
    true,
  )
}

function refusal(label: string, found: Readonly<Record<string, unknown>>): LoginFailure {
  const words = [found.error, found.error_description].filter(isFilled).join(': ')
  const reason = words || 'it gave no code'
  return new LoginFailure(`${label} refused the login: ${reason.slice(0, WORDS_MAX)}.`, true)
}
