/**
 * Responses over HTTP/1.1 and HTTP/2, read whole.
 * @module
 */
import type { Readable } from 'node:stream'
import { MESSAGE_BYTES_MAX } from '../../dns/names/limits.ts'

/** The head of a response, as far as a query needs it. */
export type ResponseHead = {
  readonly status: number
  readonly type: string | undefined
  readonly age: unknown
}

/** Reads a body of at most 64 KiB, or another bound. @throws {Error} with the reason */
export async function readResponse(
  head: ResponseHead,
  body: Readable,
  bytesMax: number = MESSAGE_BYTES_MAX,
): Promise<Response> {
  const bytes = await readAll(body, bytesMax)
  const headers = new Headers()
  if (head.type !== undefined) headers.set('content-type', head.type)
  if (typeof head.age === 'string') headers.set('age', head.age)
  // The constructor of Response rejects other statuses, and bodies with some of these.
  const status = head.status >= 200 && head.status <= 599 ? head.status : 502
  return new Response(status === 200 ? bytes : null, { status, headers })
}

function readAll(stream: Readable, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= bytesMax) chunks.push(chunk)
      else stream.destroy(new Error(`the response exceeds ${bytesMax} bytes`))
    })
    stream.once('end', () => resolve(new Uint8Array(Buffer.concat(chunks))))
    stream.once('error', reject)
    stream.once('close', () => reject(new Error('the response broke off')))
  })
}
