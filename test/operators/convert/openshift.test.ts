import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { Settings } from '../../../src/operators/convert/conversion.ts'
import { convertOpenshift } from '../../../src/operators/convert/openshift.ts'

function dns(spec: object): object {
  return { apiVersion: 'operator.openshift.io/v1', kind: 'DNS', spec }
}

function linesOf(spec: object, settings: readonly string[] = []): string[] {
  const { corefile } = convertOpenshift([{}, dns(spec)], new Settings(settings))
  return corefile.split('\n').map((line) => line.trim())
}

const TLS = { transport: 'TLS', tls: { serverName: 'dns.example.org', caBundle: { name: 'ca' } } }

test('convertOpenshift ignores empty operator fields without a notice', () => {
  const noticesOf = (spec: object): readonly string[] =>
    convertOpenshift([dns(spec)], new Settings([])).notices
  assert.deepEqual(noticesOf({ nodePlacement: {} }), [])
  assert.deepEqual(noticesOf({ nodePlacement: { tolerations: [{}] } }), [
    'spec.nodePlacement is for the operator; ignored',
  ])
})

describe('convertOpenshift names what it drops', () => {
  const server = { name: 'a', zones: ['a.test'], forwardPlugin: { upstreams: ['192.0.2.1'] } }
  const effect = 'has no effect on the Corefile'
  const cases: { name: string; spec: object; notices: readonly string[] }[] = [
    {
      name: 'unknown fields of the object',
      spec: { templates: [{ zones: ['.'], queryType: 'AAAA' }], newThing: true, off: false },
      notices: [`spec.templates ${effect}`, `spec.newThing ${effect}`, `spec.off ${effect}`],
    },
    {
      name: 'unknown fields of servers and upstreams',
      spec: {
        servers: [
          { ...server, queryType: 'AAAA' },
          {
            ...server,
            zones: ['b.test'],
            forwardPlugin: { ...server.forwardPlugin, cache: { a: 1 } },
          },
        ],
        upstreamResolvers: {
          upstreams: [{ type: 'Network', address: '192.0.2.1', weight: 1 }],
          retries: 2,
        },
        cache: { positiveTTL: '1m', prefetch: 1 },
      },
      notices: [
        `spec.servers[0].queryType ${effect}`,
        `spec.servers[1].forwardPlugin.cache ${effect}`,
        `spec.upstreamResolvers.upstreams[0].weight ${effect}`,
        `spec.upstreamResolvers.retries ${effect}`,
        `spec.cache.prefetch ${effect}`,
      ],
    },
    {
      name: 'address and port of a system resolver',
      spec: {
        upstreamResolvers: {
          upstreams: [{ type: 'SystemResolvConf', address: '192.0.2.1', port: 53 }],
        },
      },
      notices: [
        `spec.upstreamResolvers.upstreams[0].address ${effect}`,
        `spec.upstreamResolvers.upstreams[0].port ${effect}`,
      ],
    },
    {
      name: 'TLS without its transport',
      spec: {
        upstreamResolvers: {
          transportConfig: {
            transport: 'Cleartext',
            tls: { serverName: 'a.test', caBundle: { name: 'b' }, minVersion: '1.3' },
          },
        },
      },
      notices: [
        'upstreamResolvers: tls is ignored because the transport is not TLS',
        `spec.upstreamResolvers.transportConfig.tls.caBundle ${effect}`,
        `spec.upstreamResolvers.transportConfig.tls.minVersion ${effect}`,
      ],
    },
    {
      name: 'unknown fields beside the spec, and empty ones not',
      spec: { templates: [], extra: null },
      notices: [`data ${effect}`],
    },
  ]
  for (const { name, spec, notices } of cases) {
    test(name, () => {
      const object = notices[0]?.startsWith('data') ? { ...dns(spec), data: { a: 1 } } : dns(spec)
      assert.deepEqual(convertOpenshift([object], new Settings([])).notices, notices)
    })
  }

  test('other documents', () => {
    const other = { kind: 'ConfigMap', metadata: { namespace: 'a', name: 'b' } }
    const second = { ...dns({}), metadata: { name: 'second' } }
    assert.deepEqual(convertOpenshift([other, dns({}), second], new Settings([])).notices, [
      `ConfigMap a/b ${effect}`,
      `DNS second ${effect}`,
    ])
  })
})

