/**
 * Names that a gateway answers by itself, whatever the Corefile says.
 *
 * `resolver.arpa` is about the resolver that is asked (RFC 9462 §6.4): to forward it would send
 * clients to another one, which knows no cluster.
 * @module
 */
import { asWordOctets } from '../dns/bytes.ts'
import { MESSAGE_BYTES_MAX } from '../dns/limits.ts'
import { nameOf } from '../dns/name.ts'
import { endsIn, FLAG, parseQuery, Query } from '../dns/query.ts'
import { RCODE } from '../dns/rcode.ts'
import { ReplyWriter } from '../dns/reply-writer.ts'

const RESOLVER_ARPA = asWordOctets(nameOf('resolver.arpa'))
const query = new Query()
const writer = new ReplyWriter()

/** Answers a message when it is about such a name: that there is no data. */
export function answerLocally(message: Uint8Array): Uint8Array | undefined {
  const parsed = parseQuery(message, query)
  if (parsed.kind === 'refusal' || !endsIn(parsed, RESOLVER_ARPA)) return undefined
  writer.begin(parsed, { bytesMax: MESSAGE_BYTES_MAX })
  return writer.bytes.slice(0, writer.finish(RCODE.NOERROR, FLAG.AA))
}
