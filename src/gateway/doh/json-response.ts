/**
 * HTTP responses other than DNS responses.
 * @module
 */

/** Headers of every response: no guessed types, no referrers, no indexing, no embedding. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
  'cross-origin-resource-policy': 'same-origin',
}

type Headers = Readonly<Record<string, string>>

/** Creates a JSON response that no cache keeps. */
export function jsonResponse(status: number, body: unknown, headers: Headers = {}): Response {
  const text = `${JSON.stringify(body)}\n`
  return uncached(status, text, { 'content-type': 'application/json', ...headers })
}

/** Creates a response that no cache keeps. */
export function uncached(
  status: number,
  body: string | Uint8Array<ArrayBuffer> | ReadableStream | null,
  headers: Headers = {},
): Response {
  const all = { ...SECURITY_HEADERS, 'cache-control': 'no-store', ...headers }
  return new Response(body, { status, headers: all })
}

/** Items that are described at a time. */
const ITEMS_AT_ONCE = 200

/** Formats an object whose only field is a list, some items in each text. */
export function* listTexts<T>(
  field: string,
  items: readonly T[],
  describe: (item: T) => object,
): Generator<string> {
  yield `{"${field}":[`
  for (let start = 0; start < items.length; start += ITEMS_AT_ONCE) {
    const some = items.slice(start, start + ITEMS_AT_ONCE)
    const texts = some.map((item) => JSON.stringify(describe(item)))
    yield `${start === 0 ? '' : ','}${texts.join(',')}`
  }
  yield ']}'
}

/** Returns a body of texts, which are made as the client reads them. */
export function streamOf(
  texts: Generator<string>,
  pause: () => Promise<void> | undefined,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    pull: async (controller) => {
      await pause()
      const { done, value } = texts.next()
      if (done === true) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    cancel: () => void texts.return(undefined),
  })
}
