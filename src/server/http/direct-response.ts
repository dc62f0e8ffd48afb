/**
 * Responses to HTTP/1.1 requests that need no app.
 * @module
 */
import type { IncomingMessage } from 'node:http'
import { type Answer, DIRECT_BODY_BYTES_MAX, type Ready } from './http-request.ts'
import type { RequestMemory } from './request-memory.ts'

/**
 * Sends the response to a request. Reads its body first if `reading` bounds the memory of bodies.
 * Closes the connection of a client whose request was cut off.
 */
export function respond(
  request: IncomingMessage,
  { answer, reading }: { readonly answer: Answer; readonly reading: RequestMemory | undefined },
  send: (ready: Ready) => void,
): void {
  if (reading !== undefined) {
    void readAll(request, reading)
      .then((body) => answer(body))
      .then(send)
      // The client has disconnected, or its request was cut off.
      .catch(() => request.destroy())
    return
  }
  const ready = answer()
  if (ready instanceof Promise) void ready.then(send).catch(() => request.destroy())
  else send(ready)
}

/** Reads a body. Rejects one that is longer than a DNS message. */
function readAll(request: IncomingMessage, memory: RequestMemory): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const holder = { heldBytes: () => size, dropRequests: () => request.destroy() }
    request.once('close', () => memory.delete(holder))
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > DIRECT_BODY_BYTES_MAX) reject(new Error('the body is too long'))
      else chunks.push(chunk)
      memory.add(holder)
      memory.held(chunk.length)
    })
    request.on('end', () => {
      const [only] = chunks
      resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks))
    })
    request.on('error', reject)
  })
}
