import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { API_DEFAULTS } from '../../src/corefile/api-options.ts'
import {
  isReverseZone,
  type KubernetesOptions,
  parseKubernetes,
} from '../../src/corefile/kubernetes-options.ts'
import { wildcardParent } from '../../src/corefile/wildcard-zone.ts'
import { EMPTY } from '../../src/dns/bytes/bytes.ts'
import { formatName, nameOf } from '../../src/dns/names/name.ts'
import { directiveOf, problemsOf } from './source.ts'

const BLOCK_ZONES = [nameOf('cluster.local'), nameOf('in-addr.arpa')]

/** Options as they are compared: zones as text. */
type Shown = Omit<KubernetesOptions, 'zones' | 'multiclusterZones' | 'fallthrough' | 'notices'> & {
  readonly notices: readonly string[]
  readonly zones: readonly string[]
  readonly multiclusterZones: readonly string[]
  readonly fallthrough: readonly string[] | undefined
}

function parse(text: string, blockZones: readonly Uint8Array[] = BLOCK_ZONES): Shown {
  const parsed = parseKubernetes(directiveOf(text), blockZones)
  const { zones, multiclusterZones, fallthrough, notices, ...rest } = parsed
  return {
    ...rest,
    multiclusterZones: multiclusterZones.map((zone) => formatName(zone)),
    zones: zones.map((zone) => formatName(zone)),
    fallthrough: fallthrough?.map((zone) => formatName(zone)),
    notices: notices.map(({ message }) => message),
  }
}

const SHOP_1 = { cluster: 'shop-1', clusters: ['shop-1'] }

const DEFAULTS: Shown = {
  file: '/etc/Corefile',
  line: 2,
  column: 1,
  zones: ['cluster.local.', 'in-addr.arpa.'],
  multiclusterZones: [],
  cluster: undefined,
  clusters: [],
  stale: 'union',
  rules: 'coredns',
  naming: 'kubernetes',
  pods: 'disabled',
  ttlSeconds: 5,
  usesPodNames: false,
  hasEndpoints: true,
  isZonal: false,
  ignoresEmptyServices: false,
  namespaces: [],
  namespaceLabels: '',
  labels: '',
  fallthrough: undefined,
  hasFallback: false,
  notices: [],
  ...API_DEFAULTS,
}

describe('parseKubernetes takes zones', () => {
  const cases: { name: string; text: string; zones: readonly string[] }[] = [
    { name: 'from the server block', text: 'kubernetes', zones: DEFAULTS.zones },
    {
      name: 'from its arguments',
      text: 'kubernetes Example.org 192.0.2.0/23 ip6.arpa',
      zones: ['example.org.', '2.0.192.in-addr.arpa.', '3.0.192.in-addr.arpa.', 'ip6.arpa.'],
    },
    { name: 'the root among them', text: 'kubernetes .', zones: ['.'] },
  ]
  for (const { name, text, zones } of cases) {
    test(name, () => {
      assert.deepEqual(parse(text), { ...DEFAULTS, zones })
    })
  }
})

