/**
 * What the objects of tenants cost: time in proportion to their size, whatever they say, and no
 * more records of one object than the largest one has addresses.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ClusterBuilder } from '../../../src/cluster/follow/cluster-builder.ts'
import type { NamingOptions } from '../../../src/cluster/objects/options.ts'
import { parseObject } from '../../../src/cluster/objects/parse-object.ts'
import { PAIRS_MAX } from '../../../src/cluster/rules/pairs.ts'
import { HostGroups } from '../../../src/cluster/trees/host-groups.ts'
import { NameGroups } from '../../../src/cluster/trees/name-groups.ts'
import { hostsTree, optionsOf } from '../naming.ts'

const SHOP = { kind: 'Namespace', metadata: { name: 'shop' } }
/** How much larger the larger objects are, and how much longer they may take. */
const GROWTH = 8
const FACTOR_MAX = 30
/** Less than this is noise. */
const MS_LEAST = 4
/** A try that is disturbed may be repeated. */
const TRIES = 3

function list<T>(count: number, item: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => item(i))
}

function address(i: number): string {
  return `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`
}

function object(kind: string, fields: object, metadata: object = {}, name = 'web'): unknown {
  return { kind, metadata: { namespace: 'shop', name, ...metadata }, ...fields }
}

function slice(addresses: readonly string[], ports: readonly object[], zone = ''): unknown {
  const endpoints = addresses.map((one, i) => ({
    addresses: [one],
    ...(zone !== '' && { zone: zone + i }),
  }))
  const labels = { 'kubernetes.io/service-name': 'web' }
  return object('EndpointSlice', { endpoints, ports }, { labels })
}

function endpoint(recordType: string, target: string): unknown {
  const endpoints = [{ dnsName: 'a.test', recordType, targets: [target] }]
  return object('DNSEndpoint', { spec: { endpoints } })
}

function zone(data: Readonly<Record<string, string>>): unknown {
  return object('ConfigMap', { data }, { labels: { 'kubedoh.dev/hostnames': 'zone' } })
}

function annotated(annotations: Readonly<Record<string, string>>): object {
  const entries = Object.entries(annotations)
  return {
    annotations: Object.fromEntries(entries.map(([key, value]) => [`a.test/${key}`, value])),
  }
}

const HEADLESS = object('Service', { spec: { clusterIPs: ['None'] } })
const port = (i: number): object => ({ name: `p${i}`, port: i + 1 })
const host = (i: number): string => `h${i}.a.test`
const BALANCER = { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } }

const HOSTS_TREE = hostsTree({
  resources: ['Ingress', 'Service', 'DNSEndpoint', 'ConfigMap'],
  annotations: ['a.test/'],
  hasBindings: true,
  hasClusterIPs: true,
})
const HOSTS: Partial<NamingOptions> = { tree: HOSTS_TREE }
const EXTERNAL: Partial<NamingOptions> = {
  tree: { kind: 'external', ttlSeconds: 5, hasEndpoints: false },
}

type Sink = Pick<ClusterBuilder, 'set'>

function setAll(sink: Sink, objects: readonly unknown[]): void {
  for (const value of [SHOP, ...objects]) {
    const parsed = parseObject(value)
    if (parsed !== undefined && parsed.kind !== 'problem') sink.set(parsed)
  }
}

/** Builds the names of some objects. Returns the number of records. */
function build(objects: readonly unknown[], options: Partial<NamingOptions>): number {
  const builder = new ClusterBuilder(optionsOf(options), () => undefined)
  setAll(builder, objects)
  return builder.build().records
}

/** Makes the names of Services, without shards, which take most of the time. */
function nameServices(objects: readonly unknown[], options: Partial<NamingOptions>): void {
  const groups = new NameGroups(optionsOf(options))
  setAll(groups, objects)
  for (const group of groups.takeChanged()) groups.entriesOf(group)
}

function addHosts(objects: readonly unknown[]): void {
  const groups = new HostGroups(HOSTS_TREE)
  setAll(groups, objects)
  groups.takeChanged()
}

/** Returns the time of a run, in milliseconds of this thread's processor time. */
function timeOf(run: () => void): number {
  const before = process.threadCpuUsage()
  run()
  const { user, system } = process.threadCpuUsage(before)
  return Math.max(MS_LEAST, (user + system) / 1000)
}

