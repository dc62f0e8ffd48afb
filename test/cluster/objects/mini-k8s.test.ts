import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { fromMiniK8s } from '../../../src/cluster/objects/mini-k8s.ts'

const PATHS = [
  { address: '10.1.1.10', service: 'service1', port: 8010 },
  { path: '/two/', service: 'service2', port: 8011 },
]
const SPEC = {
  host: 'node1.com',
  paths: [
    { path: '/service1', service: 'service1', port: 8010 },
    { path: '/two', service: 'service2', port: 8011 },
  ],
}

describe('a DNS object of mini-k8s', () => {
  const own = { host: 'Node1.com', paths: PATHS }
  const cases = [
    { kind: 'DNS', apiVersion: 'v1', name: 'dns-test1', ...own },
    { kind: 'dnsrecord', name: 'dns-test1', ...own },
    {
      kind: 'dnsrecord',
      apiVersion: 'app/v1',
      name: 'dns-test1',
      namespace: 'default',
      ...own,
      paths: [PATHS[0], { ...PATHS[1], path: undefined, pathName: 'two' }],
    },
    { kind: 'DNS', apiVersion: 'v1', metadata: { name: 'dns-test1' }, spec: own },
  ]
  for (const value of cases) {
    test(`is a HostRoute: ${Object.keys(value).join(' ')}`, () => {
      const { kind, metadata, spec } = fromMiniK8s(value) as Record<string, unknown>
      assert.deepEqual([kind, spec], ['HostRoute', SPEC])
      assert.equal((metadata as { name: string }).name, 'dns-test1')
    })
  }

  test('is no DNS object of another system, nor anything else', () => {
    const others = [
      { kind: 'DNS', apiVersion: 'operator.openshift.io/v1', metadata: { name: 'default' } },
      { kind: 'DNSRecord', apiVersion: 'kubedoh.dev/v1alpha1' },
      { kind: 'DNS', spec: 1 },
      null,
      'DNS',
    ]
    for (const value of others) assert.equal(fromMiniK8s(value), value)
  })

  test('stays invalid without its fields', () => {
    const { spec } = fromMiniK8s({ kind: 'DNS', paths: [1, {}] }) as { spec: unknown }
    assert.deepEqual(spec, {
      host: undefined,
      paths: [1, { path: '/undefined', service: undefined, port: undefined }],
    })
  })
})
