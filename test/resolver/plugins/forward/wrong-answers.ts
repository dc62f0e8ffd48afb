/**
 * Upstreams that send what is no answer, for setup.test.ts.
 * @module
 */
import { writeUint16 } from '../../../../src/dns/bytes/bytes.ts'
import type { Asked, UpstreamAct, UpstreamScript } from '../../../fake-host.ts'
import { writeReplyText } from '../../../message-text.ts'
import { A } from './relay-cases.ts'

/** Replies with a change that makes it no answer. */
export const spoiled =
  (lines: readonly string[], spoil: (reply: Uint8Array) => void): UpstreamScript =>
  ({ message }: Asked) => {
    const reply = writeReplyText(lines, message)
    spoil(reply)
    return reply
  }
/** What an upstream does that is no answer to the question for A at www.example.org. */
export const WRONG_ANSWERS: readonly {
  readonly name: string
  readonly first: UpstreamAct | UpstreamScript
}[] = [
  { name: 'leaves an upstream that fails', first: new Error('connection refused') },
  { name: 'leaves an upstream that sends nothing', first: new Uint8Array(0) },
  { name: 'leaves an upstream that sends a part', first: Uint8Array.of(0, 0, 0x81, 0x80, 0, 1) },
  {
    name: 'leaves an upstream that sends a query',
    first: spoiled(['NOERROR', A], (reply) => writeUint16(reply, 2, 0x0100)),
  },
  {
    name: 'leaves an upstream that answers for another name',
    first: spoiled(['NOERROR', A], (reply) => reply.fill(0x78, 13, 16)),
  },
  {
    name: 'leaves an upstream that answers for another type',
    first: spoiled(['NOERROR', A], (reply) => writeUint16(reply, 29, 28)),
  },
  {
    name: 'leaves an upstream that answers for another class',
    first: spoiled(['NOERROR', A], (reply) => writeUint16(reply, 31, 3)),
  },
  {
    name: 'leaves an upstream that answers without a question',
    first: ({ message }) =>
      Uint8Array.of(...message.subarray(0, 2), 0x81, 0, 0, 0, 0, 0, 0, 0, 0, 0),
  },
]