describe('the names of an object', () => {
  const cases: {
    name: string
    size: number
    objects: (size: number) => readonly unknown[]
    run: (objects: readonly unknown[]) => void
  }[] = [
    {
      name: 'with many ports',
      size: 4000,
      objects: (size) => [HEADLESS, slice(['10.0.0.1'], list(size, port))],
      run: (objects) => nameServices(objects, {}),
    },
    {
      name: 'with many topology zones',
      size: 2000,
      objects: (size) => [HEADLESS, slice(list(size, address), [port(1)], 'z')],
      run: (objects) => nameServices(objects, { isZonal: true }),
    },
    {
      name: 'with TLS for many hosts',
      size: 4000,
      run: addHosts,
      objects: (size) => {
        const rules = list(size, (i) => ({ host: host(i) }))
        const tls = [{ hosts: list(size, host) }]
        return [object('Ingress', { spec: { rules, tls }, ...BALANCER })]
      },
    },
    {
      name: 'whose address many Services share',
      size: 200,
      run: addHosts,
      objects: (size) => [
        ...list(size, (i) => {
          const rules = [{ host: host(i) }]
          return object('Ingress', { spec: { rules }, ...BALANCER }, {}, `i${i}`)
        }),
        ...list(size, (i) => {
          const spec = { clusterIPs: [address(i)], externalIPs: ['192.0.2.1'] }
          return object('Service', { spec }, {}, `s${i}`)
        }),
      ],
    },
    {
      name: 'with quoted equals signs',
      size: 20_000,
      run: addHosts,
      objects: (size) => [zone({ 'a.test': `@ 5 HTTPS 1 . key9=${'"="'.repeat(size)}` })],
    },
  ]
  for (const { name, size, objects, run } of cases) {
    test(`take time in proportion to its size: ${name}`, () => {
      const timeAt = (count: number): number => {
        const some = objects(count)
        return timeOf(() => run(some))
      }
      let found = ''
      const isLinear = Array.from({ length: TRIES }).some(() => {
        const small = timeAt(size)
        const large = timeAt(GROWTH * size)
        found = `${small} ms, and ${large} ms for ${GROWTH} times the size`
        return large < FACTOR_MAX * small
      })
      assert.ok(isLinear, found)
    })
  }

  const pairs: {
    name: string
    options: Partial<NamingOptions>
    objects: (size: number) => readonly unknown[]
  }[] = [
    {
      name: 'addresses and ports of a slice',
      options: {},
      objects: (size) => [HEADLESS, slice(list(size, address), list(size, port))],
    },
    {
      name: 'addresses and ports of a slice, in OpenShift 3',
      options: { scheme: 'openshift3' },
      objects: (size) => [HEADLESS, slice(list(size, address), list(size, port))],
    },
    {
      name: 'external addresses and ports of a Service',
      options: EXTERNAL,
      objects: (size) => {
        const ports = list(size, port)
        return [object('Service', { spec: { externalIPs: list(size, address), ports } })]
      },
    },
    {
      name: 'hostnames and targets of an Ingress',
      options: HOSTS,
      objects: (size) => {
        const rules = list(size, (i) => ({ host: host(i) }))
        const target = list(size, address).join()
        return [object('Ingress', { spec: { rules } }, annotated({ target }))]
      },
    },
    {
      name: 'hostnames and ports of a Service',
      options: HOSTS,
      objects: (size) => {
        const ports = list(size, (i) => ({ ...port(i), appProtocol: 'https' }))
        const spec = { type: 'LoadBalancer', externalIPs: ['192.0.2.1'], ports }
        return [object('Service', { spec }, annotated({ hostname: list(size, host).join() }))]
      },
    },
    {
      name: 'hostnames and node ports of a Service',
      options: HOSTS,
      objects: (size) => {
        const ports = list(size, (i) => ({ ...port(i), nodePort: i + 1 }))
        const spec = { type: 'NodePort', ports }
        return [object('Service', { spec }, annotated({ hostname: list(size, host).join() }))]
      },
    },
  ]
  for (const { name, options, objects } of pairs) {
    test(`are bounded by pairs: ${name}`, () => {
      // Each pair has records at up to eight names.
      assert.ok(build(objects(1100), options) < 10 * PAIRS_MAX)
    })
  }
})

describe('an object with more than fits', () => {
  const parsed: { name: string; value: unknown }[] = [
    {
      name: 'list items in HTTPS records',
      value: endpoint('HTTPS', `1 . alpn=${'a,'.repeat(2e5)}a`),
    },
    {
      name: 'addresses',
      value: endpoint('HTTPS', `1 . ipv4hint=${'1.1.1.1,'.repeat(2e5)}1.1.1.1`),
    },
    {
      name: 'mandatory keys',
      value: endpoint('HTTPS', `1 . mandatory=${'port,'.repeat(2e5)}port`),
    },
    {
      name: 'keys',
      value: endpoint('HTTPS', `1 . ${list(65_000, (i) => `key${i + 500}`).join(' ')}`),
    },
  ]
  for (const { name, value } of parsed) {
    test(`loses the record: ${name}`, () => {
      assert.equal(build([value], HOSTS), 0)
    })
  }

  test('has the records of a hundred types, and others keep theirs', () => {
    const endpoints = list(300, (i) => {
      return { dnsName: 'x.a.test', recordType: `TYPE${1000 + i}`, targets: ['\\# 1 00'] }
    })
    const some = object('DNSEndpoint', { spec: { endpoints } })
    const other = object('Ingress', { spec: { rules: [{ host: host(1) }] }, ...BALANCER })
    assert.ok(build([some, other], HOSTS) > 100)
  })

  test('is refused if its zones together generate too much', () => {
    const generate = '@ 5 NS ns\n$GENERATE 1-60000 h$ NS ns\n'
    const data = Object.fromEntries(list(500, (i) => [`z${i}.a.test`, generate]))
    const refused = parseObject(zone(data))
    assert.ok(refused?.kind === 'problem')
    assert.match(refused.message, /it has more than 5000 hostnames, /)
  })
})
