/**
 * Reads a request's body up to a limit, whatever its `content-length` is.
 * @module
 */
import { concatBytes } from '../bytes/bytes.ts'
import { HttpError } from './http-error.ts'

/**
 * Reads a body.
 * @throws {HttpError} 413 as soon as it is over `bytesMax`; 400 when it ends early
 */
export async function readBody(request: Request, bytesMax: number): Promise<Uint8Array> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > bytesMax) throw tooLarge(bytesMax)
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = request.body?.getReader()
  while (reader !== undefined) {
    const { done, value } = await readChunk(reader)
    if (done) break
    size += value.length
    if (size > bytesMax) {
      void reader.cancel().catch(() => undefined)
      throw tooLarge(bytesMax)
    }
    chunks.push(value)
  }
  const [only] = chunks
  if (chunks.length === 1 && only !== undefined) return only
  return concatBytes(...chunks)
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
