/**
 * Answers to notices of other servers that a zone has changed (RFC 1996).
 * @module
 */
import { MESSAGE_BYTES_MAX } from '../dns/limits.ts'
import { FLAG, parseQuery, Query } from '../dns/query.ts'
import { OPCODE, RCODE } from '../dns/rcode.ts'
import { rcodeReply } from '../dns/refusal.ts'
import { ReplyWriter } from '../dns/reply-writer.ts'
import { findChain, type Listener } from './listener.ts'
import type { Client, Seal } from './plugin.ts'
import { sealed } from './sealed.ts'

/**
 * Hands a notice to the plugins of the block for its zone.
 * @returns the reply, or that there is to be none; `undefined` for what is no notice, or for nobody
 */
export function answerNotice(
  listener: Listener,
  bytes: Uint8Array,
  client: Client,
): { readonly reply: Uint8Array | undefined } | undefined {
  const query = parseQuery(bytes, new Query(), OPCODE.NOTIFY)
  const chain = query.kind === 'query' ? findChain(listener, query, client) : undefined
  if (query.kind === 'refusal' || chain === undefined) return undefined
  let seal: Seal | undefined
  for (const { notified, secures } of chain.plugins) {
    const secured = secures?.(query)
    seal ??= secured?.seal
    if (secured?.rcode !== undefined)
      return { reply: sealed(rcodeReply(query, secured.rcode), seal) }
    const verdict = notified?.(query, client)
    if (verdict === 'taken') return { reply: sealed(taken(query), seal) }
    if (verdict === 'ignored') return { reply: undefined }
  }
  return undefined
}

function taken(query: Query): Uint8Array {
  const writer = new ReplyWriter()
  writer.begin(query, { bytesMax: MESSAGE_BYTES_MAX })
  return writer.bytes.slice(0, writer.finish(RCODE.NOERROR, FLAG.AA))
}
