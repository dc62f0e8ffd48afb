import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { NamingOptions } from '../../../src/cluster/objects/options.ts'
import { concatBytes } from '../../../src/dns/bytes/bytes.ts'
import { formatName, lowerName, nameOf, parseName, ROOT } from '../../../src/dns/names/name.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import { isValidRdata } from '../../../src/dns/wire/rdata-wire.ts'
import { isByAddress, type ZoneEntry } from '../../../src/snapshot/records/zone-entry.ts'
import { buildShards } from '../../../src/snapshot/write/build-shards.ts'
import { clusterRecords } from '../cluster-names.ts'
import { clusterOf, linesOf, type NamingCase, namesOf, optionsOf, selectorOf } from '../naming.ts'
import { clusterAfter, objects, options } from '../random-cluster.ts'
import { CLAUSES, CLUSTER } from '../specification-cases.ts'

describe('the Kubernetes DNS specification 1.1.0', () => {
  for (const { clause, lines } of CLAUSES) {
    test(clause, () => {
      const present = new Set(namesOf({ objects: CLUSTER }))
      assert.deepEqual(
        linesOf(lines).filter((line) => !present.has(line)),
        [],
      )
    })
  }

  test('and its extensions here are the only names', () => {
    const all = CLAUSES.map(({ lines }) => lines).join('\n')
    assert.deepEqual(namesOf({ objects: CLUSTER }), linesOf(all))
  })

  test('2.4.1 a headless Service without ready endpoints has no name', () => {
    const names = namesOf({ objects: CLUSTER }).filter((line) => line.includes('empty'))
    assert.deepEqual(names, [])
  })
})

/** What all zones have, and the namespaces of one. */
const zoneLevel = (...namespaces: readonly string[]): string =>
  ['@ exists', 'svc exists', 'pod exists', 'ns.dns exists', 'dns-version 28800 TXT "1.1.0"']
    .concat(namespaces.map((namespace) => `${namespace}.svc exists`))
    .join('\n')

const SERVICES = `
  - { kind: Namespace, metadata: { name: app, labels: { tier: gold } } }
  - { kind: Namespace, metadata: { name: ops } }
  - kind: Service
    metadata: { name: c, namespace: gone, labels: { tier: gold } }
    spec: { clusterIP: 192.0.2.3 }
  - kind: Service
    metadata: { name: a, namespace: app }
    spec: { clusterIP: 192.0.2.1 }
  - kind: Service
    metadata: { name: b, namespace: ops, labels: { tier: gold } }
    spec: { clusterIP: 192.0.2.2 }
  - kind: Pod
    metadata: { name: p, namespace: app, labels: { tier: gold } }
    status: { podIP: 198.51.100.1 }
  - kind: Pod
    metadata: { name: q, namespace: ops }
    status: { podIP: 198.51.100.2 }`

