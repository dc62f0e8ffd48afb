/**
 * Errors of HTTP, as opposed to those of DNS, which travel in replies with status 200.
 * @module
 */
import { jsonResponse } from './json-response.ts'

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

/** Makes the response to an error: `{"error": {"code", "message"}}`, never cached. */
export function errorResponse({ status, code, message, headers }: HttpError): Response {
  return jsonResponse(status, { error: { code, message } }, headers)
}
