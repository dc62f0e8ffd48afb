import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { namingOptions } from '../../../src/cluster/follow/naming.ts'
import type { NamingOptions } from '../../../src/cluster/objects/options.ts'
import {
  type KubernetesOptions,
  parseKubernetes,
} from '../../../src/corefile/kubernetes-options.ts'
import { nameOf } from '../../../src/dns/names/name.ts'
import { directiveOf, problemsOf } from '../../corefile/source.ts'
import { hostsTree, optionsOf, selectorOf } from '../naming.ts'

function kubernetes(lines: string, zones = 'cluster.local'): KubernetesOptions {
  return parseKubernetes(directiveOf(`kubernetes ${zones} {\n${lines}\n}`), [])
}

describe('namingOptions', () => {
  const cases: { name: string; lines: string; options: Partial<NamingOptions> }[] = [
    { name: 'has CoreDNS’s defaults', lines: '', options: {} },
    { name: 'takes the TTL', lines: 'ttl 30', options: { ttlSeconds: 30 } },
    { name: 'takes the mode of Pods', lines: 'pods verified', options: { pods: 'verified' } },
    {
      name: 'takes names of Pods for endpoints',
      lines: 'endpoint_pod_names',
      options: { usesPodNames: true },
    },
    { name: 'goes without endpoints', lines: 'noendpoints', options: { hasEndpoints: false } },
    {
      name: 'ignores empty Services',
      lines: 'ignore empty_service',
      options: { ignoresEmptyServices: true },
    },
    {
      name: 'takes the list of namespaces',
      lines: 'namespaces shop ops',
      options: { namespaces: new Set(['shop', 'ops']) },
    },
    {
      name: 'reads the selector of namespaces',
      lines: 'namespace_labels tier in (gold, silver)',
      options: { namespaceSelector: selectorOf('tier in (gold, silver)') },
    },
    {
      name: 'reads the selector of objects',
      lines: 'labels app=web,!old',
      options: { objectSelector: selectorOf('app=web,!old') },
    },
  ]
  for (const { name, lines, options } of cases) {
    test(name, () => {
      assert.deepEqual(namingOptions(kubernetes(lines), []), optionsOf(options))
    })
  }

  test('takes the forward zones as origins, and no reverse ones', () => {
    const zones = 'in-addr.arpa cluster.local 8.b.d.0.1.0.0.2.ip6.arpa example.org'
    const { origins } = namingOptions(kubernetes('', zones), [])
    assert.deepEqual(origins, [nameOf('cluster.local'), nameOf('example.org')])
  })

  test('reads the selectors of Services with hostnames', () => {
    const tree = { ...hostsTree(), serviceSelectors: ['tier=gold', '!old'] }
    const expected = hostsTree({ serviceSelectors: [selectorOf('tier=gold'), selectorOf('!old')] })
    assert.deepEqual(namingOptions(kubernetes(''), [], tree).tree, expected)
    const worse = { ...tree, serviceSelectors: ['a b'] }
    assert.match(
      problemsOf(() => namingOptions(kubernetes(''), [], worse))[0] ?? '',
      /"serviceLabelSelectors a b" is not a label selector/,
    )
  })

  test('takes the addresses of the name server', () => {
    const { localAddresses } = namingOptions(kubernetes(''), ['192.0.2.53', '2001:db8::53'])
    assert.deepEqual(localAddresses, ['192.0.2.53', '2001:db8::53'])
  })

  const refused: { name: string; lines: string; problem: string }[] = [
    {
      name: 'of namespaces',
      lines: 'namespace_labels a in',
      problem: '2:1: "namespace_labels a in" is not a label selector such as "tier=gold,!old"',
    },
    {
      name: 'of objects',
      lines: 'labels =',
      problem: '2:1: "labels =" is not a label selector such as "tier=gold,!old"',
    },
  ]
  for (const { name, lines, problem } of refused) {
    test(`refuses an invalid selector ${name}, with the place of the directive`, () => {
      assert.deepEqual(
        problemsOf(() => namingOptions(kubernetes(lines), [])),
        [problem],
      )
    })
  }
})
