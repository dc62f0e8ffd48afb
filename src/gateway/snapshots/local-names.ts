/**
 * Names that a gateway answers itself, whatever the Corefile says.
 *
 * `resolver.arpa` describes the resolver that gets the query (RFC 9462 §6.4). A forwarded query
 * would lead clients to another resolver, which does not know the clusters. `_dns.resolver.arpa`
 * SVCB has the gateway itself, by the name that the client used. RESINFO (RFC 9606), for that name
 * and for `resolver.arpa`, says which extended errors the gateway sends, and where its page is.
 *
 * Firefox queries `use-application-dns.net` through the system's resolver to learn whether it may
 * use another one (support.mozilla.org, "canary domain"). NXDOMAIN disables that, because only the
 * gateway knows the names of clusters. Users who configured a resolver in Firefox keep it.
 * @module
 */
import { asWordBytes } from '../../dns/bytes/bytes.ts'
import { HEADER_BYTES, MESSAGE_BYTES_MAX } from '../../dns/names/limits.ts'
import { nameOf, parseName } from '../../dns/names/name.ts'
import { RCODE } from '../../dns/names/rcode.ts'
import { CLASS } from '../../dns/names/rr-class.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import { endsIn, FLAG, type Query, type Refusal } from '../../dns/wire/query.ts'
import { parseRdata } from '../../dns/wire/rdata-text.ts'
import { writeRdata } from '../../dns/wire/rdata-wire.ts'
import { ReplyWriter, SECTION } from '../../dns/wire/reply-writer.ts'
import { PADDING_BLOCK } from '../../resolver/chain/reply-bounds.ts'
import { findHostToken } from '../access/sent-token.ts'

/** How a message reached the gateway. */
export type Arrival = {
  /** `GET`, `HEAD`, `POST`, `JSON`, `SERVICE`, or `DOT` for DNS over TLS. */
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
  /** TOKEN_DOMAIN, in lower case; '' for none. */
  readonly tokenDomain: string
  /** The port of DNS over TLS; `undefined` without it. */
  readonly dotPort: number | undefined
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
/** The longest URL in a string of 255 bytes (RFC 1035 §3.3.14). */
const URL_MAX = 247
const writer = new ReplyWriter()

/** The extended errors of our own (RFC 8914); a response of an upstream may have others. */
const EXTENDED_ERRORS = '0,3,14-15,17,19-20,22'

/**
 * Answers a query for such a name: `_dns.resolver.arpa` SVCB, RESINFO of the gateway, NODATA for
 * the rest of `resolver.arpa`, NXDOMAIN for the canary. `undefined` for all other names.
 */
export function answerLocally(
  parsed: Query | Refusal,
  arrival: Arrival,
  reach: Reach,
): Uint8Array | undefined {
  if (parsed.kind === 'refusal') return undefined
  const isCanary = endsIn(parsed, CANARY)
  const isInfo = asksForInfo(parsed, arrival)
  if (!isCanary && !isInfo && !endsIn(parsed, RESOLVER_ARPA)) return undefined
  writer.begin(parsed, { bytesMax: MESSAGE_BYTES_MAX })
  const isDesignation =
    parsed.type === TYPE.SVCB &&
    parsed.class === CLASS.IN &&
    parsed.nameBytes === DESIGNATED.size &&
    endsIn(parsed, DESIGNATED)
  const designated = isDesignation ? designations(arrival, reach) : []
  const info = isInfo ? resolverInfo(arrival, reach) : undefined
  for (const rdata of info === undefined ? designated : [info]) {
    writer.pointOwner(HEADER_BYTES)
    writer.beginRecord(parsed.type, CLASS.IN, TTL_SECONDS)
    writeRdata(writer, parsed.type, rdata)
    writer.endRecord(SECTION.ANSWER)
  }
  const rcode = isCanary ? RCODE.NXDOMAIN : RCODE.NOERROR
  return writer.bytes.slice(0, writer.finish(rcode, FLAG.AA, PADDING_BLOCK))
}

/**
 * Returns the gateway as designated resolvers (RFC 9461, RFC 9462 §4) by the name and the token of
 * the request: DNS over HTTPS, then DNS over TLS where the name has the token or nobody needs one.
 * None without TLS, for an address as its name, and for a token in a header, which a client that
 * discovers the URL would not send. Over TLS, the port of HTTPS is not known.
 */
function designations(
  { method, head }: Arrival,
  { isPublic, hasTls, hasHttp3, tokenDomain, dotPort }: Reach,
): readonly Uint8Array[] {
  const { authority, host, port, isSecure } = placeOf(head, hasTls)
  const [tokenPath] = TOKEN_PATH.exec(head.path) ?? []
  const needsNoPath =
    isPublic ||
    typeof findHostToken({ host: authority, serverName: undefined }, tokenDomain) === 'string'
  const path = tokenPath ?? (needsNoPath ? '' : undefined)
  if (!isSecure || host === undefined || path === undefined) return []
  const alpn = hasHttp3 ? 'alpn=h3,h2,http/1.1' : 'alpn=h2,http/1.1'
  const doh = [alpn, ...portParam(Number(port), 443), `dohpath=${path}/dns-query{?dns}`]
  const dot = dotPort === undefined ? [] : ['alpn=dot', ...portParam(dotPort, 853)]
  const all = [...(method === 'DOT' ? [] : [doh]), ...(needsNoPath && dot.length > 0 ? [dot] : [])]
  return all.flatMap(
    (params, i) => parseRdata(TYPE.SVCB, [String(i + 1), `${host}.`, ...params], ROOT) ?? [],
  )
}

/** Returns the parameter for a port, which is left out where it is the protocol's own. */
function portParam(port: number, own: number): readonly string[] {
  return port === own ? [] : [`port=${port}`]
}

/** Returns the host and port that the client used, and whether it did so over TLS. */
function placeOf(
  head: Arrival['head'],
  hasTls: boolean,
): {
  readonly authority: string
  readonly host: string | undefined
  readonly port: string
  readonly isSecure: boolean
} {
  const authority = (head.header('host') ?? '').toLowerCase()
  const [, host, port = '443'] = AUTHORITY.exec(authority) ?? []
  const isSecure = hasTls || head.header('x-forwarded-proto') === 'https'
  return { authority, host, port, isSecure }
}

/** Whether a query is for RESINFO of `resolver.arpa` or of the name that the client used. */
function asksForInfo(query: Query, { head }: Arrival): boolean {
  if (query.type !== TYPE.RESINFO || query.class !== CLASS.IN) return false
  if (query.nameBytes === RESOLVER_ARPA.size && endsIn(query, RESOLVER_ARPA)) return true
  const { host } = placeOf(head, true)
  const own = host === undefined ? undefined : parseName(host)
  return own !== undefined && query.nameBytes === own.length && endsIn(query, asWordBytes(own))
}

/**
 * Returns what the gateway publishes about itself (RFC 9606 §5); its page only to clients of HTTPS
 * by a name: the port of HTTPS is not known over TLS.
 */
function resolverInfo({ method, head }: Arrival, { hasTls }: Reach): Uint8Array | undefined {
  const { host, port, isSecure } = placeOf(head, hasTls)
  const url = `https://${host}${port === '443' ? '' : `:${port}`}/`
  const hasPage = isSecure && method !== 'DOT' && host !== undefined && url.length <= URL_MAX
  const page = hasPage ? [`infourl=${url}`] : []
  return parseRdata(TYPE.RESINFO, [`exterr=${EXTENDED_ERRORS}`, ...page], ROOT)
}
