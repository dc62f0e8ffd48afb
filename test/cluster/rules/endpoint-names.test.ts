import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { labelOf } from '../../../src/cluster/objects/labels.ts'
import type { EndpointSlice } from '../../../src/cluster/objects/objects.ts'
import { endpointLabel, endpointNames } from '../../../src/cluster/rules/endpoint-names.ts'
import { endpointBackends } from '../../../src/cluster/rules/named-slices.ts'
import { concatBytes, EMPTY } from '../../../src/dns/bytes/bytes.ts'
import { formatName, ROOT } from '../../../src/dns/names/name.ts'
import { clusterOf, formatEntries, linesOf } from '../naming.ts'

const owner = labelOf('db') ?? EMPTY

/** Slices, each given by its fields in YAML's flow form. */
function slicesOf(...bodies: readonly string[]): EndpointSlice[] {
  const objects = bodies.map((body, i) => {
    return `- { kind: EndpointSlice, metadata: { name: s${i} }, ${body} }`
  })
  return [...clusterOf(objects.join('\n')).slices.values()]
}

describe('endpointNames', () => {
  const cases: { name: string; slices: string[]; lines: string }[] = [
    {
      name: 'calls an endpoint by its hostname',
      slices: ['endpoints: [{ addresses: [192.0.2.1], hostname: db-0 }]'],
      lines: 'db-0.db 5 A 192.0.2.1',
    },
    {
      name: 'calls an endpoint without one by its address',
      slices: ['endpoints: [{ addresses: [192.0.2.1] }, { addresses: [2001:db8::1] }]'],
      lines: `
        192-0-2-1.db 5 A 192.0.2.1
        2001-db8--1.db 5 AAAA 2001:db8::1`,
    },
    {
      name: 'gives a name that endpoints share the addresses of all that are ready',
      slices: [
        `endpoints: [
          { addresses: [192.0.2.3], hostname: db, conditions: { ready: false } },
          { addresses: [192.0.2.1], hostname: db },
          { addresses: [192.0.2.2], hostname: DB }]`,
        'endpoints: [{ addresses: [2001:db8::1], hostname: db }]',
      ],
      lines: `
        db.db 5 A 192.0.2.1
        db.db 5 A 192.0.2.2
        db.db 5 AAAA 2001:db8::1`,
    },
    {
      name: 'names each address of an endpoint',
      slices: ['endpoints: [{ addresses: [192.0.2.1, 192.0.2.2] }]'],
      lines: `
        192-0-2-1.db 5 A 192.0.2.1
        192-0-2-2.db 5 A 192.0.2.2`,
    },
    {
      name: 'splits the weight at a name over what is at that name',
      slices: [
        `endpoints: [{ addresses: [192.0.2.1], hostname: a }, { addresses: [192.0.2.2] }],
         ports: [{ name: x, port: 1 }, { name: y, port: 2 }]`,
      ],
      lines: `
        a.db 5 A 192.0.2.1
        a.db 5 SRV 0 50 1 a.db
        a.db 5 SRV 0 50 2 a.db
        192-0-2-2.db 5 A 192.0.2.2
        192-0-2-2.db 5 SRV 0 50 1 192-0-2-2.db
        192-0-2-2.db 5 SRV 0 50 2 192-0-2-2.db`,
    },
    {
      name: 'has an address without SRV when the slice leaves its port open',
      slices: ['endpoints: [{ addresses: [192.0.2.1] }], ports: [{ name: x, port: null }]'],
      lines: '192-0-2-1.db 5 A 192.0.2.1',
    },
    {
      name: 'has a CNAME for a hostname',
      slices: ['endpoints: [{ addresses: [db.example.org], hostname: a }]'],
      lines: 'a.db 5 CNAME db.example.org.',
    },
    {
      name: 'leaves out a hostname that is too long to be spelled as a label',
      slices: [`endpoints: [{ addresses: [${'a.'.repeat(30)}example.org, db.example.org] }]`],
      lines: 'db-example-org.db 5 CNAME db.example.org.',
    },
    { name: 'has none without endpoints', slices: ['endpoints: null, ports: null'], lines: '' },
  ]
  for (const { name, slices, lines } of cases) {
    test(name, () => {
      const backends = endpointBackends(owner, slicesOf(...slices), false)
      const sets = endpointNames({ owner, namespace: '', ttlSeconds: 5 }, backends)
      assert.deepEqual(formatEntries(sets), linesOf(lines))
    })
  }
})

