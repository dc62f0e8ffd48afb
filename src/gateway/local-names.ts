/**
 * Names that a gateway answers itself, whatever the Corefile says.
 *
 * `resolver.arpa` describes the resolver that gets the query (RFC 9462 §6.4). A forwarded query
 * would lead clients to another resolver, which does not know the clusters.
 *
 * Firefox queries `use-application-dns.net` through the system's resolver to learn whether it may
 * use another one (support.mozilla.org, "canary domain"). NXDOMAIN disables that, because only the
 * gateway knows the names of clusters. Users who configured a resolver in Firefox keep it.
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

/** Answers a query for such a name: NODATA below `resolver.arpa`, NXDOMAIN for the canary. */
export function answerLocally(parsed: Query | Refusal): Uint8Array | undefined {
  if (parsed.kind === 'refusal') return undefined
  const isCanary = endsIn(parsed, CANARY)
  if (!isCanary && !endsIn(parsed, RESOLVER_ARPA)) return undefined
  writer.begin(parsed, { bytesMax: MESSAGE_BYTES_MAX })
  const rcode = isCanary ? RCODE.NXDOMAIN : RCODE.NOERROR
  return writer.bytes.slice(0, writer.finish(rcode, FLAG.AA, PADDING_BLOCK))
}
