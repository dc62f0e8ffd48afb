/**
 * The records that the Kubernetes DNS specification 1.1.0 asks for, clause by clause, for one
 * cluster with everything in it.
 * @module
 */

/** One Service of each kind that the specification knows. */
export const CLUSTER = `
  - { kind: Namespace, metadata: { name: default } }
  - { kind: Namespace, metadata: { name: shop } }
  - kind: Service
    metadata: { name: kubernetes, namespace: default }
    spec: { clusterIP: 192.0.2.1, ports: [{ name: https, port: 443, protocol: TCP }] }
  - kind: Service
    metadata: { name: web, namespace: shop }
    spec:
      clusterIPs: [192.0.2.80, 2001:db8::80]
      ports:
        - { name: dns, port: 53, protocol: UDP }
        - { name: dns-tcp, port: 53, protocol: TCP }
        - { port: 9000, protocol: TCP }
  - kind: Service
    metadata: { name: db, namespace: shop }
    spec: { clusterIP: None, ports: [{ name: pg, port: 5432 }, { name: admin, port: 9000 }] }
  - kind: EndpointSlice
    metadata: { name: db-v4, namespace: shop, labels: { kubernetes.io/service-name: db } }
    addressType: IPv4
    endpoints:
      - { addresses: [198.51.100.1], hostname: db-0, conditions: { ready: true } }
      - { addresses: [198.51.100.2], conditions: { ready: null } }
      - { addresses: [198.51.100.3], hostname: db-2, conditions: { ready: false } }
    ports: [{ name: pg, port: 5432 }, { name: admin, port: 9000 }]
  - kind: EndpointSlice
    metadata: { name: db-v6, namespace: shop, labels: { kubernetes.io/service-name: db } }
    addressType: IPv6
    endpoints: [{ addresses: [2001:db8:1::1], hostname: db-0, conditions: { ready: true } }]
    ports: [{ name: pg, port: 5432 }, { name: admin, port: 9000 }]
  - kind: Service
    metadata: { name: empty, namespace: shop }
    spec: { clusterIP: None, ports: [{ name: pg, port: 5432 }] }
  - kind: EndpointSlice
    metadata: { name: empty-1, namespace: shop, labels: { kubernetes.io/service-name: empty } }
    endpoints: [{ addresses: [198.51.100.9], conditions: { ready: false } }]
    ports: [{ name: pg, port: 5432 }]
  - kind: Service
    metadata: { name: ext, namespace: shop }
    spec: { type: ExternalName, externalName: www.example.org }
`

const v6 = (address: string): string => `${[...address].reverse().join('.')}.ip6.arpa.`
const WEB_V6 = v6(`20010db8${'0'.repeat(22)}80`)
const DB_V6 = v6(`20010db80001${'0'.repeat(19)}1`)

