import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { HostObject } from '../../../src/cluster/objects/objects.ts'
import { listenerPorts } from '../../../src/cluster/rules/listener-ports.ts'
import { objectsOf } from '../naming.ts'

function hostObject(yaml: string): HostObject {
  const [first] = objectsOf(`[${yaml}]`)
  assert.ok(first !== undefined && 'listeners' in first)
  return first
}

const HOSTNAMES = ['', 'a.test', '*.a.test', '*.b.a.test', 'c.test']
const GATEWAY = hostObject(`{
  kind: Gateway,
  metadata: { name: public, namespace: shop },
  spec: { listeners: [${HOSTNAMES.map(
    (hostname, i) => `{ name: l${i}, port: ${i + 1}, hostname: '${hostname}', protocol: HTTPS }`,
  ).join()}] },
}`)
const ROUTE = hostObject(`{
  kind: HTTPRoute,
  metadata: { name: web, namespace: shop },
  spec: { parentRefs: [{ name: public }, { name: public }, { name: none }] },
}`)
const INGRESS = hostObject(`{
  kind: Ingress,
  metadata: { name: web, namespace: shop },
  spec: { tls: [{ hosts: ['a.test', '*.b.test'] }] },
}`)

describe('listenerPorts', () => {
  const cases: { name: string; object: HostObject; host: string; ports: number[] }[] = [
    { name: 'a name, and of any', object: ROUTE, host: 'a.test', ports: [1, 2] },
    { name: 'a wildcard over one label', object: ROUTE, host: 'x.a.test', ports: [1, 3] },
    { name: 'wildcards over several', object: ROUTE, host: 'x.b.a.test', ports: [1, 4, 3] },
    { name: 'a wildcard itself', object: ROUTE, host: '*.a.test', ports: [1, 3] },
    { name: 'no wildcard of part of a label', object: ROUTE, host: 'xa.test', ports: [1] },
    { name: 'the TLS of an Ingress', object: INGRESS, host: 'a.test', ports: [443] },
    { name: 'no wildcard of an Ingress', object: INGRESS, host: 'x.b.test', ports: [] },
  ]
  for (const { name, object, host, ports } of cases) {
    test(`are those of ${name}`, () => {
      const portsOf = listenerPorts(object, (key) => (key === 'shop/public' ? GATEWAY : undefined))
      assert.deepEqual(
        portsOf(host).map(({ port }) => port),
        ports,
      )
    })
  }
})
