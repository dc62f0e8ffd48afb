/**
 * Responses for programs that are not DNS answers.
 * @module
 */
import { SECURITY_HEADERS } from './http-error.ts'

/** Makes a response in JSON that no cache keeps. */
export function jsonResponse(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(`${JSON.stringify(body)}\n`, {
    status,
    headers: {
      ...SECURITY_HEADERS,
      'content-type': 'application/json',
      'cache-control': 'no-store',
      ...headers,
    },
  })
}
