/**
 * Reads the lines of a streamed response.
 * @module
 */
import type { Readable } from 'node:stream'
import { ApiError } from './object-api.ts'
import { readWaiting, type Wait } from './waiting-stream.ts'

/** The bound of a line, and the error beyond it. */
type LineBound = { readonly charsMax: number; readonly tooLong: () => Error }

/** etcd takes objects up to 1.5 MiB, and JSON is about twice as long. */
const OBJECT: LineBound = {
  charsMax: 16 * 1024 * 1024,
  tooLong: () => new ApiError('a line of the watch is too long'),
}

/**
 * Calls `onLine` with each line, without its end, until the stream ends. A last line without an end
 * counts; empty lines do not. Where `onLine` returns a promise, the stream waits for it.
 * @throws {Error} for a line over the bound; by default an {@link ApiError} over 16 Mi characters
 */
export async function readLines(
  stream: Readable,
  onLine: (line: string) => unknown,
  { charsMax, tooLong }: LineBound = OBJECT,
): Promise<void> {
  let rest = ''
  /** Returns the text that is left when a line has the stream wait. */
  const take = (text: string): Wait | undefined => {
    let from = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      const line = rest + text.slice(from, end)
      rest = ''
      from = end + 1
      const until = line === '' ? undefined : onLine(line)
      if (until instanceof Promise) return { until, left: text.slice(from) }
    }
    rest += text.slice(from)
    if (rest.length > charsMax) throw tooLong()
    return undefined
  }
  await readWaiting(stream.setEncoding('utf8'), take)
  if (rest !== '') await onLine(rest)
}