describe('the namespaces that are served', () => {
  const cases: NamingCase[] = [
    {
      name: 'are those that exist; a cluster IP of another points back all the same',
      objects: SERVICES,
      lines: `${zoneLevel('app', 'ops')}
        a.app.svc 5 A 192.0.2.1
        b.ops.svc 5 A 192.0.2.2
        1.2.0.192.in-addr.arpa. 5 PTR a.app.svc
        2.2.0.192.in-addr.arpa. 5 PTR b.ops.svc
        3.2.0.192.in-addr.arpa. 5 PTR c.gone.svc`,
    },
    {
      name: 'are those of the list, which holds for pointers as well',
      objects: SERVICES,
      options: { namespaces: new Set(['app', 'gone']) },
      lines: `${zoneLevel('app')}
        a.app.svc 5 A 192.0.2.1
        1.2.0.192.in-addr.arpa. 5 PTR a.app.svc`,
    },
    {
      name: 'are those that meet the selector, which does not hold for pointers',
      objects: SERVICES,
      options: { namespaceSelector: selectorOf('tier=gold') },
      lines: `${zoneLevel('app')}
        a.app.svc 5 A 192.0.2.1
        1.2.0.192.in-addr.arpa. 5 PTR a.app.svc
        2.2.0.192.in-addr.arpa. 5 PTR b.ops.svc
        3.2.0.192.in-addr.arpa. 5 PTR c.gone.svc`,
    },
    {
      name: 'hold the objects that meet the selector for these',
      objects: SERVICES,
      options: { objectSelector: selectorOf('tier'), pods: 'verified' },
      lines: `${zoneLevel('app', 'ops')}
        app.pod exists
        ops.pod exists
        b.ops.svc 5 A 192.0.2.2
        198-51-100-1.app.pod 5 A 198.51.100.1
        198-51-100-1.app.pod 5 SRV 0 100 0 198-51-100-1.app.pod
        1.100.51.198.in-addr.arpa. is of a Pod in app
        2.2.0.192.in-addr.arpa. 5 PTR b.ops.svc
        3.2.0.192.in-addr.arpa. 5 PTR c.gone.svc`,
    },
    {
      name: 'hold names of addresses when Pods are insecure',
      objects: '- { kind: Namespace, metadata: { name: app } }',
      options: { pods: 'insecure' },
      lines: `${zoneLevel('app')}
        app.pod has addresses below`,
    },
    {
      name: 'need not hold the Service of the name server',
      objects: `
        - { kind: Namespace, metadata: { name: app } }
        - kind: Service
          metadata: { name: dns, namespace: ops }
          spec: { clusterIP: 192.0.2.10 }
        - kind: EndpointSlice
          metadata: { name: s, namespace: ops, labels: { kubernetes.io/service-name: dns } }
          endpoints: [{ addresses: [198.51.100.1] }]`,
      options: { namespaces: new Set(['app']), localAddresses: ['198.51.100.1'] },
      lines: `${zoneLevel('app')}
        @ 5 NS dns.ops.svc
        ns.dns 5 A 192.0.2.10
        dns.ops.svc 5 A 192.0.2.10 ; glue`,
    },
  ]
  for (const { name, lines, ...given } of cases) {
    test(name, () => {
      assert.deepEqual(namesOf(given), linesOf(lines))
    })
  }
})

describe('names over 255 bytes', () => {
  const label63 = 'o'.repeat(63)
  /** 242 bytes, which leave 13 for `web.shop.svc`. */
  const origin = nameOf([label63, label63, label63, 'o'.repeat(48)].join('.'))
  const objects = `
    - kind: Service
      metadata: { name: web, namespace: shop }
      spec: { clusterIP: 192.0.2.1, ports: [{ name: x, port: 80 }] }
    - kind: Service
      metadata: { name: webs, namespace: shop }
      spec: { clusterIP: 192.0.2.2 }
    - kind: EndpointSlice
      metadata: { name: s, namespace: shop, labels: { kubernetes.io/service-name: web } }
      endpoints: [{ addresses: [198.51.100.1], hostname: a }]`
  const kept = `${zoneLevel('shop')}
    web.shop.svc 5 A 192.0.2.1
    web.shop.svc 5 SRV 0 100 80 web.shop.svc
    1.2.0.192.in-addr.arpa. 5 PTR web.shop.svc`
  const cases: { name: string; options: Partial<NamingOptions>; lines: string }[] = [
    {
      name: 'are left out, up to the last byte',
      options: { origins: [origin] },
      lines: kept,
    },
    {
      name: 'are measured below the longest origin',
      options: { origins: [nameOf('cluster.local'), origin, nameOf('example.org')] },
      lines: kept,
    },
    {
      name: 'are no names of namespaces either',
      options: { origins: [nameOf([label63, label63, label63, 'o'.repeat(57)].join('.'))] },
      lines: '@ exists\nsvc exists\npod exists',
    },
  ]
  for (const { name, options, lines } of cases) {
    test(name, () => {
      assert.deepEqual(namesOf({ objects, options }), linesOf(lines))
    })
  }

  test('leave a record out with its set when only its target is too long', () => {
    const slices = `
      - { kind: Service, metadata: { name: db, namespace: x }, spec: { clusterIP: None } }
      - kind: EndpointSlice
        metadata: { name: s, namespace: x, labels: { kubernetes.io/service-name: db } }
        endpoints:
          - { addresses: [198.51.100.1], hostname: long }
          - { addresses: [198.51.100.2], hostname: abc }
        ports: [{ port: 80 }]`
    const names = namesOf({ objects: slices, options: { origins: [origin] } })
    assert.deepEqual(
      names.filter((line) => line.includes('db.x')),
      linesOf(`
        db.x.svc 5 A 198.51.100.1
        db.x.svc 5 A 198.51.100.2
        abc.db.x.svc 5 A 198.51.100.2
        abc.db.x.svc 5 SRV 0 100 80 abc.db.x.svc
        2.100.51.198.in-addr.arpa. 5 PTR abc.db.x.svc`),
    )
  })

  test('are warned of once for each Service', () => {
    const options = optionsOf({ origins: [origin] })
    assert.deepEqual(clusterRecords(clusterOf(objects, options), options).warnings, [
      'Service shop/web: names over 255 bytes',
      'Service shop/webs: names over 255 bytes',
    ])
  })
})

