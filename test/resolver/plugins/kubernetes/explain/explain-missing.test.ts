import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { explainIn } from '../explain-places.ts'

const ports = Array.from({ length: 5 }, (_, i) => `{ name: p${i}, port: ${80 + i} }`).join(', ')
const objects = `
- { kind: Namespace, metadata: { name: shop } }
- { kind: Service, metadata: { name: web, namespace: shop }, spec: { clusterIP: 192.0.2.10, ports: [${ports}] } }
- { kind: Pod, metadata: { name: a, namespace: shop }, status: { podIP: 192.0.2.1, phase: Running } }`

describe('the part of a name that is missing', () => {
  const cases: { name: string; code: string; missing: string; sees?: () => boolean }[] = [
    { name: 'web.shop', code: 'no_branch', missing: 'shop' },
    { name: 'web.none.svc', code: 'no_namespace', missing: 'none' },
    { name: 'web.shop.svc', code: 'no_namespace', missing: 'shop', sees: () => false },
    { name: 'none.shop.svc', code: 'no_service', missing: 'none' },
    { name: '_none._tcp.web.shop.svc', code: 'no_port', missing: '_none._tcp' },
    { name: 'none.web.shop.svc', code: 'no_endpoint', missing: 'none' },
    { name: 'a.none.web.shop.svc', code: 'too_many_labels', missing: 'a' },
    { name: '192-0-2-9.shop.pod', code: 'no_pod', missing: '192-0-2-9' },
    { name: '192-0-2-9.none.pod', code: 'no_namespace', missing: 'none' },
  ]
  for (const { name, sees, code, missing } of cases) {
    test(`${name}${sees === undefined ? '' : ', hidden'}: ${code}`, async () => {
      const cluster = { objects, ...(sees && { sees }) }
      const { node, reason } = await explainIn(cluster, `${name}.cluster.local A`)
      assert.deepEqual([node, reason?.code, reason?.missing], [null, code, missing])
    })
  }

  test('may be endpoints if the objects are in a thread that does not answer', async () => {
    const cluster = { objects, isSilent: true } as const
    const { reason } = await explainIn(cluster, 'none.shop.svc.cluster.local A')
    assert.match(reason?.text ?? '', /, or it is headless and has no ready endpoint$/)
  })

  test('lists three ports of the Service', async () => {
    const { reason } = await explainIn({ objects }, '_none._tcp.web.shop.svc.cluster.local SRV')
    assert.deepEqual(
      reason?.didYouMean,
      ['p0', 'p1', 'p2'].map((port) => `_${port}._tcp.web.shop.svc.cluster.local.`),
    )
  })
})

describe('names of Pods', () => {
  const NAME = '192-0-2-9.shop.pod.cluster.local'

  test('exist for any address with "pods insecure"', async () => {
    const cluster = { objects, pods: 'insecure' } as const
    assert.equal((await explainIn(cluster, `${NAME} A`)).node?.rule, 'pod')
    const { reason } = await explainIn(cluster, `${NAME} AAAA`)
    assert.equal(reason?.text, 'any Pod at 192-0-2-9 in shop has A, no AAAA')
  })

  test('do not exist with "pods disabled"', async () => {
    const { reason } = await explainIn({ objects, pods: 'disabled' }, `${NAME} A`)
    assert.equal(reason?.code, 'no_pods')
  })
})
