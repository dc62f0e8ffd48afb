/**
 * Answers NOTIFY messages: another server reports that a zone has changed (RFC 1996).
 * @module
 */
import { MESSAGE_BYTES_MAX } from '../../dns/names/limits.ts'
import { OPCODE, RCODE } from '../../dns/names/rcode.ts'
import { FLAG, parseQuery, Query } from '../../dns/wire/query.ts'
import { rcodeReply } from '../../dns/wire/refusal.ts'
import { ReplyWriter } from '../../dns/wire/reply-writer.ts'
import type { Client } from '../contract/client.ts'
import { type MessageSigner, signed } from '../contract/message-signer.ts'
import { findChain, type Listener } from './listener.ts'

/**
 * Passes a NOTIFY to the plugins of the block for its zone.
 * @returns the response, if any; `undefined` if the message is no NOTIFY, or for no plugin
 */
export function answerNotify(
  listener: Listener,
  bytes: Uint8Array,
  client: Client,
): { readonly reply: Uint8Array | undefined } | undefined {
  const query = parseQuery(bytes, new Query(), OPCODE.NOTIFY)
  const chain = query.kind === 'query' ? findChain(listener, query, client) : undefined
  if (query.kind === 'refusal' || chain === undefined) return undefined
  let signer: MessageSigner | undefined
  for (const { handleNotify, verify } of chain.plugins) {
    const secured = verify?.(query)
    signer ??= secured?.signer
    if (secured?.rcode !== undefined)
      return { reply: signed(rcodeReply(query, secured.rcode), signer) }
    const verdict = handleNotify?.(query, client)
    if (verdict === 'taken') return { reply: signed(taken(query), signer) }
    if (verdict === 'ignored') return { reply: undefined }
  }
  return undefined
}

function taken(query: Query): Uint8Array {
  const writer = new ReplyWriter()
  writer.begin(query, { bytesMax: MESSAGE_BYTES_MAX })
  return writer.bytes.slice(0, writer.finish(RCODE.NOERROR, FLAG.AA))
}
