/**
 * Requests about clusters that may have what is asked for, in every form that the gateway takes.
 * @module
 */

import { encodeBase64url } from '../../src/dns/bytes/base64url.ts'
import { parseAddress, reverseName } from '../../src/dns/names/address.ts'
import { formatName, nameOf } from '../../src/dns/names/name.ts'
import { parseType } from '../../src/dns/names/rr-type.ts'
import { writeQuery } from '../../src/dns/wire/write-query.ts'
import { ADDRESSES, HOSTS, NAMESPACES, SERVICES } from './objects.ts'
import { pickFrom, type Random } from './random.ts'
import type { ViewRequest } from './worlds.ts'

const TYPES = 'A A AAAA SRV PTR NS SOA TXT CNAME ANY AXFR TYPE65 TYPE65280'.split(' ')
const ZONES = [
  'apps.test',
  'ext.test',
  'prod.test',
  'prod.test',
  'lab.test',
  'clusterset.local',
  'cluster.local',
]
const STATUS = [
  '/',
  '/healthz',
  '/readyz',
  '/metrics',
  '/v1/clusters/east',
  '/v1/conflicts',
  '/v1/tokens',
]

/** Draws a request of somebody who has a token. */
export function drawRequest(random: Random, token: string): ViewRequest {
  const authorization = { authorization: `Bearer ${token}` }
  if (random() < 0.03) {
    return { path: pickFrom(random, STATUS), method: 'GET', headers: authorization }
  }
  const name = inCase(random, drawName(random))
  const type = pickFrom(random, TYPES)
  const query = `name=${encodeURIComponent(name)}&type=${type}`
  const form = random()
  if (form < 0.2) return { path: `/v1/explain?${query}`, method: 'GET', headers: authorization }
  if (form < 0.4) return { path: `/resolve?${query}&do=1`, method: 'GET', headers: authorization }
  const message = writeQuery({
    name: nameOf(name),
    type: parseType(type) ?? 1,
    id: 0,
    ...(random() < 0.7 && { udpBytes: 1232, wantsDnssec: random() < 0.3 }),
  })
  if (form < 0.6) {
    const headers = { ...authorization, 'content-type': 'application/dns-message' }
    return { path: '/dns-query', method: 'POST', headers, body: new Uint8Array(message) }
  }
  const path = `/dns-query?dns=${encodeBase64url(message)}`
  if (form < 0.9) return { path, method: 'GET', headers: authorization }
  return { path: `/t/${token}${path}`, method: 'GET', headers: {} }
}

function drawName(random: Random): string {
  if (random() < 0.2) return drawReverse(random)
  if (random() < 0.03) return pickFrom(random, ['db.hosts.test', 'none.hosts.test', 'example.net'])
  const zone = pickFrom(random, ZONES)
  const namespace = pickFrom(random, NAMESPACES)
  const own = `${pickFrom(random, SERVICES)}.${namespace}.svc`
  const address = pickFrom(random, ADDRESSES)
  const dashed = address.replaceAll(/[.:]/g, '-')
  const below = pickFrom(random, [
    ...[own, own, own, `_http._tcp.${own}`, `_tcp.${own}`, `any._http._tcp.${own}`],
    ...[`${pickFrom(random, HOSTS)}.${own}`, `${dashed}.${own}`, `no-${own}`],
    ...[`${pickFrom(random, HOSTS)}.${pickFrom(random, ['east', 'west'])}.${own}`],
    ...[`${namespace}.svc`, `${namespace}.pod`, `${dashed}.${namespace}.pod`],
    ...[`${own.slice(0, -4)}`, `any.${own.slice(0, -4)}`, namespace, 'www', 'api', 'x', 'ns1.dns'],
    ...['in', 'deep.in', 'x.deep.in', 'x.in', 'y.x.in', 'y.x', 'x.www'],
    ...['svc', 'pod', 'dns', 'ns.dns', 'ns.dns', 'x.ns.dns', 'dns-version', '_ns', '', ''],
  ])
  return below === '' ? zone : `${below}.${zone}`
}

/** The name of an address, or of a part of it, or one below it. */
function drawReverse(random: Random): string {
  const address = parseAddress(pickFrom(random, ADDRESSES)) ?? new Uint8Array(4)
  const name = formatName(reverseName(address)).slice(0, -1)
  const labels = name.split('.')
  if (random() < 0.7) return name
  if (random() < 0.3) return `ns.dns.${pickFrom(random, ['in-addr.arpa', 'ip6.arpa'])}`
  return labels.slice(Math.floor(random() * (labels.length - 1))).join('.')
}

function inCase(random: Random, name: string): string {
  if (random() < 0.8) return name
  return [...name].map((one) => (random() < 0.5 ? one.toUpperCase() : one)).join('')
}
