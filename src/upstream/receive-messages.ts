/**
 * Receives all messages that a server has to say to one query, over TCP (RFC 5936 §4.1).
 * @module
 */
import { connect } from 'node:net'
import { writeUint16 } from '../bytes/bytes.ts'
import { MessageStream } from '../dns/message-stream.ts'

/**
 * Sends a query on a connection of its own and gives what comes back, message by message, until the
 * server closes it or nobody takes more.
 * @throws {Error} that says what went wrong, also when nothing comes for `timeoutMs`
 */
export async function* receiveMessages(
  { address, port }: { readonly address: string; readonly port: number },
  query: Uint8Array,
  timeoutMs: number,
): AsyncGenerator<Uint8Array> {
  const socket = connect({ host: address, port, noDelay: true })
  socket.setTimeout(timeoutMs, () => {
    socket.destroy(new Error('nothing came over TCP in time'))
  })
  const framed = new Uint8Array(2 + query.length)
  writeUint16(framed, 0, query.length)
  framed.set(query, 2)
  socket.write(framed)
  const messages: Uint8Array[] = []
  const stream = new MessageStream((message) => messages.push(message))
  try {
    for await (const chunk of socket) {
      const octets: Uint8Array = chunk
      if (!stream.push(octets)) throw new Error('the server sent an empty message')
      yield* messages.splice(0)
    }
  } finally {
    socket.destroy()
  }
}