/** What each clause makes of the cluster: together they are all of its names. */
export const CLAUSES: readonly { readonly clause: string; readonly lines: string }[] = [
  { clause: '2.2 Record for Schema Version', lines: 'dns-version 28800 TXT "1.1.0"' },
  {
    clause: '2.3.1 ClusterIP: A and AAAA',
    lines: `
      kubernetes.default.svc 5 A 192.0.2.1
      web.shop.svc 5 A 192.0.2.80
      web.shop.svc 5 AAAA 2001:db8::80`,
  },
  {
    clause: '2.3.2 ClusterIP: SRV for named ports',
    lines: `
      _https._tcp.kubernetes.default.svc 5 SRV 0 100 443 kubernetes.default.svc
      _dns._udp.web.shop.svc 5 SRV 0 50 53 web.shop.svc
      _dns-tcp._tcp.web.shop.svc 5 SRV 0 50 53 web.shop.svc`,
  },
  {
    clause: '2.3.3 ClusterIP: PTR',
    lines: `
      1.2.0.192.in-addr.arpa. 5 PTR kubernetes.default.svc
      80.2.0.192.in-addr.arpa. 5 PTR web.shop.svc
      ${WEB_V6} 5 PTR web.shop.svc`,
  },
  {
    clause: '2.4.1 Headless: A and AAAA of ready endpoints, and below their host names',
    lines: `
      db.shop.svc 5 A 198.51.100.1
      db.shop.svc 5 A 198.51.100.2
      db.shop.svc 5 AAAA 2001:db8:1::1
      db-0.db.shop.svc 5 A 198.51.100.1
      db-0.db.shop.svc 5 AAAA 2001:db8:1::1
      198-51-100-2.db.shop.svc 5 A 198.51.100.2`,
  },
  {
    clause: '2.4.2 Headless: SRV for each ready endpoint and named port',
    lines: `
      _pg._tcp.db.shop.svc 5 SRV 0 33 5432 db-0.db.shop.svc
      _pg._tcp.db.shop.svc 5 SRV 0 33 5432 198-51-100-2.db.shop.svc
      _admin._tcp.db.shop.svc 5 SRV 0 33 9000 db-0.db.shop.svc
      _admin._tcp.db.shop.svc 5 SRV 0 33 9000 198-51-100-2.db.shop.svc`,
  },
  {
    clause: '2.4.3 Headless: PTR of ready endpoints',
    lines: `
      1.100.51.198.in-addr.arpa. 5 PTR db-0.db.shop.svc
      2.100.51.198.in-addr.arpa. 5 PTR 198-51-100-2.db.shop.svc
      ${DB_V6} 5 PTR db-0.db.shop.svc`,
  },
  { clause: '2.5 External name: CNAME', lines: 'ext.shop.svc 5 CNAME www.example.org.' },
  {
    clause: '3 Extensions, as CoreDNS has them: names that exist without records',
    lines: `
      @ exists
      svc exists
      pod exists
      ns.dns exists
      default.svc exists
      shop.svc exists`,
  },
  {
    clause: '3 Extensions, as CoreDNS has them: addresses at the names of ports',
    lines: `
      _https._tcp.kubernetes.default.svc 5 A 192.0.2.1
      _dns._udp.web.shop.svc 5 A 192.0.2.80
      _dns._udp.web.shop.svc 5 AAAA 2001:db8::80
      _dns-tcp._tcp.web.shop.svc 5 A 192.0.2.80
      _dns-tcp._tcp.web.shop.svc 5 AAAA 2001:db8::80
      _pg._tcp.db.shop.svc 5 A 198.51.100.1
      _pg._tcp.db.shop.svc 5 A 198.51.100.2
      _pg._tcp.db.shop.svc 5 AAAA 2001:db8:1::1
      _admin._tcp.db.shop.svc 5 A 198.51.100.1
      _admin._tcp.db.shop.svc 5 A 198.51.100.2
      _admin._tcp.db.shop.svc 5 AAAA 2001:db8:1::1`,
  },
  {
    clause: '3 Extensions, as CoreDNS has them: all ports at the names of Services and endpoints',
    lines: `
      kubernetes.default.svc 5 SRV 0 100 443 kubernetes.default.svc
      web.shop.svc 5 SRV 0 16 53 web.shop.svc
      web.shop.svc 5 SRV 0 16 9000 web.shop.svc
      db.shop.svc 5 SRV 0 16 5432 db-0.db.shop.svc
      db.shop.svc 5 SRV 0 16 9000 db-0.db.shop.svc
      db.shop.svc 5 SRV 0 16 5432 198-51-100-2.db.shop.svc
      db.shop.svc 5 SRV 0 16 9000 198-51-100-2.db.shop.svc
      db-0.db.shop.svc 5 SRV 0 25 5432 db-0.db.shop.svc
      db-0.db.shop.svc 5 SRV 0 25 9000 db-0.db.shop.svc
      198-51-100-2.db.shop.svc 5 SRV 0 50 5432 198-51-100-2.db.shop.svc
      198-51-100-2.db.shop.svc 5 SRV 0 50 9000 198-51-100-2.db.shop.svc`,
  },
]
