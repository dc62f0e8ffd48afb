import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { podNames } from '../../../src/cluster/rules/pod-names.ts'
import { linesOf, type NamingCase, namesOf, type Rule } from '../naming.ts'

const pods: Rule = (cluster, options) =>
  ['shop', 'web'].flatMap((namespace) => podNames(cluster, namespace, options))

describe('podNames', () => {
  const twoPods = `
    - { kind: Pod, metadata: { name: a, namespace: shop }, status: { podIP: 192.0.2.1 } }
    - { kind: Pod, metadata: { name: b, namespace: web }, status: { podIP: 2001:db8::1 } }`
  const cases: NamingCase[] = [
    {
      name: 'has none at all when disabled',
      objects: twoPods,
      options: { pods: 'disabled' },
      lines: '',
    },
    {
      name: 'leaves every address a name in served namespaces when insecure',
      objects: twoPods,
      options: { pods: 'insecure' },
      lines: `
        shop.pod has addresses below
        web.pod has addresses below`,
    },
    {
      name: 'names the addresses that Pods have when verified',
      objects: twoPods,
      options: { pods: 'verified', ttlSeconds: 30 },
      lines: `
        shop.pod exists
        web.pod exists
        1.2.0.192.in-addr.arpa. is of a Pod in shop
        192-0-2-1.shop.pod 30 A 192.0.2.1
        192-0-2-1.shop.pod 30 SRV 0 100 0 192-0-2-1.shop.pod
        1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa. is of a Pod in web
        2001-db8--1.web.pod 30 AAAA 2001:db8::1
        2001-db8--1.web.pod 30 SRV 0 100 0 2001-db8--1.web.pod`,
    },
    {
      name: 'names no Pod of another namespace',
      objects: '- { kind: Pod, metadata: { name: a }, status: { podIP: 192.0.2.1 } }',
      options: { pods: 'verified' },
      lines: `
        shop.pod exists
        web.pod exists`,
    },
    {
      name: 'names no Pod that is done, deleted, or without an address',
      objects: `
        - kind: Pod
          metadata: { name: a, namespace: shop }
          status: { phase: Succeeded, podIP: 192.0.2.1 }
        - kind: Pod
          metadata: { name: b, namespace: shop }
          status: { phase: Failed, podIP: 192.0.2.2 }
        - kind: Pod
          metadata: { name: c, namespace: shop, deletionTimestamp: "2026-01-01T00:00:00Z" }
          status: { phase: Running, podIP: 192.0.2.3 }
        - { kind: Pod, metadata: { name: d, namespace: shop }, status: { phase: Pending } }
        - { kind: Pod, metadata: { name: e, namespace: shop }, status: { podIP: e.example.org } }
        - kind: Pod
          metadata: { name: f, namespace: shop }
          status: { phase: Pending, podIP: 192.0.2.6 }`,
      options: { pods: 'verified' },
      lines: `
        shop.pod exists
        web.pod exists
        6.2.0.192.in-addr.arpa. is of a Pod in shop
        192-0-2-6.shop.pod 5 A 192.0.2.6
        192-0-2-6.shop.pod 5 SRV 0 100 0 192-0-2-6.shop.pod`,
    },
    {
      name: 'names an address once that Pods of the host network share, by their number',
      objects: `
        - { kind: Pod, metadata: { name: a, namespace: shop }, status: { podIP: 192.0.2.1 } }
        - { kind: Pod, metadata: { name: b, namespace: shop }, status: { podIP: 192.0.2.1 } }
        - { kind: Pod, metadata: { name: c, namespace: shop }, status: { podIP: 192.0.2.1 } }
        - { kind: Pod, metadata: { name: d, namespace: web }, status: { podIP: 192.0.2.1 } }`,
      options: { pods: 'verified' },
      lines: `
        shop.pod exists
        web.pod exists
        1.2.0.192.in-addr.arpa. is of a Pod in shop
        192-0-2-1.shop.pod 5 A 192.0.2.1
        192-0-2-1.shop.pod 5 SRV 0 33 0 192-0-2-1.shop.pod
        1.2.0.192.in-addr.arpa. is of a Pod in web
        192-0-2-1.web.pod 5 A 192.0.2.1
        192-0-2-1.web.pod 5 SRV 0 100 0 192-0-2-1.web.pod`,
    },
    {
      name: 'names the first address of a Pod, not the others',
      objects: `
        - kind: Pod
          metadata: { name: a, namespace: shop }
          status: { podIP: 192.0.2.1, podIPs: [{ ip: 192.0.2.1 }, { ip: 2001:db8::1 }] }`,
      options: { pods: 'verified' },
      lines: `
        shop.pod exists
        web.pod exists
        1.2.0.192.in-addr.arpa. is of a Pod in shop
        192-0-2-1.shop.pod 5 A 192.0.2.1
        192-0-2-1.shop.pod 5 SRV 0 100 0 192-0-2-1.shop.pod`,
    },
  ]
  for (const { name, lines, ...given } of cases) {
    test(name, () => {
      assert.deepEqual(namesOf(given, pods), linesOf(lines))
    })
  }
})
