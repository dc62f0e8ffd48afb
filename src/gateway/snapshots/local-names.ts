/**
 * Names that a gateway answers itself, whatever the Corefile says.
 *
 * `resolver.arpa` describes the resolver that gets the query (RFC 9462 §6.4). A forwarded query
 * would lead clients to another resolver, which does not know the clusters. `_dns.resolver.arpa`
 * SVCB has the gateway itself, by the name that the client used.
 *
 * Firefox queries `use-application-dns.net` through the system's resolver to learn whether it may
 * use another one (support.mozilla.org, "canary domain"). NXDOMAIN disables that, because only the
 * gateway knows the names of clusters. Users who configured a resolver in Firefox keep it.
 * @module
 */
import { asWordBytes } from '../../dns/bytes/bytes.ts'
import { HEADER_BYTES, MESSAGE_BYTES_MAX } from '../../dns/names/limits.ts'
import { nameOf } from '../../dns/names/name.ts'
import { RCODE } from '../../dns/names/rcode.ts'
import { CLASS } from '../../dns/names/rr-class.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import { endsIn, FLAG, type Query, type Refusal } from '../../dns/wire/query.ts'
import { parseRdata } from '../../dns/wire/rdata-text.ts'
import { writeRdata } from '../../dns/wire/rdata-wire.ts'
import { ReplyWriter, SECTION } from '../../dns/wire/reply-writer.ts'
import { PADDING_BLOCK } from '../../resolver/chain/reply-bounds.ts'

/** How a message reached the gateway. */
export type Arrival = {
  /** `GET`, `HEAD`, `POST`, `JSON` or `SERVICE`. */
  readonly method: string
  /** The request's path and query, and its headers by their names in lower case. */
  readonly head: {
    readonly path: string
    header(name: string): string | null | undefined
    /** The request itself, where the runtime has one. */
    readonly request?: Request
  }
  /** Who sent it, once admitted. */
  readonly caller?: { readonly tokenId: string | undefined } | undefined
}

/** What a gateway knows of the way to itself. */
export type Reach = {
  readonly isPublic: boolean
  /** Whether clients reach it over TLS without a proxy. */
  readonly hasTls: boolean
  /** Whether clients reach it over HTTP/3, too, at the same port. */
  readonly hasHttp3: boolean
}

const RESOLVER_ARPA = asWordBytes(nameOf('resolver.arpa'))
const DESIGNATED = asWordBytes(nameOf('_dns.resolver.arpa'))
const CANARY = asWordBytes(nameOf('use-application-dns.net'))
const ROOT = nameOf('.')
const TTL_SECONDS = 300
/** A hostname with an optional port; the last label of an address does not begin with a letter. */
const AUTHORITY = /^((?:[a-z0-9-]{1,63}\.)*[a-z][a-z0-9-]{0,62})(?::(\d{1,5}))?$/
/** A token in a path; `\` and `"` have a meaning in presentation format. */
const TOKEN_PATH = /^\/t\/[\w.~-]{1,512}(?=\/)/
const writer = new ReplyWriter()

/**
 * Answers a query for such a name: `_dns.resolver.arpa` SVCB, NODATA for the rest of
 * `resolver.arpa`, NXDOMAIN for the canary. `undefined` for all other names.
 */
export function answerLocally(
  parsed: Query | Refusal,
  arrival: Arrival,
  reach: Reach,
): Uint8Array | undefined {
  if (parsed.kind === 'refusal') return undefined
  const isCanary = endsIn(parsed, CANARY)
  if (!isCanary && !endsIn(parsed, RESOLVER_ARPA)) return undefined
  writer.begin(parsed, { bytesMax: MESSAGE_BYTES_MAX })
  const isDesignation =
    parsed.type === TYPE.SVCB &&
    parsed.class === CLASS.IN &&
    parsed.nameBytes === DESIGNATED.size &&
    endsIn(parsed, DESIGNATED)
  const rdata = isDesignation ? designation(arrival, reach) : undefined
  if (rdata !== undefined) {
    writer.pointOwner(HEADER_BYTES)
    writer.beginRecord(TYPE.SVCB, CLASS.IN, TTL_SECONDS)
    writeRdata(writer, TYPE.SVCB, rdata)
    writer.endRecord(SECTION.ANSWER)
  }
  const rcode = isCanary ? RCODE.NXDOMAIN : RCODE.NOERROR
  return writer.bytes.slice(0, writer.finish(rcode, FLAG.AA, PADDING_BLOCK))
}

/**
 * Returns the gateway as a designated resolver (RFC 9461, RFC 9462 §4) by the name and the token of
 * the request. `undefined` without TLS, for an address as its name, and for a token in a header,
 * which a client that discovers the URL would not send.
 */
function designation(
  { head }: Arrival,
  { isPublic, hasTls, hasHttp3 }: Reach,
): Uint8Array | undefined {
  const isSecure = hasTls || head.header('x-forwarded-proto') === 'https'
  const [, host, port = '443'] = AUTHORITY.exec((head.header('host') ?? '').toLowerCase()) ?? []
  const [tokenPath] = TOKEN_PATH.exec(head.path) ?? []
  const path = tokenPath ?? (isPublic ? '' : undefined)
  if (!isSecure || host === undefined || path === undefined) return undefined
  const params = [...(port === '443' ? [] : [`port=${port}`]), `dohpath=${path}/dns-query{?dns}`]
  const alpn = hasHttp3 ? 'alpn=h3,h2,http/1.1' : 'alpn=h2,http/1.1'
  return parseRdata(TYPE.SVCB, ['1', `${host}.`, alpn, ...params], ROOT)
}
