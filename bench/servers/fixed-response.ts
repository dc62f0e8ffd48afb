/**
 * What the bare servers answer: the header fields of the gateway and a body of a hundred bytes,
 * whatever the request. They bound what the gateway can reach on their runtime.
 * @module
 */

/** The body; a response with one address has 70 to 100 bytes. */
export const BODY: Uint8Array<ArrayBuffer> = new Uint8Array(100)

/** The header fields, but for those of the runtime, such as `date`. */
export const FIELDS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
  'cross-origin-resource-policy': 'same-origin',
  'content-type': 'application/dns-message',
  'content-length': String(BODY.length),
  'cache-control': 'private, max-age=5, no-transform',
  vary: 'Accept',
  'kubedoh-snapshot-age': '0',
}

/** Answers a request of the Fetch API, once its body has arrived. */
export function respond(request: Request): Response | Promise<Response> {
  if (request.body === null) return fixedResponse()
  return request.arrayBuffer().then(fixedResponse)
}

function fixedResponse(): Response {
  return new Response(BODY, { headers: FIELDS })
}
