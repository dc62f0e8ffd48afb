import assert from 'node:assert/strict'
import { test } from 'vitest'
import type { HostObject } from '../../../src/cluster/objects/objects.ts'
import { recordRefusal } from '../../../src/cluster/rules/dns-records.ts'
import { objectsOf } from '../naming.ts'

function objectOf(namespace: string, spec: string): HostObject {
  const metadata = `{ name: r, namespace: ${namespace} }`
  const [object] = objectsOf(`- { kind: DNSRecord, metadata: ${metadata}, spec: { ${spec} } }`)
  assert.ok(object?.kind === 'DNSRecord')
  return object
}

const TREE = {
  recordZones: [
    { namespace: 'shop', zones: ['a.test', 'b.test'] },
    { namespace: '*', zones: ['open.test'] },
  ],
}
const VALUES = 'type: A, values: [203.0.113.1]'

const cases = [
  { namespace: 'shop', spec: `zone: a.test, name: '@', ${VALUES}`, reason: undefined },
  { namespace: 'shop', spec: `zone: x.b.test, name: y, ${VALUES}`, reason: undefined },
  { namespace: 'blog', spec: `zone: open.test, name: '*', ${VALUES}`, reason: undefined },
  { namespace: 'blog', spec: `zone: a.test, name: x, ${VALUES}`, reason: 'OutsideAllowedZones' },
  { namespace: 'shop', spec: `zone: xa.test, name: x, ${VALUES}`, reason: 'OutsideAllowedZones' },
  { namespace: 'shop', spec: `zone: test, name: '*', ${VALUES}`, reason: 'OutsideAllowedZones' },
  { namespace: 'shop', spec: 'zone: a.test, name: x, type: A', reason: 'InvalidValue' },
  {
    namespace: 'shop',
    spec: 'zone: a.test, name: x, type: CNAME, values: [X.a.test.]',
    reason: 'InvalidValue',
  },
]
for (const { namespace, spec, reason } of cases) {
  test(`a DNSRecord of ${namespace} with ${spec}: ${reason ?? 'accepted'}`, () => {
    assert.equal(recordRefusal(objectOf(namespace, spec), TREE)?.reason, reason)
  })
}

test('objects of other kinds need no zones', () => {
  const [ingress] = objectsOf(
    '- { kind: Ingress, metadata: { name: a }, spec: { rules: [{ host: a.test }] } }',
  )
  assert.ok(ingress?.kind === 'Ingress')
  assert.equal(recordRefusal(ingress, TREE), undefined)
})
