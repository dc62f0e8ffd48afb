/**
 * Headers of an answer over HTTP.
 * @module
 */
import { freshSeconds } from './freshness.ts'
import { SECURITY_HEADERS } from './json-response.ts'

/** How long, and by whom, an answer may be kept (RFC 8484 §5.1). */
export function cacheControl(
  reply: Uint8Array,
  { isPrivate, isPost }: { readonly isPrivate: boolean; readonly isPost: boolean },
): string {
  const seconds = isPost ? 0 : freshSeconds(reply)
  if (seconds === 0) return 'no-store'
  return isPrivate ? `private, max-age=${seconds}` : `max-age=${seconds}`
}

/** Makes the headers of an answer. */
export function answerHeaders(
  type: string,
  size: number,
  control: string,
): Readonly<Record<string, string>> {
  return {
    ...SECURITY_HEADERS,
    'content-type': type,
    'content-length': String(size),
    'cache-control': control,
    vary: 'Accept',
  }
}
