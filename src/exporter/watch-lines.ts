/**
 * Reads the lines of a streamed response.
 * @module
 */
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
  stream: AsyncIterable<Uint8Array> | null,
  onLine: (line: string) => void,
  { charsMax, tooLong }: LineBound = OBJECT,
): Promise<void> {
  if (stream === null) return
  const decoder = new TextDecoder()
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
  for await (const bytes of stream) take(decoder.decode(bytes, { stream: true }))
  if (rest !== '') onLine(rest)
}