describe('endpointLabel', () => {
  const pod63 = 'p'.repeat(63)
  type Names = { readonly hostname?: string; readonly targetName?: string }
  const cases: { name: string; names: Names; address: string; plain: string; byPod: string }[] = [
    {
      name: 'prefers the hostname',
      names: { hostname: 'db-0', targetName: 'pod-0' },
      address: '192.0.2.1',
      plain: 'db-0.',
      byPod: 'db-0.',
    },
    {
      name: 'then takes the name of the Pod, if that is requested',
      names: { targetName: 'pod-0' },
      address: '192.0.2.1',
      plain: '192-0-2-1.',
      byPod: 'pod-0.',
    },
    {
      name: 'takes a dotted name of a Pod as several labels',
      names: { targetName: 'pod.0.x' },
      address: '192.0.2.1',
      plain: '192-0-2-1.',
      byPod: 'pod.0.x.',
    },
    {
      name: 'takes the name of a Pod of 63 characters',
      names: { targetName: pod63 },
      address: '192.0.2.1',
      plain: '192-0-2-1.',
      byPod: `${pod63}.`,
    },
    {
      name: 'takes no name of a Pod of 64 characters',
      names: { targetName: `${pod63}p` },
      address: '192.0.2.1',
      plain: '192-0-2-1.',
      byPod: '192-0-2-1.',
    },
    {
      name: 'takes no dotted name of a Pod of 64 characters, whose labels are shorter',
      names: { targetName: `${'p'.repeat(32)}.${'p'.repeat(31)}` },
      address: '192.0.2.1',
      plain: '192-0-2-1.',
      byPod: '192-0-2-1.',
    },
    {
      name: 'takes no name of a Pod with an empty label',
      names: { targetName: 'pod..0' },
      address: '192.0.2.1',
      plain: '192-0-2-1.',
      byPod: '192-0-2-1.',
    },
    {
      name: 'passes over a hostname that is not a label',
      names: { hostname: 'db.0' },
      address: '192.0.2.1',
      plain: '192-0-2-1.',
      byPod: '192-0-2-1.',
    },
    {
      name: 'writes a zero after the dash that an IPv6 address ends in',
      names: {},
      address: '2001:db8::',
      plain: '2001-db8--0.',
      byPod: '2001-db8--0.',
    },
    {
      name: 'keeps the dash that an IPv6 address begins with',
      names: {},
      address: '::1',
      plain: '--1.',
      byPod: '--1.',
    },
    {
      name: 'writes no zero after a hostname',
      names: {},
      address: 'db.example.org.',
      plain: 'db-example-org-.',
      byPod: 'db-example-org-.',
    },
  ]
  for (const { name, names, address, plain, byPod } of cases) {
    test(name, () => {
      const endpoint = {
        addresses: [address],
        hostname: '',
        targetName: '',
        zone: '',
        isReady: true,
        ...names,
      }
      const format = (labels = EMPTY): string => formatName(concatBytes(labels, ROOT))
      assert.equal(format(endpointLabel(endpoint, address, false)), plain)
      assert.equal(format(endpointLabel(endpoint, address, true)), byPod)
    })
  }

  test('finds none for an address too long for a label', () => {
    const address = `${'a.'.repeat(30)}example.org`
    const endpoint = { addresses: [address], hostname: '', targetName: '', zone: '', isReady: true }
    assert.equal(endpointLabel(endpoint, address, true), undefined)
  })
})
