/**
 * Reads the lines of a streamed response.
 * @module
 */
import { ApiError } from './object-api.ts'

/** Longest line: etcd takes objects up to 1.5 MiB, and JSON is about twice as long. */
const LINE_CHARS_MAX = 16 * 1024 * 1024

/**
 * Calls `onLine` with each line, without its end, until the stream ends. A last line without an end
 * counts; empty lines do not.
 * @throws {ApiError} for a line of more than 16 Mi characters
 */
export async function readLines(
  stream: ReadableStream<Uint8Array> | null,
  onLine: (line: string) => void,
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
    if (rest.length > LINE_CHARS_MAX) throw new ApiError('a line of the watch is too long')
  }
  for await (const bytes of stream) take(decoder.decode(bytes, { stream: true }))
  if (rest !== '') onLine(rest)
}
