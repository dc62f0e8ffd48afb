import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameserverNames } from '../../../src/cluster/rules/nameserver-names.ts'
import { concatBytes } from '../../../src/dns/bytes/bytes.ts'
import { formatName, ROOT } from '../../../src/dns/names/name.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import { NS_DNS, SERVER_CHOICES_TYPE } from '../../../src/snapshot/records/server-choice.ts'
import { clusterOf, linesOf, type NamingCase, namesOf, optionsOf } from '../naming.ts'

const DNS_SERVICE = `
  - kind: Service
    metadata: { name: kube-dns, namespace: kube-system }
    spec: { clusterIPs: [192.0.2.10, 2001:db8::10], ports: [{ name: dns, port: 53 }] }
  - kind: EndpointSlice
    metadata:
      name: kube-dns-1
      namespace: kube-system
      labels: { kubernetes.io/service-name: kube-dns }
    endpoints:
      - { addresses: [198.51.100.9, 198.51.100.1] }
      - { addresses: [198.51.100.2], conditions: { ready: false } }
    ports: [{ name: dns, port: 53 }, { name: metrics, port: 9153 }]`

describe('nameserverNames', () => {
  const cases: NamingCase[] = [
    {
      name: 'are the Services that have an address of the server among their endpoints',
      objects: DNS_SERVICE,
      options: { localAddresses: ['203.0.113.9', '198.51.100.1'], ttlSeconds: 30 },
      lines: `
        @ 30 NS kube-dns.kube-system.svc
        ns.dns 30 A 192.0.2.10
        ns.dns 30 AAAA 2001:db8::10
        kube-dns.kube-system.svc 30 A 192.0.2.10 ; glue
        kube-dns.kube-system.svc 30 AAAA 2001:db8::10 ; glue`,
    },
    {
      name: 'are ns.dns with the addresses of the server when no Service has them',
      objects: DNS_SERVICE,
      options: { localAddresses: ['203.0.113.9', '2001:db8::9'] },
      lines: `
        @ 5 NS ns.dns
        ns.dns 5 A 203.0.113.9
        ns.dns 5 AAAA 2001:db8::9
        ns.dns 5 A 203.0.113.9 ; glue
        ns.dns 5 AAAA 2001:db8::9 ; glue`,
    },
    {
      name: 'do not count an endpoint that is not ready',
      objects: DNS_SERVICE,
      options: { localAddresses: ['198.51.100.2'] },
      lines: `
        @ 5 NS ns.dns
        ns.dns 5 A 198.51.100.2
        ns.dns 5 A 198.51.100.2 ; glue`,
    },
    {
      name: 'are not looked for among endpoints when these are not served',
      objects: DNS_SERVICE,
      options: { localAddresses: ['198.51.100.1'], hasEndpoints: false },
      lines: `
        @ 5 NS ns.dns
        ns.dns 5 A 198.51.100.1
        ns.dns 5 A 198.51.100.1 ; glue`,
    },
    {
      name: 'are all ready endpoints of a headless Service',
      objects: `
        - { kind: Service, metadata: { name: dns }, spec: { clusterIP: None } }
        - kind: EndpointSlice
          metadata: { name: dns-1, labels: { kubernetes.io/service-name: dns } }
          endpoints:
            - { addresses: [198.51.100.1], hostname: a, targetRef: { name: pod-a } }
            - { addresses: [198.51.100.2], targetRef: { name: pod-b } }
            - { addresses: [198.51.100.3], conditions: { ready: false } }
          ports: [{ name: dns, port: 53 }, { name: metrics, port: 9153 }]`,
      options: { localAddresses: ['198.51.100.1'], usesPodNames: true },
      lines: `
        @ 5 NS a.dns.default.svc
        @ 5 NS pod-b.dns.default.svc
        ns.dns 5 A 198.51.100.1
        ns.dns 5 A 198.51.100.2
        a.dns.default.svc 5 A 198.51.100.1 ; glue
        pod-b.dns.default.svc 5 A 198.51.100.2 ; glue`,
    },
    {
      name: 'are several Services when several have the address',
      objects: `
        - { kind: Service, metadata: { name: a }, spec: { clusterIP: 192.0.2.1 } }
        - { kind: Service, metadata: { name: b }, spec: { clusterIP: 192.0.2.2 } }
        - kind: EndpointSlice
          metadata: { name: a-1, labels: { kubernetes.io/service-name: a } }
          endpoints: [{ addresses: [198.51.100.1] }]
        - kind: EndpointSlice
          metadata: { name: b-1, labels: { kubernetes.io/service-name: b } }
          endpoints: [{ addresses: [198.51.100.1] }]`,
      options: { localAddresses: ['198.51.100.1'] },
      lines: `
        @ 5 NS a.default.svc
        @ 5 NS b.default.svc
        ns.dns 5 A 192.0.2.1
        ns.dns 5 A 192.0.2.2
        a.default.svc 5 A 192.0.2.1 ; glue
        b.default.svc 5 A 192.0.2.2 ; glue`,
    },
    {
      name: 'are none when only slices of no Service have the address',
      objects: `
        - kind: EndpointSlice
          metadata: { name: a-1, labels: { kubernetes.io/service-name: a } }
          endpoints: [{ addresses: [198.51.100.1] }]`,
      options: { localAddresses: ['198.51.100.1'] },
      lines: '',
    },
    {
      name: 'are none when the server has no address',
      objects: DNS_SERVICE,
      options: { localAddresses: [] },
      lines: '',
    },
    {
      name: 'pass over what is not an address of the server',
      objects: '',
      options: { localAddresses: ['dns.example.org', 'fe80::1%eth0', '203.0.113.9'] },
      lines: `
        @ 5 NS ns.dns
        ns.dns 5 A 203.0.113.9
        ns.dns 5 A 203.0.113.9 ; glue`,
    },
  ]
  for (const { name, lines, ...given } of cases) {
    test(name, () => {
      assert.deepEqual(namesOf(given, nameserverNames), linesOf(lines))
    })
  }

  test('are named once each', () => {
    const sets = nameserverNames(
      clusterOf(DNS_SERVICE),
      optionsOf({ localAddresses: ['198.51.100.1'] }),
    )
    assert.equal(sets.find(({ type }) => type === TYPE.NS)?.rdata.length, 1)
  })

  for (const [what, objects] of [
    ['of a Service', DNS_SERVICE],
    ['without a Service', `\n  ${DNS_SERVICE.slice(DNS_SERVICE.indexOf('- kind: EndpointSlice'))}`],
  ] as const) {
    test(`are one choice each, with several slices ${what}`, () => {
      const slice = DNS_SERVICE.slice(DNS_SERVICE.indexOf('- kind: EndpointSlice'))
      const more = slice.replace('name: kube-dns-1', 'name: kube-dns-2')
      const options = optionsOf({ localAddresses: ['198.51.100.1'] })
      const choicesOf = (text: string): readonly string[] =>
        nameserverNames(clusterOf(text), options)
          .filter(({ type }) => type === SERVER_CHOICES_TYPE)
          .flatMap(({ rdata }) => rdata.map(({ bytes }) => bytes.join()))
      assert.deepEqual(choicesOf(`${objects}\n  ${more}`), choicesOf(objects))
    })
  }

  test('stand in an order that does not depend on that of events', () => {
    const objects = ['a', 'b'].flatMap((name) => [
      `- { kind: Service, metadata: { name: ${name} }, spec: { clusterIP: None } }`,
      `- kind: EndpointSlice
  metadata: { name: ${name}-1, labels: { kubernetes.io/service-name: ${name} } }
  endpoints: [{ addresses: [198.51.100.1] }]`,
    ])
    const options = optionsOf({ localAddresses: ['198.51.100.1'] })
    const [forth, back] = [objects, objects.toReversed()].map((list) =>
      nameserverNames(clusterOf(list.join('\n')), options),
    )
    assert.deepEqual(forth, back)
  })

  test('give nobody sight of a namespace', () => {
    const options = optionsOf({ localAddresses: ['198.51.100.1'] })
    const sets = nameserverNames(clusterOf(DNS_SERVICE), options)
    const namespaces = sets.map(
      ({ owner, namespace }) => `${formatName(concatBytes(owner, ROOT))} ${namespace}`,
    )
    assert.deepEqual([...new Set(namespaces)].sort(), [
      '. ',
      '_ns. ',
      'kube-dns.kube-system.svc. kube-system',
      'ns.dns. ',
    ])
  })
})

describe('NS_DNS', () => {
  test('is the name that SOA records give', () => {
    assert.equal(formatName(concatBytes(NS_DNS, ROOT)), 'ns.dns.')
  })
})