describe('parseKubernetes takes options', () => {
  const cases: { text: string; changes: Partial<Shown> }[] = [
    { text: '', changes: {} },
    { text: 'cluster shop-1', changes: { ...SHOP_1 } },
    { text: 'cluster shop-1\nnaming kubernetes', changes: { ...SHOP_1 } },
    { text: 'cluster shop-1\nanswers rfc', changes: { ...SHOP_1, rules: 'rfc' } },
    {
      text: 'cluster shop-1\nfallthrough',
      changes: { ...SHOP_1, fallthrough: ['.'] },
    },
    { text: 'answers coredns', changes: {} },
    { text: 'answers rfc', changes: { rules: 'rfc' } },
    { text: 'pods disabled', changes: {} },
    { text: 'pods insecure', changes: { pods: 'insecure' } },
    { text: 'pods verified', changes: { pods: 'verified' } },
    { text: 'ttl 0', changes: { ttlSeconds: 0 } },
    { text: 'ttl 3600', changes: { ttlSeconds: 3600 } },
    { text: 'endpoint_pod_names', changes: { usesPodNames: true } },
    { text: 'noendpoints', changes: { hasEndpoints: false } },
    { text: 'ignore empty_service', changes: { ignoresEmptyServices: true } },
    { text: 'namespaces shop', changes: { namespaces: ['shop'] } },
    { text: 'namespaces shop blog\nnamespaces a', changes: { namespaces: ['shop', 'blog', 'a'] } },
    { text: 'labels env in (a, b),x', changes: { labels: 'env in (a, b),x' } },
    { text: 'labels a\nlabels b', changes: { labels: 'b' } },
    { text: 'namespace_labels env=a', changes: { namespaceLabels: 'env=a' } },
    { text: 'fallthrough', changes: { fallthrough: ['.'] } },
    { text: 'fallback', changes: { hasFallback: true } },
    {
      text: 'fallthrough in-addr.arpa 192.0.2.0/24',
      changes: { fallthrough: ['in-addr.arpa.', '2.0.192.in-addr.arpa.'] },
    },
    { text: 'kubeconfig /a', changes: { kubeconfig: { path: '/a', context: undefined } } },
    { text: 'kubeconfig /a b', changes: { kubeconfig: { path: '/a', context: 'b' } } },
    { text: 'endpoint https://192.0.2.1', changes: { endpoint: 'https://192.0.2.1' } },
    {
      text: 'endpoint https://192.0.2.1\ntls /a /b /c',
      changes: { endpoint: 'https://192.0.2.1', tls: { cert: '/a', key: '/b', ca: '/c' } },
    },
    { text: 'zonal', changes: { isZonal: true } },
    { text: 'multicluster', changes: {} },
    { text: 'multicluster Cluster.local', changes: { multiclusterZones: ['cluster.local.'] } },
    { text: 'naming kubernetes', changes: {} },
    {
      text: 'naming openshift3',
      changes: { naming: 'openshift3', ttlSeconds: 30, pods: 'insecure' },
    },
    {
      text: 'ttl 5\npods disabled\nnaming openshift3',
      changes: { naming: 'openshift3', ttlSeconds: 5, pods: 'disabled' },
    },
    { text: 'ttl 1\nttl 2\npods insecure', changes: { ttlSeconds: 2, pods: 'insecure' } },
  ]
  for (const { text, changes } of cases) {
    test(JSON.stringify(text), () => {
      assert.deepEqual(parse(`kubernetes {\n${text}\n}`), { ...DEFAULTS, ...changes })
    })
  }
})

describe('parseKubernetes adds a notice for what CoreDNS ignores', () => {
  const cases: { text: string; changes: Partial<Shown> }[] = [
    {
      text: 'ttl 1 2',
      changes: { ttlSeconds: 1, notices: ['"ttl" takes one argument; "2" is ignored'] },
    },
    {
      text: 'ignore',
      changes: { notices: ['"ignore" without "empty_service" has no effect'] },
    },
    {
      text: 'ignore empty_service x',
      changes: {
        ignoresEmptyServices: true,
        notices: ['"ignore" takes one argument; "x" is ignored'],
      },
    },
    {
      text: 'tls /a /b /c',
      changes: {
        tls: { cert: '/a', key: '/b', ca: '/c' },
        notices: ['"tls" is ignored because "endpoint" is not set'],
      },
    },
  ]
  for (const { text, changes } of cases) {
    test(JSON.stringify(text), () => {
      assert.deepEqual(parse(`kubernetes {\n${text}\n}`), { ...DEFAULTS, ...changes })
    })
  }
})