describe('for any objects', () => {
  /** Owner and targets of an entry. */
  const namesIn = (entry: ZoneEntry): Uint8Array[] => {
    if (entry.kind === 'pointer') return [entry.target]
    if (entry.kind === 'pod-address') return []
    if (entry.kind !== 'records') return [entry.owner]
    return [entry.owner, ...entry.rdata.flatMap(({ target }) => target ?? [])]
  }

  test('names are proper, in lower case, and fit below every origin', () => {
    fc.assert(
      fc.property(objects, options, (list, naming) => {
        for (const entry of clusterRecords(clusterAfter(list), naming).entries) {
          for (const labels of namesIn(entry)) {
            for (const origin of naming.origins) {
              const name = concatBytes(labels, origin)
              assert.deepEqual(parseName(formatName(name)), name)
              assert.deepEqual(lowerName(labels), labels)
            }
          }
        }
      }),
    )
  })

  test('records are records of their type, and none comes twice in a set', () => {
    fc.assert(
      fc.property(objects, options, (list, naming) => {
        for (const entry of clusterRecords(clusterAfter(list), naming).entries) {
          if (entry.kind !== 'records') continue
          const rdata = entry.rdata.map(({ bytes, target }) =>
            target === undefined ? bytes : concatBytes(bytes, target, ROOT),
          )
          assert.ok(rdata.length > 0)
          assert.ok(rdata.every((bytes) => isValidRdata(entry.type, bytes)))
          // Addresses may come in two spellings; a snapshot makes them one.
          const isSpelled = entry.type === TYPE.AAAA
          const unique = new Set(rdata.map((bytes) => bytes.join()))
          assert.ok(isSpelled || unique.size === rdata.length)
        }
      }),
    )
  })

  test('names below a namespace are seen by that namespace only, and it is served', () => {
    fc.assert(
      fc.property(objects, options, (list, naming) => {
        const cluster = clusterAfter(list)
        for (const entry of clusterRecords(cluster, naming).entries) {
          if (isByAddress(entry) || (entry.kind === 'records' && entry.isGlue)) continue
          const labels = formatName(concatBytes(entry.owner, ROOT)).split('.').slice(0, -1)
          const isOutside = naming.tree.kind === 'external'
          const inner = labels.length > 1 && labels.at(-1) !== 'dns' ? labels.at(-2) : ''
          const namespace = isOutside ? (labels.at(-1) ?? '') : inner
          assert.equal(entry.namespace.toLowerCase(), namespace)
          assert.ok(namespace === '' || cluster.namespaces.has(entry.namespace))
        }
      }),
    )
  })

  test('the snapshot does not depend on the order of events', () => {
    const events = objects.chain((list) =>
      fc.record({
        list: fc.constant(list),
        other: fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length }),
      }),
    )
    fc.assert(
      fc.property(events, options, ({ list, other }, naming) => {
        const [one, two] = [list, other].map((order) =>
          buildShards(clusterRecords(clusterAfter(order), naming).entries),
        )
        assert.deepEqual(one, two)
      }),
    )
  })
})
