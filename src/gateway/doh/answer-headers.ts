/**
 * HTTP headers of DNS responses.
 * @module
 */
import { readUint16, readUint32 } from '../../dns/bytes/bytes.ts'
import { HEADER_BYTES } from '../../dns/names/limits.ts'
import { RCODE } from '../../dns/names/rcode.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import { FLAG } from '../../dns/wire/query.ts'
import { skipName } from './doh-client.ts'
import { SECURITY_HEADERS } from './json-response.ts'

const NO_MORE: Readonly<Record<string, string>> = {}

/** Created headers by `cache-control`, then by size. */
type Made = { count: number; readonly byControl: Map<string, Map<number, AnswerHeaders>> }
type AnswerHeaders = Readonly<Record<string, string>>

/** Created headers, by the identity of the additional ones. */
const MADE = new WeakMap<object, Made>()
const MADE_MAX = 1000

/** Values of `cache-control`, by seconds. */
const PRIVATE = new Map<number, string>()
const SHARED = new Map<number, string>()
const CONTROLS_MAX = 100

/**
 * Returns the `cache-control` of a response (RFC 8484 §5.1). `no-transform` forbids proxies to
 * compress it (RFC 9111 §5.2.2.6), which would undo its padding (RFC 7830 §6).
 */
export function cacheControl(
  reply: Uint8Array,
  { isPrivate, isPost }: { readonly isPrivate: boolean; readonly isPost: boolean },
): string {
  const seconds = isPost ? 0 : freshSeconds(reply)
  if (seconds === 0) return 'no-store, no-transform'
  const controls = isPrivate ? PRIVATE : SHARED
  const known = controls.get(seconds)
  if (known !== undefined) return known
  if (controls.size >= CONTROLS_MAX) controls.clear()
  const control = `${isPrivate ? 'private, ' : ''}max-age=${seconds}, no-transform`
  controls.set(seconds, control)
  return control
}

/**
 * Returns the headers of a response; `more` are the additional ones. Returns the same object for
 * the same `more` and values, because creating it takes longer than answering.
 */
export function answerHeaders(
  type: string,
  size: number,
  control: string,
  more: Readonly<Record<string, string>> = NO_MORE,
): AnswerHeaders {
  const made = MADE.get(more) ?? { count: 0, byControl: new Map() }
  const known = made.byControl.get(control)?.get(size)
  if (known?.['content-type'] === type) return known
  const headers = {
    ...SECURITY_HEADERS,
    'content-type': type,
    'content-length': String(size),
    'cache-control': control,
    vary: 'Accept',
    ...more,
  }
  keep(made, { control, size }, headers)
  MADE.set(more, made)
  return headers
}

function keep(
  made: Made,
  { control, size }: { readonly control: string; readonly size: number },
  headers: AnswerHeaders,
): void {
  if (made.count >= MADE_MAX) {
    made.byControl.clear()
    made.count = 0
  }
  const bySize = made.byControl.get(control) ?? new Map<number, AnswerHeaders>()
  made.byControl.set(control, bySize.set(size, headers))
  made.count++
}

/**
 * Returns the seconds that a response of ours stays fresh: the smallest of the TTLs in its answer
 * section and of the negative TTL of an SOA record. 0 for errors and truncated responses, and for
 * those without either.
 */
export function freshSeconds(reply: Uint8Array): number {
  const flags = readUint16(reply, 2)
  const rcode = flags & 15
  const isFinal = rcode === RCODE.NOERROR || rcode === RCODE.NXDOMAIN
  if (!isFinal || (flags & FLAG.TC) !== 0) return 0
  let at = HEADER_BYTES
  if (readUint16(reply, 4) === 1) at = skipName(reply, at) + 4
  const answers = readUint16(reply, 6)
  const total = answers + readUint16(reply, 8)
  let seconds = Number.POSITIVE_INFINITY
  for (let i = 0; i < total; i++) {
    at = skipName(reply, at)
    const isSoa = readUint16(reply, at) === TYPE.SOA
    const ttlSeconds = readUint32(reply, at + 4)
    const end = at + 10 + readUint16(reply, at + 8)
    if (i < answers) seconds = Math.min(seconds, ttlSeconds)
    else if (isSoa) seconds = Math.min(seconds, ttlSeconds, readUint32(reply, end - 4))
    at = end
  }
  return Number.isFinite(seconds) ? seconds : 0
}
