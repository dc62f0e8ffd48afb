/**
 * Reads a stream whose reader may have it wait.
 * @module
 */
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'

/** What a reader waits for, and the part of the chunk that it has not read. */
export type Wait<Chunk = string> = { readonly until: Promise<unknown>; readonly left: Chunk }

/**
 * Calls `take` with each chunk until the stream ends. If it returns what it waits for, the stream
 * pauses, and `take` gets the rest of the chunk after that.
 *
 * An API server sends each object of a streamed list by itself: an event costs a third less than a
 * turn of an asynchronous loop.
 * @throws what `take` throws, and the stream's error
 */
export async function readWaiting<Chunk>(
  stream: Readable,
  take: (chunk: Chunk) => Wait<Chunk> | undefined,
): Promise<void> {
  let waiting: Promise<void> = Promise.resolve()
  const fail = (error: unknown): void => {
    stream.destroy(error instanceof Error ? error : new TypeError(String(error)))
  }
  const wait = async (first: Wait<Chunk>): Promise<void> => {
    stream.pause()
    try {
      for (let next: Wait<Chunk> | undefined = first; next !== undefined; ) {
        await next.until
        next = take(next.left)
      }
      stream.resume()
    } catch (error) {
      fail(error)
    }
  }
  stream.on('data', (chunk: Chunk) => {
    try {
      const next = take(chunk)
      if (next !== undefined) waiting = wait(next)
    } catch (error) {
      fail(error)
    }
  })
  await finished(stream)
  await waiting
}
