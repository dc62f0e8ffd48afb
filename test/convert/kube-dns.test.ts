import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { Settings } from '../../src/convert/conversion.ts'
import { convertKubeDns, findKubeDns } from '../../src/convert/kube-dns.ts'

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
    const found = findKubeDns([
      configMap({
        stubDomains: '{"a.test": ["192.0.2.1"]}',
        upstreamNameservers: '["192.0.2.2"]',
        federations: 'x',
        other: 'y',
      }),
    ])
    assert.deepEqual(found, {
      stubDomains: new Map([['a.test', ['192.0.2.1']]]),
      upstreams: ['192.0.2.2'],
      notices: [
        '"federations" has no equivalent: federation names get no answers',
        '"other" is unknown; ignored',
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
  ]
  for (const { data, message } of wrong) {
    test(`refuses ${JSON.stringify(data)}`, () => {
      assert.throws(() => findKubeDns([configMap(data)]), { name: 'ConversionError', message })
    })
  }
})

test('convertKubeDns needs a ConfigMap', () => {
  assert.throws(() => convertKubeDns([], new Settings([])), {
    name: 'ConversionError',
    message: /^no ConfigMap with stubDomains/,
  })
})
