/**
 * Reads the body of a response as a whole, within a bound.
 * @module
 */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { ApiError } from './object-api.ts'

/** A body is larger than its reader takes. */
export class BodyTooLargeError extends ApiError {
  /** @param bytesMax a number of whole MiB */
  constructor(bytesMax: number) {
    super(`a response of more than ${bytesMax / 1024 / 1024} MiB`)
  }
}

/**
 * Reads a stream to its end.
 * @throws {BodyTooLargeError} once it has brought more than `bytesMax`; the rest is not read
 */
export async function readResponseBody(stream: Readable, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    chunks.push(chunk)
    size += chunk.length
    // Leaving the loop destroys the stream.
    if (size > bytesMax) throw new BodyTooLargeError(bytesMax)
  }
  return Buffer.concat(chunks, size)
}

/** Returns whether a response is plain text, as the log of a Pod is; objects never are. */
export function isText({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['content-type']?.startsWith('text/plain') === true
}
