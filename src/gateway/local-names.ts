/**
 * Names that a gateway answers by itself, whatever the Corefile says.
 *
 * `resolver.arpa` is about the resolver that is asked (RFC 9462 §6.4): to forward it would send
 * clients to another one, which knows no cluster.
 *
 * By `use-application-dns.net` Firefox finds out, from the system's resolver, whether it may go
 * past that to another one (support.mozilla.org, "canary domain"). Where the system's resolver asks
 * here, it may not: the names of clusters are known only here. Who has chosen one is not held up.
 * @module
 */
import { asWordBytes } from '../bytes/bytes.ts'
import { PADDING_BLOCK } from '../chain/reply-bounds.ts'
import { MESSAGE_BYTES_MAX } from '../dns/limits.ts'
import { nameOf } from '../dns/name.ts'
import { endsIn, FLAG, type Query, type Refusal } from '../dns/query.ts'
import { RCODE } from '../dns/rcode.ts'
import { ReplyWriter } from '../dns/reply-writer.ts'

const RESOLVER_ARPA = asWordBytes(nameOf('resolver.arpa'))
const CANARY = asWordBytes(nameOf('use-application-dns.net'))
const writer = new ReplyWriter()

/** Answers a message when it is about such a name: that there is no data, or no such name. */
export function answerLocally(parsed: Query | Refusal): Uint8Array | undefined {
  if (parsed.kind === 'refusal') return undefined
  const isCanary = endsIn(parsed, CANARY)
  if (!isCanary && !endsIn(parsed, RESOLVER_ARPA)) return undefined
  writer.begin(parsed, { bytesMax: MESSAGE_BYTES_MAX })
  const rcode = isCanary ? RCODE.NXDOMAIN : RCODE.NOERROR
  return writer.bytes.slice(0, writer.finish(rcode, FLAG.AA, PADDING_BLOCK))
}
