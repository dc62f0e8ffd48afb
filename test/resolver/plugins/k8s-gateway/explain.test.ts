import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { defaultKubernetes } from '../../../../src/corefile/kubernetes-options.ts'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { parseQuery, Query } from '../../../../src/dns/wire/query.ts'
import { visibilityOf } from '../../../../src/gateway/access/token.ts'
import { explainHost } from '../../../../src/resolver/plugins/k8s-gateway/explain.ts'
import { parseK8sGateway } from '../../../../src/resolver/plugins/k8s-gateway/options.ts'
import { Visibility } from '../../../../src/snapshot/read/visibility.ts'
import { parseDirective } from '../../../ask.ts'
import { type FakeClusterOptions, openFakeCluster } from '../../../fake-cluster.ts'
import { WHOLE_SCOPE } from '../../../gateway/whole-scope.ts'
import { parseQuestion } from '../../../message-text.ts'

const ingress = (namespace: string, name: string, second: number): string => `
- kind: Ingress
  metadata: { name: ${name}, namespace: ${namespace}, creationTimestamp: '2026-01-01T00:00:0${second}Z' }
  spec: { rules: [{ host: web.a.test }] }
  status: { loadBalancer: { ingress: [{ ip: 203.0.113.${second} }] } }`
const objects = ingress('shop', 'web', 2) + ingress('shop', 'more', 3) + ingress('blog', 'www', 4)
const ORIGIN = nameOf('a.test')
const DIRECTIVE = parseDirective('k8s_gateway a.test')

async function explain(
  name: string,
  sees?: (namespace: string) => boolean,
  some: Partial<FakeClusterOptions> = {},
): Promise<unknown> {
  const query = parseQuery(parseQuestion(`${name} A`).message, new Query())
  assert.ok(query.kind === 'query')
  const { tree } = parseK8sGateway(DIRECTIVE, [])
  const source = openFakeCluster(
    { objects, tree, ...some },
    defaultKubernetes(DIRECTIVE, [ORIGIN]),
    [],
  )
  const visibility = sees && { ...visibilityOf(WHOLE_SCOPE), namespaces: new Visibility(sees) }
  const [fact] = await explainHost(query, { origin: ORIGIN, source, cluster: 'east', visibility })
  return fact
}

describe('explainHost', () => {
  test('names the object, its rivals, and the types', async () => {
    assert.deepEqual(await explain('WEB.a.test'), {
      plugin: 'k8s_gateway',
      name: 'web.a.test.',
      zone: 'a.test.',
      cluster: 'east',
      tree: 'hosts',
      freshness: 'fresh',
      generation: 1767225600,
      time: '2026-01-01T00:00:00.000Z',
      node: {
        namespace: 'shop',
        object: 'Ingress shop/web',
        rule: 'hostname',
        types: ['A'],
        isImplied: false,
        rivals: ['Ingress shop/more', 'Ingress blog/www'],
      },
    })
  })

  const nodes: { name: string; sees?: (namespace: string) => boolean; node: unknown }[] = [
    { name: 'none.a.test', node: null },
    { name: 'web.a.test', sees: () => false, node: null },
    {
      name: 'web.a.test',
      sees: (one) => one === 'blog',
      node: {
        namespace: 'blog',
        object: 'Ingress blog/www',
        rule: 'hostname',
        types: ['A'],
        isImplied: false,
      },
    },
  ]
  for (const { name, sees, node } of nodes) {
    test(`finds ${JSON.stringify(node)} for ${name}`, async () => {
      const fact = await explain(name, sees)
      assert.ok(typeof fact === 'object' && fact !== null && 'node' in fact)
      assert.deepEqual(fact.node, node)
    })
  }

  test('loads shards, and leaves the name out when it cannot', async () => {
    const keysOf = async (presence: FakeClusterOptions['presence']): Promise<boolean> => {
      const fact = await explain('web.a.test', undefined, { ...(presence && { presence }) })
      return typeof fact === 'object' && fact !== null && 'node' in fact
    }
    assert.equal(await keysOf('shards-later'), true)
    assert.equal(await keysOf('shards-never'), false)
    assert.equal(await keysOf('never'), false)
  })
})
