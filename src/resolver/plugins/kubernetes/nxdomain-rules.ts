/**
 * Where CoreDNS deviates from the RFCs, so that operators who reuse its Corefile get the same
 * answers. The option `answers rfc` switches all of this off.
 *
 * | query | CoreDNS | RFC 8020 §2, RFC 2308 §2.2, RFC 4343 |
 * |---|---|---|
 * | SOA below the apex, at any name | NODATA | NXDOMAIN if the name does not exist |
 * | TXT at the apex, `svc`, `pod`, `<ns>.svc`, `<ns>.pod`, `ns.dns` | NXDOMAIN | NODATA |
 * | PTR at `ns.dns`; anything but TXT at `dns-version` | NXDOMAIN | NODATA |
 * | empty non-terminals: `_tcp.<service>`, `dns` | NXDOMAIN | NODATA |
 * | two or more labels before a Service that name no port | NXDOMAIN | their records |
 * | NS at the apex, in upper case | NODATA, unless cached | the NS records |
 * | anything but PTR at an address; parts of an address, any | NXDOMAIN | NODATA |
 * | PTR with one to three labels before an IPv6 address | ignores those labels | NXDOMAIN |
 * | SRV at a Pod's name | port 0 | NODATA |
 * | an ExternalName to no name of the cluster | NODATA, no CNAME | the CNAME and NXDOMAIN |
 * | a Service of several hostnames | a CNAME for each | one CNAME (RFC 2181 §10.1) |
 * @module
 */
import { LOWER } from '../../../dns/bytes/bytes.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import type { Query } from '../../../dns/wire/query.ts'
import { IMPLIED_MARK, SETS_PER_NODE_MAX } from '../../../snapshot/format/layout.ts'
import type { Shard } from '../../../snapshot/read/shard.ts'
import type { Zone } from './zone.ts'

/** The rules that decide whether a name exists. */
export type Rules = 'coredns' | 'rfc'

const { TXT, PTR, SRV } = TYPE
const UNDERSCORE = 0x5f
const NS_DNS: readonly number[] = [2, 0x6e, 0x73, 3, 0x64, 0x6e, 0x73]
const POD: readonly number[] = [3, 0x70, 0x6f, 0x64]

/** Returns whether CoreDNS answers NXDOMAIN for an existing node with this head. */
export function isNxdomain(type: number, shard: Shard, node: number, head: number): boolean {
  if ((head & IMPLIED_MARK) !== 0) return true
  const setCount = (head >>> 8) & SETS_PER_NODE_MAX
  if (type === TXT) {
    return setCount === 0 || shard.nameBytes(node) === 0 || isNsDns(shard, node)
  }
  if (type === PTR && isNsDns(shard, node)) return true
  return setCount === 1 && shard.findSet(node, TXT) !== 0
}

/**
 * Returns whether CoreDNS rejects a name with so many labels below the zone unseen. Endpoint names
 * of several clusters have one label more.
 */
export function isTooLong(query: Query, count: number, isMulticluster: boolean): boolean {
  if (count < 5) return false
  if (count === 5 && isMulticluster) return false
  const { name, labels } = query
  return count > 5 || name[(labels[1] ?? 0) + 1] !== UNDERSCORE
}

/**
 * Returns whether CoreDNS answers NODATA for a zone's NS records because of the query's letter
 * case. It has them in lower case only, but its cache, once filled, matches any case. A client with
 * a view never counts as having filled the cache, since that would affect other clients.
 */
export function hidesNs({ bytes, questionEnd }: Query, zone: Zone, isViewed: boolean): boolean {
  const end = questionEnd - 4
  for (let at = end - zone.origin.size; at < end; at++) {
    const value = bytes[at] ?? 0
    if (LOWER[value] !== value) return isViewed || !(zone.hasCache && zone.hadNsQuery)
  }
  if (!isViewed) zone.hadNsQuery = true
  return false
}

/** Returns whether a query is for SRV at a Pod's name, which has no port. */
export function isPodService(type: number, shard: Shard, node: number): boolean {
  return type === SRV && endsWith(shard, node, POD)
}

const isNsDns = (shard: Shard, node: number): boolean => {
  return shard.nameBytes(node) === NS_DNS.length && endsWith(shard, node, NS_DNS)
}

const endsWith = (shard: Shard, node: number, labels: readonly number[]): boolean => {
  const start = shard.nameBytes(node) - labels.length
  const at = shard.nameOffset(node) + start
  if (start < 0) return false
  for (let i = 0; i < labels.length; i++) {
    if (shard.bytes[at + i] !== labels[i]) return false
  }
  return true
}