describe('parseKubernetes refuses', () => {
  const count = (name: string, wanted: string, got: number): string =>
    `3:1: "${name}" takes ${wanted} argument(s), got ${got}`
  const cases: { text: string; problem: string }[] = [
    { text: 'cluster', problem: count('cluster', '1 to 100', 0) },
    { text: 'cluster * a', problem: '2:1: "cluster *" stands alone; list no others' },
    {
      text: 'cluster *',
      problem: '2:1: "cluster *" needs zones such as *.k8s.example.org, and has "cluster.local."',
    },
    {
      text: 'cluster a b',
      problem: '2:1: reverse zone "in-addr.arpa." cannot have several clusters; remove it here',
    },
    {
      text: 'cluster a\nstale keep',
      problem: '4:1: "stale" needs several clusters; list them after "cluster"',
    },
    {
      text: 'cluster a b\nfallback',
      problem: '4:1: "fallback" works with one cluster only; remove it',
    },
    { text: 'stale maybe', problem: '3:7: "maybe" is not one of union, keep, fail' },
    { text: 'answers', problem: count('answers', '1', 0) },
    { text: 'answers rfc rfc', problem: count('answers', '1', 2) },
    { text: 'answers RFC', problem: '3:9: "RFC" is not one of coredns, rfc' },
    { text: 'pods', problem: count('pods', '1', 0) },
    { text: 'pods insecure verified', problem: count('pods', '1', 2) },
    { text: 'pods on', problem: '3:6: "on" is not one of disabled, insecure, verified' },
    { text: 'ttl', problem: count('ttl', '1 or more', 0) },
    { text: 'ttl 3601', problem: '3:5: "3601" is not a number from 0 to 3600' },
    { text: 'ttl -1', problem: '3:5: "-1" is not a number from 0 to 3600' },
    { text: 'ttl 30s', problem: '3:5: "30s" is not a number from 0 to 3600' },
    { text: 'endpoint_pod_names yes', problem: count('endpoint_pod_names', '0', 1) },
    { text: 'noendpoints yes', problem: count('noendpoints', '0', 1) },
    { text: 'ignore empty', problem: '3:8: "ignore" accepts only "empty_service"' },
    { text: 'namespaces', problem: count('namespaces', '1 or more', 0) },
    { text: 'namespace_labels', problem: count('namespace_labels', '1 or more', 0) },
    { text: 'labels', problem: count('labels', '1 or more', 0) },
    { text: 'fallthrough a..b', problem: '3:13: "a..b" is not a domain name' },
    { text: 'kubeconfig', problem: count('kubeconfig', '1 to 2', 0) },
    { text: 'kubeconfig /a b c', problem: count('kubeconfig', '1 to 2', 3) },
    { text: 'endpoint', problem: count('endpoint', '1 or more', 0) },
    { text: 'tls /a /b', problem: count('tls', '3', 2) },
    { text: 'tls /a /b /c /d', problem: count('tls', '3', 4) },
    {
      text: 'pod insecure',
      problem: '3:1: "kubernetes" has no option "pod"; did you mean "pods"?',
    },
    { text: 'pods insecure {\nttl 5\n}', problem: '4:1: "pods" takes no block' },
    {
      text: 'namespaces a\nnamespace_labels b',
      problem: '4:1: "namespaces" and "namespace_labels" cannot both be set',
    },
    {
      text: 'namespace_labels b\nnamespaces a',
      problem: '3:1: "namespaces" and "namespace_labels" cannot both be set',
    },
    { text: 'zonal yes', problem: count('zonal', '0', 1) },
    { text: 'naming', problem: count('naming', '1', 0) },
    { text: 'naming skydns', problem: '3:8: "skydns" is not one of kubernetes, openshift3' },
    {
      text: 'multicluster clusterset.local',
      problem: '3:1: "clusterset.local." is not a zone of this "kubernetes"; add it there',
    },
    {
      text: 'zonal\nnaming openshift3',
      problem: '3:1: "zonal" does not work with "naming openshift3"; remove one of them',
    },
    {
      text: 'zonal\nnoendpoints',
      problem: '3:1: "zonal" needs endpoints; remove "noendpoints"',
    },
  ]
  for (const { text, problem } of cases) {
    test(JSON.stringify(text), () => {
      assert.deepEqual(
        problemsOf(() => parse(`kubernetes {\n${text}\n}`)),
        [problem],
      )
    })
  }

  for (const name of ['constructor', 'upstreams']) {
    test(`an unknown option, and lists the known ones: ${name}`, () => {
      const [problem = ''] = problemsOf(() => parse(`kubernetes {\n${name}\n}`))
      assert.match(problem, new RegExp(`^3:1: "kubernetes" has no option "${name}"; it has `))
      assert.match(
        problem,
        /it has cluster, answers, naming, pods, ttl, .*, apiserver_max_inflight$/,
      )
    })
  }

  const zones: { name: string; text: string; blockZones: readonly Uint8Array[] }[] = [
    {
      name: 'reverse zones only, of its own',
      text: 'kubernetes in-addr.arpa 2001:db8::/32',
      blockZones: BLOCK_ZONES,
    },
    {
      name: 'reverse zones only, of the server block',
      text: 'kubernetes',
      blockZones: [nameOf('in-addr.arpa')],
    },
    { name: 'no zone at all', text: 'kubernetes', blockZones: [] },
  ]
  for (const { name, text, blockZones } of zones) {
    test(name, () => {
      assert.deepEqual(
        problemsOf(() => parse(text, blockZones)),
        ['2:1: "kubernetes" needs a zone that is not a reverse zone'],
      )
    })
  }
})

