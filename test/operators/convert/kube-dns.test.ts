import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { Settings } from '../../../src/operators/convert/conversion.ts'
import { convertKubeDns, findKubeDns } from '../../../src/operators/convert/kube-dns.ts'

function configMap(data: object, name = 'kube-dns'): object {
  return { kind: 'ConfigMap', metadata: { name }, data }
}

describe('findKubeDns', () => {
  test('finds the ConfigMap by name or content', () => {
    assert.equal(findKubeDns([{ kind: 'Service' }, configMap({}, 'other'), 'x', null]), undefined)
    assert.ok(findKubeDns([configMap({})]))
    assert.ok(findKubeDns([configMap({ upstreamNameservers: '["192.0.2.1"]' }, 'mine')]))
  })

  test('reads both keys, and adds a notice for others', () => {
    const document = configMap({
      stubDomains: '{"a.test": ["192.0.2.1"]}',
      upstreamNameservers: '["192.0.2.2"]',
      federations: 'x',
      other: 'y',
    })
    assert.deepEqual(findKubeDns([document]), {
      document,
      stubDomains: new Map([['a.test', ['192.0.2.1']]]),
      upstreams: ['192.0.2.2'],
      notices: [
        '"federations" has no equivalent: federation names get no answers',
        'data.other has no effect on the Corefile',
      ],
    })
  })

  const wrong: { data: object; message: string }[] = [
    { data: { stubDomains: '{' }, message: 'stubDomains is not JSON' },
    { data: { stubDomains: '[]' }, message: 'stubDomains is not an object' },
    { data: { upstreamNameservers: '{}' }, message: 'upstreamNameservers is not a list' },
    {
      data: { upstreamNameservers: '[1]' },
      message: 'upstreamNameservers is not a list of servers',
    },
    {
      data: { stubDomains: '{"a": []}' },
      message: 'stubDomains: "a" is not a list of servers',
    },
    {
      data: { upstreamNameservers: '["1.1.1.1", "2.2.2.2", "3.3.3.3", "4.4.4.4"]' },
      message: 'upstreamNameservers has 4 servers, expected at most 3',
    },
  ]
  for (const { data, message } of wrong) {
    test(`refuses ${JSON.stringify(data)}`, () => {
      assert.throws(() => findKubeDns([configMap(data)]), { name: 'ConversionError', message })
    })
  }

  // kubernetes/dns, pkg/dns/config/config.go, validateStubDomains
  const zones = [
    '.',
    '',
    'bad..zone',
    'A.example',
    'a.example.',
    'a_b',
    '-a',
    'a b',
    'a\n}',
    '$$$$',
  ]
  for (const zone of [...zones, 'a"b', '{$HOME}', `${'a.'.repeat(127)}b`, 'ä.test', '*.test']) {
    test(`refuses the zone ${JSON.stringify(zone)}`, () => {
      const data = { stubDomains: JSON.stringify({ [zone]: ['192.0.2.1'] }) }
      const message = /^stubDomains: ".*" is not a zone in lower case without a final dot$/
      assert.throws(() => findKubeDns([configMap(data)]), { name: 'ConversionError', message })
    })
  }

  const servers = ['', 'bad host!', '10.0.0.1:abc', '10.0.0.1:65536', '10.0.0.1:0', '10.0.0.1:']
  const more = ['::1:', '[::1]', '010.0.0.1', '1.1.1.1\n}', '1.1.1.1 x', 'tls://1.1.1.1', '/etc/x']
  for (const server of [...servers, ...more, '"1.1.1.1"', '{$HOME}', 'A.example', 'fe80::1%eth0']) {
    for (const key of ['stubDomains', 'upstreamNameservers']) {
      test(`refuses the server ${JSON.stringify(server)} in ${key}`, () => {
        const value = key === 'stubDomains' ? { 'a.test': ['192.0.2.1', server] } : [server]
        const data = { [key]: JSON.stringify(value) }
        const message = new RegExp(`^${key}: .* is not an address with or without a port`)
        assert.throws(() => findKubeDns([configMap(data)]), { name: 'ConversionError', message })
      })
    }
  }

  test('accepts addresses with and without ports', () => {
    const list = ['192.0.2.1', '192.0.2.1:5353', '2001:db8::1', '[2001:db8::1]:53']
    const data = { stubDomains: JSON.stringify({ 'a-1.test': list, b: list }) }
    assert.deepEqual(findKubeDns([configMap(data)])?.stubDomains.get('b'), list)
  })

  test('accepts hostnames in stub domains of kube-dns only', () => {
    const stubs = [configMap({ stubDomains: '{"a.test": ["ns.example.org"]}' })]
    assert.throws(() => findKubeDns(stubs), /"ns\.example\.org" is not an address/)
    const found = findKubeDns(stubs, { takesHostnames: true })
    assert.deepEqual(found?.stubDomains.get('a.test'), ['ns.example.org'])
    const upstreams = [configMap({ upstreamNameservers: '["ns.example.org"]' })]
    assert.throws(() => findKubeDns(upstreams, { takesHostnames: true }), /is not an address/)
  })

  test('takes null for nothing, as Go does', () => {
    const document = configMap({ stubDomains: 'null', upstreamNameservers: 'null' })
    const nothing = { stubDomains: new Map(), upstreams: [], notices: [], document }
    assert.deepEqual(findKubeDns([document]), nothing)
  })
})

test('convertKubeDns needs a ConfigMap', () => {
  assert.throws(() => convertKubeDns([], new Settings([])), {
    name: 'ConversionError',
    message: /^no ConfigMap with stubDomains/,
  })
})

test('convertKubeDns names what it drops', () => {
  const documents = [
    { kind: 'Service', metadata: { namespace: 'kube-system', name: 'kube-dns' }, spec: {} },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'kube-dns', labels: { a: 'b' } },
      data: { stubDomains: '{"a.test": ["192.0.2.1"]}', federations: 'x=y', cacheSize: '1' },
      binaryData: { x: 'eA==' },
      immutable: true,
    },
    configMap({ stubDomains: '{"b.test": ["192.0.2.1"]}' }, 'second'),
  ]
  assert.deepEqual(convertKubeDns(documents, new Settings([])).notices, [
    '"federations" has no equivalent: federation names get no answers',
    'data.cacheSize has no effect on the Corefile',
    'binaryData has no effect on the Corefile',
    'immutable has no effect on the Corefile',
    'Service kube-system/kube-dns has no effect on the Corefile',
    'ConfigMap second has no effect on the Corefile',
  ])
})
