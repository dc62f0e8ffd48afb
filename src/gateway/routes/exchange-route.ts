/**
 * Token exchange (RFC 8693): a client token of the gateway for a token of an issuer, because DNS
 * clients carry theirs for days, and logins last minutes.
 * @module
 */
import { Hono } from 'hono/tiny'
import type { Admission } from '../access/admission.ts'
import type { GatewayConfig } from '../config/config.ts'
import { HttpError } from '../doh/http-error.ts'
import { jsonResponse } from '../doh/json-response.ts'
import { readBody } from '../doh/read-body.ts'
import { loginIssuers } from './login-places.ts'

const BODY_BYTES_MAX = 16 * 1024
const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
/** Types of subject tokens: JWTs, however they are called (RFC 8693 §3). */
const TYPES: ReadonlySet<string> = new Set([
  ACCESS_TOKEN,
  'urn:ietf:params:oauth:token-type:id_token',
  'urn:ietf:params:oauth:token-type:jwt',
])

/** What the route needs. */
export type ExchangeOptions = {
  readonly admission: Pick<Admission, 'exchange'>
  readonly config: Pick<GatewayConfig, 'issuers' | 'exchangeKeys'>
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/**
 * Creates the app with `/v1/token`, and `/v1/login`, which shows a program where people log
 * in. Errors of the first have the form of OAuth (RFC 6749 §5.2), which its clients expect.
 */
export function createExchangeRoute({ admission, config, now }: ExchangeOptions): Hono {
  const app = new Hono()
  const issuers = loginIssuers(config)
  app.get('/v1/login', () => {
    if (issuers.length > 0) return jsonResponse(200, { issuers })
    throw new HttpError(404, 'no_login', 'Nobody can log in here: no issuer has a client')
  })
  app.post('/v1/token', async (c) => {
    const text = new TextDecoder().decode(await readBody(c.req.raw, BODY_BYTES_MAX))
    const form = new URLSearchParams(text)
    if (form.get('grant_type') !== GRANT) {
      return refused('unsupported_grant_type', `grant_type is not ${GRANT}`)
    }
    const token = form.get('subject_token') ?? ''
    if (token === '') return refused('invalid_request', 'subject_token is missing')
    if (!TYPES.has(form.get('subject_token_type') ?? '')) {
      return refused('invalid_request', `subject_token_type is not one of ${[...TYPES].join(', ')}`)
    }
    const exchanged = await admission.exchange(c, token)
    if (exchanged === undefined) {
      return refused('invalid_grant', 'The subject token does not count here')
    }
    if (exchanged === 'too long') {
      return refused('invalid_request', 'The subject has more groups than fit into a token')
    }
    if (exchanged === 'by object') {
      const why = 'A ClientToken names the subject, and no rule fits it: use its own token'
      return refused('invalid_grant', why)
    }
    return jsonResponse(200, {
      access_token: exchanged.token,
      issued_token_type: ACCESS_TOKEN,
      token_type: 'Bearer',
      expires_in: Math.floor((exchanged.expiresMs - now()) / 1000),
    })
  })
  return app
}

function refused(error: string, description: string): Response {
  return jsonResponse(400, { error, error_description: description })
}
