import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { EndpointSlice } from '../../../src/cluster/objects/objects.ts'
import { findServed } from '../../../src/cluster/objects/selection.ts'
import { serviceKeys } from '../../../src/cluster/trees/cluster-records.ts'
import { serviceRecords } from '../../../src/cluster/trees/service-records.ts'
import { toLatin1 } from '../../../src/dns/bytes/bytes.ts'
import { isByAddress, type ZoneEntry } from '../../../src/snapshot/records/zone-entry.ts'
import { clusterRecords } from '../cluster-names.ts'
import { clusterOf, optionsOf } from '../naming.ts'
import { clusterAfter, objects, options } from '../random-cluster.ts'
import { CLUSTER } from '../specification-cases.ts'

describe('warnings of a cluster', () => {
  const service = (name: string, spec: string): string =>
    `- { kind: Service, metadata: { name: ${name} }, spec: { ${spec} } }`
  const cases: { name: string; objects: string[]; warnings: RegExp[] }[] = [
    { name: 'are none for a cluster that can be named', objects: [CLUSTER], warnings: [] },
    {
      name: 'warn of each object that cannot be named, once',
      objects: [
        service('a.b', 'clusterIP: 192.0.2.1, ports: [{ name: x.y }]'),
        service('c', 'clusterIP: pending, ports: [{ name: x.y }]'),
        service('d', 'type: ExternalName, externalName: 192.0.2.1'),
        service('e', 'clusterIP: 192.0.2.2'),
        `- kind: EndpointSlice
  metadata: { name: e-1, labels: { kubernetes.io/service-name: e } }
  endpoints: [{ addresses: [x..y], hostname: a.b }, { addresses: [x..y] }]
  ports: [{ name: x.y }]`,
        `- kind: EndpointSlice
  metadata: { name: e-2, labels: { kubernetes.io/service-name: e } }
  endpoints: [{ addresses: [x..y] }]`,
      ],
      warnings: [
        /^Service default\/a\.b: its name "a\.b" /,
        /^Service default\/c: cluster IP "pending" /,
        /^Service default\/d: externalName "192\.0\.2\.1" /,
        /^EndpointSlice default\/e-1: hostname "a\.b" /,
        /^EndpointSlice default\/e-2: "x\.\.y" /,
      ],
    },
    {
      name: 'are none for objects of namespaces that are not served',
      objects: [
        '- { kind: Namespace, metadata: { name: shop } }',
        service('a.b', 'clusterIP: 192.0.2.1'),
      ],
      warnings: [],
    },
    {
      name: 'are none for slices without a Service',
      objects: [
        `- kind: EndpointSlice
  metadata: { name: e-1, labels: { kubernetes.io/service-name: e } }
  endpoints: [{ addresses: [x..y] }]`,
      ],
      warnings: [],
    },
  ]
  for (const { name, objects, warnings } of cases) {
    test(name, () => {
      const found = clusterRecords(clusterOf(objects.join('\n')), optionsOf()).warnings
      assert.equal(found.length, warnings.length, found.join('\n'))
      warnings.forEach((wanted, i) => {
        assert.match(found[i] ?? '', wanted)
      })
    })
  }
})

describe('a part of a Service', () => {
  /** Names, or pointers, as sorted text. */
  const texts = (entries: readonly ZoneEntry[], isPointer: boolean): string[] =>
    entries
      .flatMap((entry) => {
        if (isByAddress(entry) !== isPointer) return []
        return [isByAddress(entry) ? toLatin1(entry.address) : toLatin1(entry.owner)]
      })
      .sort()

  test('has the same entries as the whole, for the needed part', () => {
    fc.assert(
      fc.property(objects, options, fc.boolean(), (some, naming, hasNames) => {
        const cluster = clusterAfter(some)
        const served = findServed(cluster, naming)
        const isWanted = (address: Uint8Array): boolean => (address.at(-1) ?? 0) % 2 === 0
        const placesOf = ({ endpoints }: EndpointSlice): ReadonlySet<number> => {
          const addresses = endpoints.unpack().flatMap((endpoint) => endpoint.addresses)
          const count = addresses.length
          return new Set(Array.from({ length: count }, (_, place) => place))
        }
        const part = { hasNames, takesAddress: isWanted, placesOf }
        for (const key of serviceKeys(cluster, naming)) {
          const whole = serviceRecords(cluster, key, { served, options: naming }).entries
          const found = serviceRecords(cluster, key, { served, options: naming, part }).entries
          assert.deepEqual(texts(found, false), hasNames ? texts(whole, false) : [])
          const own = (entry: ZoneEntry): boolean =>
            entry.kind === 'pointer' && entry.isYielding !== true && !isWanted(entry.address)
          assert.deepEqual(
            texts(found, true),
            texts(
              whole.filter((one) => !own(one)),
              true,
            ),
          )
        }
      }),
    )
  })
})
