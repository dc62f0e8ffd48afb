/**
 * Reads the lines of a streamed response.
 * @module
 */
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { ApiError } from './object-api.ts'

/** The bound of a line, and the error beyond it. */
type LineBound = { readonly charsMax: number; readonly tooLong: () => Error }

/** etcd takes objects up to 1.5 MiB, and JSON is about twice as long. */
const OBJECT: LineBound = {
  charsMax: 16 * 1024 * 1024,
  tooLong: () => new ApiError('a line of the watch is too long'),
}

/**
 * Calls `onLine` with each line, without its end, until the stream ends. A last line without an end
 * counts; empty lines do not.
 * @throws {Error} for a line over the bound; by default an {@link ApiError} over 16 Mi characters
 */
export async function readLines(
  stream: Readable,
  onLine: (line: string) => void,
  { charsMax, tooLong }: LineBound = OBJECT,
): Promise<void> {
  let rest = ''
  const take = (text: string): void => {
    let from = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      const line = rest + text.slice(from, end)
      rest = ''
      from = end + 1
      if (line !== '') onLine(line)
    }
    rest += text.slice(from)
    if (rest.length > charsMax) throw tooLong()
  }
  // An API server sends each object of a streamed list by itself: an event costs a third less than
  // a turn of an asynchronous loop.
  stream.setEncoding('utf8').on('data', (text: string) => {
    try {
      take(text)
    } catch (error) {
      stream.destroy(error instanceof Error ? error : new TypeError(String(error)))
    }
  })
  await finished(stream)
  if (rest !== '') onLine(rest)
}
