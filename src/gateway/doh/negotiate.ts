/**
 * Chooses the form of a response by the `Accept` header (RFC 9110 §12.5.1).
 * @module
 */

/** Forms of a response. */
export type Form = 'wire' | 'json'

/** Media type of DNS messages (RFC 8484 §6). */
export const WIRE_TYPE = 'application/dns-message'
/** Media type of the JSON API, which has no RFC. */
export const JSON_TYPE = 'application/dns-json'

/** curl's buffer has 3,000 bytes, one of them for a terminator (lib/doh.h, DYN_DOH_RESPONSE). */
const CURL_BYTES_MAX = 2999

const JSON_TYPES: ReadonlySet<string> = new Set([
  JSON_TYPE,
  'application/json',
  'application/x-javascript',
])

/**
 * Returns the form for an `Accept` header. Wildcards and a missing header mean the wire form; JSON
 * must be named and preferred. `undefined` when the client accepts neither.
 */
export function negotiateForm(accept: string | undefined): Form | undefined {
  if (accept === undefined || accept.trim() === '') return 'wire'
  let named: number | undefined
  let application: number | undefined
  let any = 0
  let json = 0
  for (const item of accept.split(',')) {
    const [type = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase())
    const quality = readQuality(parameters)
    if (type === WIRE_TYPE) named = quality
    else if (JSON_TYPES.has(type)) json = Math.max(json, quality)
    else if (type === 'application/*') application = quality
    else if (type === '*/*') any = quality
  }
  // The most specific range decides, not the one with the highest quality.
  const wire = named ?? application ?? any
  if (wire === 0 && json === 0) return undefined
  return json > wire || (json === wire && named === undefined) ? 'json' : 'wire'
}

/**
 * Returns the largest response that a client takes: `curl --doh-url`, which sends POST with any
 * `Accept`, fails on responses over 2,999 bytes. `undefined` for other clients.
 */
export function replyBytesMax(method: string, accept: string | undefined): number | undefined {
  return method === 'POST' && accept === '*/*' ? CURL_BYTES_MAX : undefined
}

/** Returns the media type of a header without its parameters, in lower case. */
export function mediaType(header: string | undefined): string {
  return (header ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}

function readQuality(parameters: readonly string[]): number {
  const text = parameters.find((part) => part.startsWith('q='))?.slice(2)
  if (text === undefined) return 1
  const quality = Number(text)
  return quality >= 0 && quality <= 1 ? quality : 0
}
