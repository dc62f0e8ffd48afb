/**
 * What is answered for the names of a cluster, for zone-answer.test.ts.
 * @module
 */
import { soa } from './objects.ts'

/** A question in `shop.svc.cluster.local`, or elsewhere, and the whole reply. */
export type NameCase = {
  readonly name: string
  /** Options of the directive. */
  readonly options?: readonly string[]
  readonly ask: string
  readonly reply: readonly string[]
}

/** The domain of the Namespace that has all Services. */
const S = 'shop.svc.cluster.local'
const P = 'shop.pod.cluster.local'
const NODATA: readonly string[] = ['NOERROR aa rd', soa()]
const NXDOMAIN: readonly string[] = ['NXDOMAIN aa rd', soa()]

function data(...records: readonly string[]): readonly string[] {
  return ['NOERROR aa rd', ...records]
}

/** Names of Services, of their ports and endpoints, and of what frames them. */
export const SERVICE_CASES: readonly NameCase[] = [
  {
    name: 'a Service has its cluster IP',
    ask: `web.${S} A`,
    reply: data(`web.${S}. 5 IN A 192.0.2.10`),
  },
  { name: 'a Service has no other family', ask: `web.${S} AAAA`, reply: NODATA },
  {
    name: 'a Service of both families has A',
    ask: `dual.${S} A`,
    reply: data(`dual.${S}. 5 IN A 192.0.2.20`),
  },
  {
    name: 'a Service of both families has AAAA',
    ask: `dual.${S} AAAA`,
    reply: data(`dual.${S}. 5 IN AAAA 2001:db8::20`),
  },
  { name: 'a Service without ports has no SRV', ask: `dual.${S} SRV`, reply: NODATA },
  { name: 'a Service has no other types', ask: `web.${S} HTTPS`, reply: NODATA },
  { name: 'a Service has nothing of ANY type', ask: `web.${S} ANY`, reply: NODATA },
  {
    name: 'a Service has all of its ports',
    ask: `web.${S} SRV`,
    reply: data(
      `web.${S}. 5 IN SRV 0 50 80 web.${S}.`,
      `web.${S}. 5 IN SRV 0 50 443 web.${S}.`,
      `additional: web.${S}. 5 IN A 192.0.2.10`,
    ),
  },
  {
    name: 'a port has its number',
    ask: `_http._tcp.web.${S} SRV`,
    reply: data(
      `_http._tcp.web.${S}. 5 IN SRV 0 100 80 web.${S}.`,
      `additional: web.${S}. 5 IN A 192.0.2.10`,
    ),
  },
  {
    name: 'a port has the address of its Service',
    ask: `_https._tcp.web.${S} A`,
    reply: data(`_https._tcp.web.${S}. 5 IN A 192.0.2.10`),
  },
  {
    name: 'a port needs no underscores',
    ask: `http.tcp.web.${S} SRV`,
    reply: data(
      `http.tcp.web.${S}. 5 IN SRV 0 100 80 web.${S}.`,
      `additional: web.${S}. 5 IN A 192.0.2.10`,
    ),
  },
  {
    name: 'a port needs not all underscores',
    ask: `_http.tcp.web.${S} A`,
    reply: data(`_http.tcp.web.${S}. 5 IN A 192.0.2.10`),
  },
  { name: 'a port of another protocol is not', ask: `_http._udp.web.${S} A`, reply: NXDOMAIN },
  { name: 'a port of another name is not', ask: `_ftp._tcp.web.${S} SRV`, reply: NXDOMAIN },
  { name: 'a protocol alone is not', ask: `_tcp.web.${S} SRV`, reply: NXDOMAIN },
  { name: 'a label before a port is not', ask: `x._http._tcp.web.${S} SRV`, reply: NXDOMAIN },
  {
    name: 'an endpoint of a Service with a cluster IP has its address',
    ask: `198-51-100-1.web.${S} A`,
    reply: data(`198-51-100-1.web.${S}. 5 IN A 198.51.100.1`),
  },
  { name: 'an endpoint that is not ready is not', ask: `198-51-100-2.web.${S} A`, reply: NXDOMAIN },
  {
    name: 'an endpoint goes by its Pod when configured so',
    options: ['endpoint_pod_names'],
    ask: `web-a.web.${S} A`,
    reply: data(`web-a.web.${S}. 5 IN A 198.51.100.1`),
  },
  {
    name: 'a headless Service has its endpoints',
    ask: `db.${S} A`,
    reply: data(`db.${S}. 5 IN A 198.51.100.11`, `db.${S}. 5 IN A 198.51.100.12`),
  },
  {
    name: 'a headless Service has the ports of its endpoints',
    ask: `db.${S} SRV`,
    reply: data(
      `db.${S}. 5 IN SRV 0 33 5432 db-0.db.${S}.`,
      `db.${S}. 5 IN SRV 0 33 5432 198-51-100-12.db.${S}.`,
      `additional: db-0.db.${S}. 5 IN A 198.51.100.11`,
      `additional: db-0.db.${S}. 5 IN AAAA 2001:db8::11`,
      `additional: 198-51-100-12.db.${S}. 5 IN A 198.51.100.12`,
    ),
  },
  {
    name: 'an endpoint has its hostname',
    ask: `db-0.db.${S} AAAA`,
    reply: data(`db-0.db.${S}. 5 IN AAAA 2001:db8::11`),
  },
  {
    name: 'an endpoint with a hostname has no other',
    ask: `198-51-100-11.db.${S} A`,
    reply: NXDOMAIN,
  },
  { name: 'a headless Service without endpoints is not', ask: `idle.${S} A`, reply: NXDOMAIN },
  {
    name: 'a headless Service without endpoints is none of any type',
    ask: `idle.${S} TXT`,
    reply: NXDOMAIN,
  },
  {
    name: 'a headless Service is not under noendpoints',
    options: ['noendpoints'],
    ask: `db.${S} A`,
    reply: NXDOMAIN,
  },
  { name: 'a missing Service is not', ask: `nosuch.${S} A`, reply: NXDOMAIN },
  { name: 'an asterisk is a name like others', ask: `*.${S} A`, reply: NXDOMAIN },
  { name: 'a namespace exists', ask: `${S} A`, reply: NODATA },
  { name: 'a namespace without Services exists', ask: 'empty.svc.cluster.local A', reply: NODATA },
  {
    name: 'a missing namespace is not',
    ask: 'nosuch.svc.cluster.local A',
    reply: NXDOMAIN,
  },
  {
    name: 'a namespace that is not served is not',
    options: ['namespaces empty'],
    ask: `web.${S} A`,
    reply: NXDOMAIN,
  },
  { name: 'svc exists', ask: 'svc.cluster.local A', reply: NODATA },
  { name: 'pod exists', ask: 'pod.cluster.local A', reply: NODATA },
  { name: 'the apex exists', ask: 'cluster.local A', reply: NODATA },
  { name: 'another tree is not', ask: 'endpoints.cluster.local A', reply: NXDOMAIN },
  { name: 'a Service is not without its tree', ask: 'web.shop.cluster.local A', reply: NXDOMAIN },
  {
    name: 'the version is the one of the schema',
    ask: 'dns-version.cluster.local TXT',
    reply: data('dns-version.cluster.local. 28800 IN TXT "1.1.0"'),
  },
  {
    name: 'the name server has its address',
    ask: 'ns.dns.cluster.local AAAA',
    reply: data('ns.dns.cluster.local. 5 IN AAAA 2001:db8::53'),
  },
  { name: 'a Service has no name server', ask: `web.${S} NS`, reply: NODATA },
  {
    name: 'all TTLs are what the option says',
    options: ['ttl 30'],
    ask: `web.${S} A`,
    reply: data(`web.${S}. 30 IN A 192.0.2.10`),
  },
]

