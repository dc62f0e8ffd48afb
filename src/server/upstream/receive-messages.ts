/**
 * Receives all response messages to one query over TCP, as in zone transfers (RFC 5936 §4.1).
 * @module
 */

import { connect } from 'node:net'
import { concatBytes, uint16Bytes } from '../../dns/bytes/bytes.ts'
import { MessageStream } from '../../dns/wire/message-stream.ts'

/**
 * Sends a query on a new connection and yields each response message, until the server closes the
 * connection or the caller stops.
 * @throws {Error} with the reason, also after `timeoutMs` without data
 */
export async function* receiveMessages(
  { address, port }: { readonly address: string; readonly port: number },
  query: Uint8Array,
  timeoutMs: number,
): AsyncGenerator<Uint8Array> {
  const socket = connect({ host: address, port, noDelay: true })
  socket.setTimeout(timeoutMs, () => {
    socket.destroy(new Error('no response over TCP in time'))
  })
  socket.write(concatBytes(uint16Bytes(query.length), query))
  const messages: Uint8Array[] = []
  const stream = new MessageStream((message) => messages.push(message))
  try {
    for await (const chunk of socket) {
      const bytes: Uint8Array = chunk
      if (!stream.push(bytes)) throw new Error('the server sent an empty message')
      yield* messages.splice(0)
    }
  } finally {
    socket.destroy()
  }
}
