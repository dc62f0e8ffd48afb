/**
 * Reads the body of a request or response up to a limit, whatever its `content-length` is.
 * @module
 */
import { concatBytes, EMPTY } from '../../dns/bytes/bytes.ts'
import { HttpError } from './http-error.ts'

/**
 * Size up to which chunks are joined at the end: many such bodies wait at once, and take no more
 * memory than they have. Joining more at once would keep other requests waiting.
 */
const JOINED_BYTES_MAX = 64 * 1024

/**
 * Reads a body.
 * @throws {HttpError} 413 as soon as it is over `bytesMax`; 400 when it ends early
 */
export async function readBody(
  { headers, body }: Pick<Request, 'headers' | 'body'>,
  bytesMax: number,
): Promise<Uint8Array> {
  const declared = Number(headers.get('content-length') ?? 0)
  if (declared > bytesMax) throw tooLarge(bytesMax)
  const chunks: Uint8Array[] = []
  let whole: Uint8Array = EMPTY
  let size = 0
  const reader = body?.getReader()
  while (reader !== undefined) {
    const { done, value } = await readChunk(reader)
    if (done) break
    const start = size
    size += value.length
    if (size > bytesMax) {
      void reader.cancel().catch(() => undefined)
      throw tooLarge(bytesMax)
    }
    if (size <= JOINED_BYTES_MAX) chunks.push(value)
    else {
      const first = start <= JOINED_BYTES_MAX ? joined(chunks) : whole.subarray(0, start)
      if (size > whole.length) whole = grown(first, Math.max(size, declared))
      whole.set(value, start)
    }
  }
  return size <= JOINED_BYTES_MAX ? joined(chunks) : whole.subarray(0, size)
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks
  return only !== undefined && chunks.length === 1 ? only : concatBytes(...chunks)
}

/** Returns larger memory with the same bytes. */
function grown(bytes: Uint8Array, sizeLeast: number): Uint8Array {
  const larger = new Uint8Array(Math.max(sizeLeast, 2 * bytes.length))
  larger.set(bytes)
  return larger
}

type Reader = ReadableStreamDefaultReader<Uint8Array>

async function readChunk(reader: Reader): ReturnType<Reader['read']> {
  try {
    return await reader.read()
  } catch {
    throw new HttpError(400, 'body_incomplete', 'The body broke off')
  }
}

function tooLarge(bytesMax: number): HttpError {
  return new HttpError(413, 'body_too_large', `The body is over ${bytesMax} bytes`)
}
