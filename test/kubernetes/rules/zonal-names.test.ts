import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { type NamingCase, namesOf } from '../naming.ts'

/** Names of a zone, those aside that every zone has. */
function zonalOf(some: Pick<NamingCase, 'objects' | 'options'>): string[] {
  const options = { ...some.options, isZonal: true }
  return namesOf({ ...some, options }).filter((line) => line.includes('_zone'))
}

function slice(service: string, endpoints: string): string {
  const labels = `labels: { kubernetes.io/service-name: ${service} }`
  return `
- kind: EndpointSlice
  metadata: { name: ${service}-1, namespace: shop, ${labels} }
  endpoints: [${endpoints}]
  ports: [{ name: sql, port: 5432 }]`
}
const HEADLESS =
  '- { kind: Service, metadata: { name: db, namespace: shop }, spec: { clusterIP: None } }'

describe('zonalNames', () => {
  const cases: { name: string; objects: string; lines: readonly string[] }[] = [
    {
      name: 'has the endpoints of each zone, which may be several labels',
      objects: `${HEADLESS}${slice(
        'db',
        `{ addresses: [192.0.2.1], hostname: a, zone: eu-1a },
         { addresses: [192.0.2.2], hostname: b, zone: Corp.example },
         { addresses: [192.0.2.3], hostname: c }`,
      )}`,
      lines: [
        '_zone.db.shop.svc exists',
        'corp.example.pin._zone.db.shop.svc 5 A 192.0.2.2',
        'corp.example.pin._zone.db.shop.svc 5 SRV 0 100 5432 b.db.shop.svc',
        'eu-1a.pin._zone.db.shop.svc 5 A 192.0.2.1',
        'eu-1a.pin._zone.db.shop.svc 5 SRV 0 100 5432 a.db.shop.svc',
      ],
    },
    {
      name: 'leaves out endpoints that are not ready, and zones that are no name',
      objects: `${HEADLESS}${slice(
        'db',
        `{ addresses: [192.0.2.1], zone: eu-1a, conditions: { ready: false } },
         { addresses: [192.0.2.2], zone: a..b }`,
      )}`,
      lines: ['_zone.db.shop.svc exists'],
    },
    {
      name: 'tells that a headless Service is there, whatever its endpoints',
      objects: HEADLESS,
      lines: ['_zone.db.shop.svc exists'],
    },
    {
      name: 'has none for a Service with a cluster IP',
      objects: `
- { kind: Service, metadata: { name: web, namespace: shop }, spec: { clusterIP: 192.0.2.10 } }
${slice('web', '{ addresses: [192.0.2.1], zone: eu-1a }')}`,
      lines: [],
    },
  ]
  for (const { name, objects, lines } of cases) {
    test(name, () => {
      assert.deepEqual(zonalOf({ objects }), lines)
    })
  }

  test('has none unless the option is set', () => {
    const objects = `${HEADLESS}${slice('db', '{ addresses: [192.0.2.1], zone: eu-1a }')}`
    assert.deepEqual(
      namesOf({ objects }).filter((line) => line.includes('_zone')),
      [],
    )
  })
})
