import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { joinLabels, labelOf } from '../../../src/cluster/objects/labels.ts'
import { backendsOf } from '../../../src/cluster/rules/backend-records.ts'
import { portNames } from '../../../src/cluster/rules/port-names.ts'
import { linesOf, namesOf, type Rule } from '../naming.ts'

/** The names of the ports of a Service with one address. */
const ports: Rule = (cluster) =>
  [...cluster.services.values()].flatMap(({ name, namespace, clusterIPs, ports }) => {
    const owner = joinLabels(labelOf(name)) ?? new Uint8Array()
    const backends = clusterIPs.flatMap((host) => backendsOf(host, owner, ports))
    return portNames({ owner, namespace, ttlSeconds: 5 }, backends)
  })

describe('portNames', () => {
  const name63 = 'a'.repeat(63)
  const name62 = 'b'.repeat(62)
  const cases: { name: string; ports: string; lines: string }[] = [
    {
      name: 'has a name for each named port',
      ports: '{ name: http, port: 80 }, { name: https, port: 443, protocol: TCP }',
      lines: `
        _http._tcp.web 5 A 192.0.2.1
        _http._tcp.web 5 SRV 0 100 80 web
        _https._tcp.web 5 A 192.0.2.1
        _https._tcp.web 5 SRV 0 100 443 web`,
    },
    { name: 'has none for a port without a name', ports: '{ port: 80 }', lines: '' },
    { name: 'has none without ports', ports: '', lines: '' },
    {
      name: 'distinguishes protocols, also on one port with one name',
      ports: [
        '{ name: dns, port: 53, protocol: UDP }',
        '{ name: dns, port: 53, protocol: TCP }',
        '{ name: dns, port: 53, protocol: SCTP }',
      ].join(),
      lines: `
        _dns._sctp.web 5 A 192.0.2.1
        _dns._sctp.web 5 SRV 0 100 53 web
        _dns._tcp.web 5 A 192.0.2.1
        _dns._tcp.web 5 SRV 0 100 53 web
        _dns._udp.web 5 A 192.0.2.1
        _dns._udp.web 5 SRV 0 100 53 web`,
    },
    {
      name: 'joins ports that differ by letter case only',
      ports: '{ name: HTTP, port: 80 }, { name: http, port: 8080 }',
      lines: `
        _http._tcp.web 5 A 192.0.2.1
        _http._tcp.web 5 SRV 0 50 80 web
        _http._tcp.web 5 SRV 0 50 8080 web`,
    },
    {
      name: 'leaves the underscore out where there is no room for it',
      ports: `{ name: ${name63}, port: 80 }`,
      lines: `
        ${name63}._tcp.web 5 A 192.0.2.1
        ${name63}._tcp.web 5 SRV 0 100 80 web`,
    },
    {
      name: 'writes the underscore where there is just room for it',
      ports: `{ name: ${name62}, port: 80 }`,
      lines: `
        _${name62}._tcp.web 5 A 192.0.2.1
        _${name62}._tcp.web 5 SRV 0 100 80 web`,
    },
    {
      name: 'has none for names that are not labels, and continues',
      ports: [
        '{ name: a.b, port: 1 }',
        '{ name: a b, port: 2 }',
        `{ name: ${'c'.repeat(64)}, port: 3 }`,
        '{ name: ok, port: 4 }',
      ].join(),
      lines: `
        _ok._tcp.web 5 A 192.0.2.1
        _ok._tcp.web 5 SRV 0 100 4 web`,
    },
    {
      name: 'has an address, but no SRV record, for a port without a number',
      ports: '{ name: any }',
      lines: '_any._tcp.web 5 A 192.0.2.1',
    },
  ]
  for (const { name, ports: list, lines } of cases) {
    test(name, () => {
      const objects = `
        - kind: Service
          metadata: { name: web }
          spec: { clusterIP: 192.0.2.1, ports: [${list}] }`
      assert.deepEqual(namesOf({ objects }, ports), linesOf(lines))
    })
  }
})
