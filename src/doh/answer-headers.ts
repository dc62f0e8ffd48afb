/**
 * Headers of an answer over HTTP.
 * @module
 */
import { freshSeconds } from './freshness.ts'
import { SECURITY_HEADERS } from './json-response.ts'

const NO_MORE: Readonly<Record<string, string>> = {}
/** What was made, by what came on top of it. */
const MADE = new WeakMap<object, Map<string, Readonly<Record<string, string>>>>()
const MADE_MAX = 1000

/**
 * How long, and by whom, an answer may be kept (RFC 8484 §5.1). Who compresses it on its way would
 * undo its padding (RFC 7830 §6), and may not (RFC 9111 §5.2.2.6).
 */
export function cacheControl(
  reply: Uint8Array,
  { isPrivate, isPost }: { readonly isPrivate: boolean; readonly isPost: boolean },
): string {
  const seconds = isPost ? 0 : freshSeconds(reply)
  if (seconds === 0) return 'no-store, no-transform'
  return `${isPrivate ? 'private, ' : ''}max-age=${seconds}, no-transform`
}

/**
 * Makes the headers of an answer; `more` are those that not every answer has. The same `more` with
 * the same values beside it gives the same object: to make it takes longer than to find the answer.
 */
export function answerHeaders(
  type: string,
  size: number,
  control: string,
  more: Readonly<Record<string, string>> = NO_MORE,
): Readonly<Record<string, string>> {
  const made = MADE.get(more) ?? new Map<string, Readonly<Record<string, string>>>()
  const key = `${size} ${control} ${type}`
  const known = made.get(key)
  if (known !== undefined) return known
  const headers = {
    ...SECURITY_HEADERS,
    'content-type': type,
    'content-length': String(size),
    'cache-control': control,
    vary: 'Accept',
    ...more,
  }
  if (made.size >= MADE_MAX) made.clear()
  made.set(key, headers)
  MADE.set(more, made)
  return headers
}