describe('isReverseZone', () => {
  const cases: { text: string; isReverse: boolean }[] = [
    { text: 'in-addr.arpa', isReverse: true },
    { text: '10.in-addr.arpa', isReverse: true },
    { text: 'ip6.arpa', isReverse: true },
    { text: '8.b.d.0.1.0.0.2.ip6.arpa', isReverse: true },
    { text: 'arpa', isReverse: false },
    { text: 'my-in-addr.arpa', isReverse: false },
    { text: 'cluster.local', isReverse: false },
    { text: '.', isReverse: false },
  ]
  for (const { text, isReverse } of cases) {
    test(`is ${isReverse} for ${text}`, () => {
      assert.equal(isReverseZone(nameOf(text)), isReverse)
    })
  }
})

describe('a directive with several clusters', () => {
  const zones = [nameOf('clusterset.local'), nameOf('all.example.org')]

  const several = (text: string): string => `kubernetes {\n${text}\n}`

  test('merges all its zones', () => {
    const { clusters, multiclusterZones, stale } = parse(several('cluster a b'), zones)
    assert.deepEqual(clusters, ['a', 'b'])
    assert.deepEqual(multiclusterZones, ['clusterset.local.', 'all.example.org.'])
    assert.equal(stale, 'union')
    for (const word of ['union', 'keep', 'fail'] as const) {
      assert.equal(parse(several(`cluster a b c\nstale ${word}`), zones).stale, word)
    }
  })

  test('adds a notice that they form a clusterset', () => {
    const { notices } = parse(several('cluster a b'), zones)
    assert.deepEqual(notices, [
      '2 clusters form a clusterset: in clusterset.local. all.example.org., Services with the ' +
        'same name and namespace share their endpoints; to keep clusters apart, give each its ' +
        'own zones',
    ])
    assert.deepEqual(parse(several('cluster a'), zones).notices, [])
  })

  test('rejects a cluster that is listed twice', () => {
    assert.throws(() => parse(several('cluster a b a'), zones), /lists a cluster twice/)
  })
})

describe('a directive of each cluster', () => {
  const each = (zones: string, line = ''): Shown =>
    parse(`kubernetes ${zones} {\ncluster *\n${line}\n}`)

  test('has zones with a place for the identifier', () => {
    const { cluster, clusters, zones } = each('*.k8s.example.org *.k8s.test')
    assert.deepEqual([cluster, clusters], ['*', ['*']])
    assert.deepEqual(zones, ['*.k8s.example.org.', '*.k8s.test.'])
    const parents = zones.map((zone) => wildcardParent(nameOf(zone)) ?? EMPTY)
    assert.deepEqual(
      parents.map((zone) => formatName(zone)),
      ['k8s.example.org.', 'k8s.test.'],
    )
    assert.equal(wildcardParent(nameOf('k8s.test')), undefined)
  })

  test('has no zones that overlap, and none that clusters share', () => {
    assert.throws(() => each('*.k8s.example.org *.example.org'), /overlap at "k8s.example.org."/)
    const shared = (): unknown => each('*.k8s.test', 'multicluster *.k8s.test')
    assert.throws(shared, /works without "multicluster"/)
  })
})