const INSECURE = ['pods insecure']
const VERIFIED = ['pods verified']

/** Names of Pods. */
export const POD_CASES: readonly NameCase[] = [
  { name: 'Pods are not', ask: `198-51-100-1.${P} A`, reply: NXDOMAIN },
  { name: 'Pods of a namespace are not', ask: `${P} A`, reply: NXDOMAIN },
  {
    name: 'any address is, insecurely',
    options: INSECURE,
    ask: `1-2-3-4.${P} A`,
    reply: data(`1-2-3-4.${P}. 5 IN A 1.2.3.4`),
  },
  {
    name: 'an address has no other family',
    options: INSECURE,
    ask: `1-2-3-4.${P} AAAA`,
    reply: NODATA,
  },
  {
    name: 'an address has no other types',
    options: INSECURE,
    ask: `1-2-3-4.${P} TXT`,
    reply: NODATA,
  },
  {
    name: 'an address has SRV, for want of a port with 0',
    options: INSECURE,
    ask: `x.1-2-3-4.${P} SRV`,
    reply: data(
      `x.1-2-3-4.${P}. 5 IN SRV 0 100 0 1-2-3-4.${P}.`,
      `additional: 1-2-3-4.${P}. 5 IN A 1.2.3.4`,
    ),
  },
  {
    name: 'an IPv6 address is',
    options: INSECURE,
    ask: `2001-db8--1.${P} AAAA`,
    reply: data(`2001-db8--1.${P}. 5 IN AAAA 2001:db8::1`),
  },
  { name: 'an IPv6 address has no A', options: INSECURE, ask: `2001-db8--1.${P} A`, reply: NODATA },
  {
    name: 'an address takes no leading zeros',
    options: INSECURE,
    ask: `01-2-3-4.${P} A`,
    reply: NXDOMAIN,
  },
  {
    name: 'an address takes no number over 255',
    options: INSECURE,
    ask: `256-2-3-4.${P} A`,
    reply: NXDOMAIN,
  },
  { name: 'a word is not an address', options: INSECURE, ask: `web-a.${P} A`, reply: NXDOMAIN },
  {
    name: 'an address has the TTL of the option',
    options: [...INSECURE, 'ttl 60'],
    ask: `1-2-3-4.${P} A`,
    reply: data(`1-2-3-4.${P}. 60 IN A 1.2.3.4`),
  },
  {
    name: 'an address is in a namespace',
    options: INSECURE,
    ask: '1-2-3-4.nosuch.pod.cluster.local A',
    reply: NXDOMAIN,
  },
  {
    name: 'an address is in no tree of Services',
    options: INSECURE,
    ask: `1-2-3-4.${S} A`,
    reply: NXDOMAIN,
  },
  {
    name: 'a label before an address does not matter',
    options: INSECURE,
    ask: `x.1-2-3-4.${P} A`,
    reply: data(`x.1-2-3-4.${P}. 5 IN A 1.2.3.4`),
  },
  {
    name: 'two labels before an address do not matter',
    options: INSECURE,
    ask: `y.x.1-2-3-4.${P} A`,
    reply: data(`y.x.1-2-3-4.${P}. 5 IN A 1.2.3.4`),
  },
  {
    name: 'three labels before an address do',
    options: INSECURE,
    ask: `z.y.x.1-2-3-4.${P} A`,
    reply: NXDOMAIN,
  },
  { name: 'Pods of a namespace exist', options: INSECURE, ask: `${P} A`, reply: NODATA },
  {
    name: 'a Pod is',
    options: VERIFIED,
    ask: `198-51-100-1.${P} A`,
    reply: data(`198-51-100-1.${P}. 5 IN A 198.51.100.1`),
  },
  {
    name: 'a Pod that has ended is not',
    options: VERIFIED,
    ask: `198-51-100-9.${P} A`,
    reply: NXDOMAIN,
  },
  {
    name: 'an address without a Pod is not',
    options: VERIFIED,
    ask: `1-2-3-4.${P} A`,
    reply: NXDOMAIN,
  },
  {
    name: 'a label before a Pod does not matter',
    options: VERIFIED,
    ask: `x.198-51-100-1.${P} A`,
    reply: data(`x.198-51-100-1.${P}. 5 IN A 198.51.100.1`),
  },
  {
    name: 'Pods of a namespace without any exist',
    options: VERIFIED,
    ask: 'empty.pod.cluster.local A',
    reply: NODATA,
  },
]
