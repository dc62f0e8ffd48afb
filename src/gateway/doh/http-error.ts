/**
 * HTTP errors; docs/http-api.md lists each status and code. DNS errors are responses with status
 * 200.
 * @module
 */
import { jsonResponse } from './json-response.ts'

/** An error that becomes an HTTP response. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly status: number
  /** Identifies the error for programs. */
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

/** Creates the response for an error: `{"error": {"code", "message"}}`, never cached. */
export function errorResponse({ status, code, message, headers }: HttpError): Response {
  return jsonResponse(status, { error: { code, message } }, headers)
}

/** Returns the 404 for an unknown path. */
export function notFound(): HttpError {
  return new HttpError(404, 'not_found', 'There is nothing here')
}