describe('convertOpenshift', () => {
  const cases: { name: string; spec: object; settings?: string[]; line: string }[] = [
    { name: 'has the defaults of the operator', spec: {}, line: 'cache 900 {' },
    { name: 'queries /etc/resolv.conf otherwise', spec: {}, line: 'forward . /etc/resolv.conf {' },
    { name: 'queries in order otherwise', spec: {}, line: 'policy sequential' },
    {
      name: 'takes the configured domain',
      spec: {},
      settings: ['domain=x.org'],
      line: 'kubernetes x.org in-addr.arpa ip6.arpa {',
    },
    {
      name: 'rounds times',
      spec: { cache: { positiveTTL: '1m1.5s', negativeTTL: '2m' } },
      line: 'denial 9984 120',
    },
    {
      name: 'takes times under a second for none, as the operator does',
      spec: { cache: { positiveTTL: '400ms', negativeTTL: '0' } },
      line: 'denial 9984 30',
    },
    { name: 'logs negative responses', spec: { logLevel: 'Debug' }, line: 'class denial error' },
    {
      name: 'leaves out upstreams that exist',
      spec: {
        upstreamResolvers: {
          upstreams: [
            { type: 'Network', address: '2001:db8::1' },
            { type: 'Network', address: '2001:DB8::1', port: 53 },
            { type: 'Network', address: '192.0.2.1', port: 5353 },
            { type: '' },
            { type: 'SystemResolvConf', port: 53 },
          ],
        },
      },
      line: 'forward . 2001:DB8::1 192.0.2.1:5353 /etc/resolv.conf {',
    },
    {
      name: 'has a file of authorities where it is said to be',
      spec: {
        upstreamResolvers: {
          transportConfig: TLS,
          upstreams: [{ type: 'Network', address: '192.0.2.1' }],
        },
      },
      settings: ['ca.ca=/etc/ca.crt'],
      line: 'tls /etc/ca.crt',
    },
  ]
  for (const { name, spec, settings, line } of cases) {
    test(name, () => {
      assert.ok(linesOf(spec, settings).includes(line), linesOf(spec, settings).join('\n'))
    })
  }

  const tls = { zones: ['a'], name: 's' }
  const wrong: { name: string; spec: object; message: string }[] = [
    {
      name: 'TLS without a name',
      spec: { upstreamResolvers: { transportConfig: { transport: 'TLS' } } },
      message: 'upstreamResolvers: TLS needs a serverName',
    },
    {
      name: 'TLS to /etc/resolv.conf',
      spec: { upstreamResolvers: { transportConfig: TLS } },
      message: 'upstreamResolvers: TLS needs addresses of upstreams, not /etc/resolv.conf',
    },
    {
      name: 'TLS to a name',
      spec: { servers: [{ ...tls, forwardPlugin: { transportConfig: TLS, upstreams: ['a:53'] } }] },
      message: 'server "s": upstreams over TLS must be addresses',
    },
    {
      name: 'a system resolver whose address is none',
      spec: { upstreamResolvers: { upstreams: [{ type: 'SystemResolvConf', address: 'a.test' }] } },
      message: 'upstreamResolvers: A.TEST is not an address',
    },
    {
      name: 'an upstream without an address',
      spec: { upstreamResolvers: { upstreams: [{ type: 'Network' }] } },
      message: 'upstreamResolvers: an upstream of type Network needs an address',
    },
    {
      name: 'an unknown policy',
      spec: { upstreamResolvers: { policy: 'Fastest' } },
      message:
        'spec.upstreamResolvers.policy is "Fastest", expected Random, RoundRobin, Sequential',
    },
    {
      name: 'a negative duration',
      spec: { cache: { negativeTTL: '-5s' } },
      message: 'spec.cache.negativeTTL is "-5s", expected a duration',
    },
    {
      name: 'more upstreams than the operator takes',
      spec: { servers: [{ ...tls, forwardPlugin: { upstreams: Array(16).fill('192.0.2.1') } }] },
      message: 'spec.servers[0].forwardPlugin.upstreams is 16, expected at most 15 items',
    },
    {
      name: 'a field of another kind',
      spec: { servers: 'none' },
      message: 'spec.servers is "none", expected a list',
    },
  ]
  for (const { name, spec, message } of wrong) {
    test(`refuses ${name}`, () => {
      assert.throws(() => linesOf(spec), { name: 'ConversionError', message })
    })
  }

  test('reports what is ignored', () => {
    const spec = { upstreamResolvers: { transportConfig: { tls: { serverName: 'x' } } } }
    const { notices } = convertOpenshift([dns(spec)], new Settings([]))
    assert.deepEqual(notices, [
      'upstreamResolvers: tls is ignored because the transport is not TLS',
    ])
  })
})
