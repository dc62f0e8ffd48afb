/**
 * Errors of HTTP, as opposed to those of DNS, which travel in replies with status 200.
 * @module
 */

/** A request that gets a status other than 200. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly status: number
  /** A word for programs. */
  readonly code: string
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.headers = headers
  }
}

/** Headers of every response: nothing is to be guessed, framed, indexed or passed on. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
  'cross-origin-resource-policy': 'same-origin',
}

/** Makes the response to an error: `{"error": {"code", "message"}}`, never cached. */
export function errorResponse({ status, code, message, headers }: HttpError): Response {
  return new Response(`${JSON.stringify({ error: { code, message } })}\n`, {
    status,
    headers: {
      ...SECURITY_HEADERS,
      'content-type': 'application/json',
      'cache-control': 'no-store',
      ...headers,
    },
  })
}
