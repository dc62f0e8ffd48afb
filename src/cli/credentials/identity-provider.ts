/**
 * Logins at an issuer, by openid-client: an authorization code with PKCE, a device code, renewal
 * and revocation.
 * @module
 */
import * as oauth from 'openid-client'
import { causeText } from '../../dns/bytes/unknown.ts'
import { readBody } from '../../gateway/doh/read-body.ts'
import { CommandError } from '../../server/node/output.ts'

const TIMEOUT_SECONDS = 10
/** How long another device may take, if the issuer says no less. */
const DEVICE_MS_MAX = 30 * 60_000
/** Largest response of an issuer. */
const RESPONSE_BYTES_MAX = 256 * 1024
/** Longest part of an issuer's own words in a message. */
const REASON_MAX = 200

type Tokens = oauth.TokenEndpointResponse & oauth.TokenEndpointResponseHelpers

/** Where a person logs in: an issuer, the client there, and the scopes to ask for. */
export type LoginPlace = {
  readonly issuer: string
  readonly clientId: string
  readonly scopes: string
}

/** Who a person is, as an issuer says. */
export type Identity = {
  readonly idToken: string
  /** '' when the issuer gave none. */
  readonly refreshToken: string
  readonly subject: string
}

/** A login that waits for the browser. */
export type BrowserLogin = {
  /** The page of the issuer. */
  readonly url: URL
  /** What the redirect repeats, which nobody else knows. */
  readonly state: string
  /** Ends it with the URL of the redirect. @throws {CommandError} when the issuer refuses */
  readonly finish: (redirect: URL) => Promise<Identity>
}

/** A login that waits for another device. */
export type DeviceLogin = {
  readonly page: string
  /** The page with the code in it; '' when the issuer has none. */
  readonly pageWithCode: string
  readonly code: string
  /**
   * Asks the issuer until the person has decided. @throws {CommandError} when the issuer
   * refuses
   */
  readonly finish: () => Promise<Identity>
}

/** An issuer, ready for logins. */
export class IdentityProvider {
  private readonly place: LoginPlace
  private readonly config: oauth.Configuration

  /** Reads what the issuer says of itself. @throws {CommandError} when it cannot be read */
  static async open(place: LoginPlace): Promise<IdentityProvider> {
    const { issuer, clientId } = place
    const url = new URL(issuer)
    const config = await attempt(issuer, () =>
      oauth.discovery(url, clientId, undefined, oauth.None(), {
        timeout: TIMEOUT_SECONDS,
        [oauth.customFetch]: boundedFetch,
        // Only an issuer of this machine has such a URL.
        execute: url.protocol === 'http:' ? [oauth.allowInsecureRequests] : [],
      }),
    )
    return new IdentityProvider(place, config)
  }

  private constructor(place: LoginPlace, config: oauth.Configuration) {
    this.place = place
    this.config = config
  }

  /** Begins a login whose end the browser brings to a URL of this machine (RFC 8252, 7636). */
  async beginInBrowser(redirectUri: string): Promise<BrowserLogin> {
    const { config } = this
    const pkceCodeVerifier = oauth.randomPKCECodeVerifier()
    const [state, nonce] = [oauth.randomState(), oauth.randomNonce()]
    const url = await attempt(this.place.issuer, async () =>
      oauth.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: this.place.scopes,
        code_challenge: await oauth.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
        state,
        nonce,
        // Issuers give refresh tokens to programs for a consent of this login only.
        ...(this.place.scopes.split(' ').includes('offline_access') && { prompt: 'consent' }),
      }),
    )
    const checks = { pkceCodeVerifier, expectedState: state, expectedNonce: nonce }
    return {
      url,
      state,
      finish: (redirect) =>
        this.identify(() =>
          oauth.authorizationCodeGrant(config, redirect, { ...checks, idTokenExpected: true }),
        ),
    }
  }

  /** Begins a login on another device (RFC 8628). @throws {CommandError} where there is none */
  async beginOnDevice(): Promise<DeviceLogin> {
    const { config } = this
    const { issuer, scopes: scope } = this.place
    if (config.serverMetadata().device_authorization_endpoint === undefined) {
      throw new CommandError(`${issuer} has no logins on other devices; leave out --device`)
    }
    const begun = await attempt(issuer, () => oauth.initiateDeviceAuthorization(config, { scope }))
    return {
      page: begun.verification_uri,
      pageWithCode: begun.verification_uri_complete ?? '',
      code: begun.user_code,
      finish: () => {
        const signal = AbortSignal.timeout(DEVICE_MS_MAX)
        return this.identify(() =>
          oauth.pollDeviceAuthorizationGrant(config, begun, undefined, { signal }),
        )
      },
    }
  }

  /** Renews an identity. @throws {CommandError} when the issuer refuses the token */
  async renew(refreshToken: string): Promise<Identity> {
    const renewed = await this.identify(() => oauth.refreshTokenGrant(this.config, refreshToken))
    return renewed.refreshToken === '' ? { ...renewed, refreshToken } : renewed
  }

  /**
   * Revokes a refresh token (RFC 7009). Returns false where the issuer has no such endpoint.
   * @throws {CommandError} when it refuses
   */
  async revoke(refreshToken: string): Promise<boolean> {
    if (this.config.serverMetadata().revocation_endpoint === undefined) return false
    const hint = { token_type_hint: 'refresh_token' }
    await attempt(this.place.issuer, () => oauth.tokenRevocation(this.config, refreshToken, hint))
    return true
  }

  private async identify(grant: () => Promise<Tokens>): Promise<Identity> {
    const tokens = await attempt(this.place.issuer, grant)
    const { id_token: idToken, refresh_token: refreshToken = '' } = tokens
    const subject = tokens.claims()?.sub
    if (idToken !== undefined && subject !== undefined) return { idToken, refreshToken, subject }
    throw new CommandError(`${this.place.issuer} gave no ID token; its client needs "openid"`)
  }
}

async function attempt<T>(issuer: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw new CommandError(`${issuer}: ${reasonOf(error)}`, { cause: error })
  }
}

function reasonOf(error: unknown): string {
  const isRefusal =
    error instanceof oauth.ResponseBodyError || error instanceof oauth.AuthorizationResponseError
  if (!isRefusal) return causeText(error)
  const text = [error.error, error.error_description ?? ''].filter((part) => part !== '').join(': ')
  return text.replace(/[^ -~]+/g, ' ').slice(0, REASON_MAX)
}

/** As `fetch`, with a bound on responses. */
const boundedFetch: oauth.CustomFetch = async (url, { method, headers, body, signal }) => {
  const init: RequestInit = { method, headers, redirect: 'manual', ...(signal && { signal }) }
  const response = await fetch(url, { ...init, ...(body != null && { body }) })
  const bytes = await readBody(response, RESPONSE_BYTES_MAX)
  const { status, headers: received } = response
  const isEmpty = status === 204 || status === 304
  return new Response(isEmpty ? null : new Uint8Array(bytes), { status, headers: received })
}
