/**
 * JSON responses other than DNS responses.
 * @module
 */

/** Headers of every response: no guessed types, no referrers, no indexing, no embedding. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
  'cross-origin-resource-policy': 'same-origin',
}

/** Creates a JSON response that no cache keeps. */
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
