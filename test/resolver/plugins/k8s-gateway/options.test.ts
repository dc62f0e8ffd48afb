import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { HOST_RESOURCES, type HostsTree } from '../../../../src/corefile/cluster-tree.ts'
import type { Directive } from '../../../../src/corefile/server-block.ts'
import { concatBytes } from '../../../../src/dns/bytes/bytes.ts'
import { formatName, nameOf, ROOT } from '../../../../src/dns/names/name.ts'
import {
  type K8sGatewayOptions,
  parseK8sGateway,
} from '../../../../src/resolver/plugins/k8s-gateway/options.ts'
import { block, directive, parseBlocks } from '../../../ask.ts'
import { problemsOf } from '../../../corefile/source.ts'

type Shown = Pick<K8sGatewayOptions, 'kubeconfig' | 'cluster'> & {
  readonly zones: readonly string[]
  readonly apex: string
  readonly secondary: string | undefined
  readonly tree: HostsTree
  readonly fallthrough: readonly string[] | undefined
  readonly notices: readonly string[]
}

function parse(...lines: readonly string[]): Shown {
  const [first]: readonly Directive[] = parseBlocks(block(...lines))[0]?.directives ?? []
  if (first === undefined) throw new TypeError('No directive')
  const parsed = parseK8sGateway(first, [nameOf('block.test')])
  const format = (labels: Uint8Array): string => formatName(concatBytes(labels, ROOT))
  return {
    ...parsed,
    zones: parsed.zones.map((zone) => formatName(zone)),
    apex: format(parsed.apex),
    secondary: parsed.secondary && format(parsed.secondary),
    fallthrough: parsed.fallthrough?.map((zone) => formatName(zone)),
    notices: parsed.notices.map(({ line, column, message }) => `${line}:${column}: ${message}`),
  }
}

const TREE: HostsTree = {
  kind: 'hosts',
  zones: ['block.test'],
  resources: ['Ingress', 'Service'],
  ttlSeconds: 60,
  ingressClasses: [],
  gatewayClasses: [],
  serviceSelectors: [],
  nodeAddressType: 'InternalIP',
  annotations: [],
  hasBindings: false,
  hasClusterIPs: false,
  recordZones: [],
  router: { kind: 'addresses', addresses: [] },
}
const DEFAULTS: Shown = {
  zones: ['block.test.'],
  apex: 'dns1.kube-system.',
  secondary: undefined,
  tree: TREE,
  kubeconfig: undefined,
  cluster: undefined,
  fallthrough: undefined,
  notices: [],
}

describe('k8s_gateway takes', () => {
  const known = HOST_RESOURCES.join(', ')
  const cases: { line: string; changes?: Partial<Shown>; tree?: Partial<HostsTree> }[] = [
    { line: 'fallthrough', changes: { fallthrough: ['.'] } },
    { line: 'fallthrough a.test', changes: { fallthrough: ['a.test.'] } },
    { line: 'ttl 0', tree: { ttlSeconds: 0 } },
    { line: 'apex Exdns-1.Infra', changes: { apex: 'exdns-1.infra.' } },
    { line: 'secondary b.infra', changes: { secondary: 'b.infra.' } },
    { line: 'kubeconfig /k', changes: { kubeconfig: { path: '/k', context: undefined } } },
    { line: 'kubeconfig /k c', changes: { kubeconfig: { path: '/k', context: 'c' } } },
    { line: 'resources Service Ingress', tree: { resources: ['Service', 'Ingress'] } },
    { line: 'resources Node Node', tree: { resources: ['Node'] } },
    {
      line: 'resources Node Nodes',
      tree: { resources: ['Node'] },
      changes: { notices: [`3:20: "Nodes" is ignored: it is not one of ${known}`] },
    },
    { line: 'ingressClasses a b', tree: { ingressClasses: ['a', 'b'] } },
    { line: 'gatewayClasses a', tree: { gatewayClasses: ['a'] } },
    {
      line: 'serviceLabelSelectors tier=a "b in (c,d)"',
      tree: { serviceSelectors: ['tier=a', 'b in (c,d)'] },
    },
    {
      line: 'recordZones shop Shop.block.test block.test',
      tree: { recordZones: [{ namespace: 'shop', zones: ['shop.block.test', 'block.test'] }] },
    },
    {
      line: 'resources DNSRecord',
      tree: { resources: ['DNSRecord'] },
      changes: {
        notices: ['2:3: DNSRecords have no names without "recordZones NAMESPACE ZONE..."'],
      },
    },
    {
      line: 'resources HostRoute',
      tree: { resources: ['HostRoute'] },
      changes: {
        notices: [
          '2:3: HostRoutes have no names without "recordZones NAMESPACE ZONE..."',
          '2:3: HostRoutes have no names without "router ADDRESS... | router Service|ClusterIP|Gateway NAMESPACE/NAME"',
        ],
      },
    },
    {
      line: 'router 192.0.2.1 2001:db8::1',
      tree: { router: { kind: 'addresses', addresses: ['192.0.2.1', '2001:db8::1'] } },
    },
    ...(['Service', 'ClusterIP', 'Gateway'] as const).map((kind) => ({
      line: `router ${kind} infra/nginx`,
      tree: { router: { kind, namespace: 'infra', name: 'nginx' } },
    })),
    { line: 'nodeAddressType ExternalIP', tree: { nodeAddressType: 'ExternalIP' } },
  ]
  for (const { line, changes, tree } of cases) {
    test(line, () => {
      const expected = { ...DEFAULTS, tree: { ...TREE, ...tree }, ...changes }
      assert.deepEqual(parse(directive('k8s_gateway', line)), expected)
    })
  }

  test('zones', () => {
    const { zones, tree } = parse('k8s_gateway B.test .')
    assert.deepEqual(
      [zones, tree.zones],
      [
        ['b.test.', '.'],
        ['b.test', ''],
      ],
    )
  })
})

describe('k8s_gateway refuses', () => {
  const cases: { line: string; problem: string }[] = [
    { line: 'resources', problem: '3:5: "resources" takes 1 or more argument(s), got 0' },
    { line: 'ttl 1h', problem: '3:9: "1h" is not a number from 0 to 3600' },
    { line: 'apex .', problem: '3:10: "." is not a name such as "dns1.kube-system"' },
    {
      line: 'recordZones shop other.test',
      problem: '3:22: "other.test" is outside of the zones of k8s_gateway',
    },
    {
      line: 'router nginx.a.test',
      problem:
        '3:12: "nginx.a.test" is no address; expected "router ADDRESS... | router Service|ClusterIP|Gateway NAMESPACE/NAME"',
    },
    { line: 'router Service nginx', problem: '3:12: expected "router Service NAMESPACE/NAME"' },
    {
      line: 'router Gateway infra/nginx x',
      problem: '3:12: expected "router Gateway NAMESPACE/NAME"',
    },
    {
      line: 'nodeAddressType Hostname',
      problem: '3:21: "Hostname" is not one of InternalIP, ExternalIP',
    },
    {
      line: 'serviceLabelSelectors ""',
      problem: '3:27: "serviceLabelSelectors" takes label selectors such as "tier=gold"',
    },
  ]
  for (const { line, problem } of cases) {
    test(line, () => {
      const parsed = (): Shown => parse(directive('k8s_gateway', line))
      assert.deepEqual(problemsOf(parsed), [`Corefile:${problem}`])
    })
  }
})
