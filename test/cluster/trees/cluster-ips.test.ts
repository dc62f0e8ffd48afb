import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { HostGroups } from '../../../src/cluster/trees/host-groups.ts'
import { formatHosts, hostsTree, linesOf, objectsOf } from '../naming.ts'

const balanced = (name: string, ingress: string, clusterIP = '10.96.0.1', more = ''): string => `
- kind: Service
  metadata: { name: ${name}, namespace: infra, ${more} }
  spec: { type: LoadBalancer, clusterIP: ${clusterIP} }
  status: { loadBalancer: { ingress: [${ingress}] } }`
const ingress = (to: string): string => `
- kind: Ingress
  metadata: { name: web, namespace: shop }
  spec: { rules: [{ host: web.a.test }] }
  status: { loadBalancer: { ingress: [${to}] } }`
const ROUTE = `
- kind: Gateway
  metadata: { name: public, namespace: infra }
  status: { addresses: [{ value: 203.0.113.7 }] }
- kind: HTTPRoute
  metadata: { name: web, namespace: shop }
  spec: { hostnames: [web.a.test], parentRefs: [{ name: public, namespace: infra }] }`
const IGNORED = "labels: { k8s-gateway.dns/ignore: 'true' }"

function groupsOf(objects: string): HostGroups {
  const resources = ['HTTPRoute', 'Ingress', 'Service'] as const
  const groups = new HostGroups(hostsTree({ resources, hasClusterIPs: true }))
  for (const object of objectsOf(objects)) groups.set(object)
  return groups
}

/** The records of changed names, without those once more below the zone. */
function linesIn(groups: HostGroups): string[] {
  const lines = formatHosts(groups.takeChanged().flatMap((name) => groups.entriesOf(name)))
  return lines.filter((line) => !/^\S+\.a\.test\.a\.test /.test(line))
}

describe('with cluster IPs, a hostname points to', () => {
  const cases: { name: string; objects: string; lines: string }[] = [
    {
      name: 'the cluster IP of its Service',
      objects: balanced('web', '{ ip: 203.0.113.7 }'),
      lines: 'web.infra.a.test 60 A 10.96.0.1',
    },
    {
      name: 'nothing while its Service has no external address',
      objects: balanced('web', ''),
      lines: '',
    },
    {
      name: 'the cluster IP of the Service with the address of its Ingress',
      objects:
        ingress("{ ip: '2001:DB8::7' }") +
        balanced('lb', "{ ip: '2001:db8:0::7' }", '10.96.0.9', IGNORED),
      lines: 'web.a.test 60 A 10.96.0.9',
    },
    {
      name: 'the same with the hostname of its Ingress',
      objects:
        balanced('lb', '{ hostname: LB.example.net }', '10.96.0.9', IGNORED) +
        ingress('{ hostname: lb.example.net }'),
      lines: 'web.a.test 60 A 10.96.0.9',
    },
    {
      name: 'the same with the address of its Gateway',
      objects: ROUTE + balanced('lb', '{ ip: 203.0.113.7 }', '10.96.0.9', IGNORED),
      lines: 'web.a.test 60 A 10.96.0.9',
    },
    {
      name: 'an external address that no Service has',
      objects:
        ingress('{ ip: 203.0.113.8 }') +
        balanced('lb', '{ ip: 203.0.113.7 }', '10.96.0.9', IGNORED),
      lines: 'web.a.test 60 A 203.0.113.8',
    },
    {
      name: 'an external address if the load balancer must not be left out (ipMode)',
      objects:
        balanced('web', '{ ip: 203.0.113.7, ipMode: Proxy }') + ingress('{ ip: 203.0.113.7 }'),
      lines: 'web.infra.a.test 60 A 203.0.113.7\nweb.a.test 60 A 203.0.113.7',
    },
    {
      name: 'an external address that several Services share',
      objects:
        ['a', 'b']
          .map((name) => balanced(name, '{ ip: 203.0.113.7 }', '10.96.0.9', IGNORED))
          .join('') + ingress('{ ip: 203.0.113.7 }'),
      lines: 'web.a.test 60 A 203.0.113.7',
    },
  ]
  for (const { name, objects, lines } of cases) {
    test(name, () => assert.deepEqual(linesIn(groupsOf(objects)), linesOf(lines)))
  }

  for (const objects of [ROUTE, ingress('{ ip: 203.0.113.7 }')]) {
    test(`what the Service of an address has now: ${objects.trim().split('\n')[0]}`, () => {
      const groups = groupsOf(objects)
      const outside = ['web.a.test 60 A 203.0.113.7']
      assert.deepEqual(linesIn(groups), outside)
      for (const ip of ['10.96.0.9', '10.96.0.10']) {
        for (const service of objectsOf(balanced('lb', '{ ip: 203.0.113.7 }', ip, IGNORED))) {
          groups.set(service)
        }
        assert.deepEqual(linesIn(groups), [`web.a.test 60 A ${ip}`])
      }
      groups.delete('Service', 'infra', 'lb')
      assert.deepEqual(linesIn(groups), outside)
      groups.delete('Service', 'infra', 'lb')
      assert.deepEqual(linesIn(groups), [])
    })
  }
})
