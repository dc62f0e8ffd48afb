/**
 * Sends the records of a zone as the messages of a transfer (RFC 5936 §2.2).
 * @module
 */
import { createPause, type Turns } from '../../dns/bytes/steps.ts'
import { MESSAGE_BYTES_MAX, UDP_BYTES_ADVERTISED } from '../../dns/names/limits.ts'
import { RCODE } from '../../dns/names/rcode.ts'
import { EMPTY_REPLY, type ResourceRecord, writeReply } from '../../dns/wire/message.ts'
import type { Query } from '../../dns/wire/query.ts'
import { rcodeReply } from '../../dns/wire/refusal.ts'
import { ReplyWriter } from '../../dns/wire/reply-writer.ts'
import type { Client } from './client.ts'
import { type MessageSigner, signed } from './message-signer.ts'

/** Bytes of uncompressed records in one message. */
const FILL_BYTES = 16_384
/** Bytes of a record's type, class, TTL and rdata length. */
const RECORD_HEAD_BYTES = 10

/** A transfer under way. */
type Transfer = {
  readonly records: Iterable<ResourceRecord>
  readonly client: Client
  readonly signer?: MessageSigner | undefined
  readonly turns: Turns
}

/**
 * Sends all messages but the last by `client.sendAhead`, some in each turn of the event loop.
 * @returns the last; a refusal if the client accepts one message only and there are more
 */
export async function sendTransfer(
  query: Query,
  { records, client: { sendAhead }, signer, turns }: Transfer,
): Promise<Uint8Array> {
  const writer = new ReplyWriter()
  // Transfers that come together must not each begin in this turn.
  await turns.nextTurn()
  const pause = createPause(turns)
  let filled: ResourceRecord[] = []
  let bytes = 0
  for (const record of records) {
    const size = record.owner.length + RECORD_HEAD_BYTES + record.rdata.length
    if (bytes > 0 && bytes + size > FILL_BYTES) {
      if (sendAhead === undefined) return signed(rcodeReply(query, RCODE.REFUSED), signer)
      await sendAhead(signed(write(writer, query, filled), signer))
      filled = []
      bytes = 0
      await pause()
    }
    filled.push(record)
    bytes += size
  }
  return signed(write(writer, query, filled), signer)
}

function write(writer: ReplyWriter, query: Query, answer: ResourceRecord[]): Uint8Array {
  const reply = { ...EMPTY_REPLY, authoritative: true, answer }
  const limits = { bytesMax: MESSAGE_BYTES_MAX, udpBytes: UDP_BYTES_ADVERTISED }
  return writer.bytes.slice(0, writeReply(writer, query, reply, limits))
}
