import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parseOptions } from '../../../../src/dns/wire/edns.ts'
import { parseQuery } from '../../../../src/dns/wire/query.ts'
import { block, serve } from '../../../ask.ts'
import { serveRules } from './rules.ts'

const OBJECTS = `
- { apiVersion: v1, kind: Namespace, metadata: { name: shop } }
- apiVersion: v1
  kind: Service
  metadata: { name: web, namespace: shop }
  spec: { clusterIP: 10.96.0.7, clusterIPs: [10.96.0.7], ports: [{ port: 80, protocol: TCP }] }
`
const WEB = 'web.shop.svc.cluster.local'

describe('rewrite before kubernetes', () => {
  const cases: {
    name: string
    rules: string[]
    ask: string
    isQuick: boolean
    reply?: string[]
  }[] = [
    {
      name: 'leaves names that no rule matches on the fast path',
      rules: [
        'name regex (.*)\\.(.*)\\.endpoints\\.cluster\\.local {1}-x.{2}.svc.cluster.local answer auto',
        'name suffix .apps.example.org .svc.cluster.local answer auto',
        'name prefix old. www.',
        'name substring .internal. .svc.',
        'name shop.example.org web.shop.svc.cluster.local',
        'ttl suffix .example.org 5',
        'rcode regex ^old\\. NXDOMAIN NOERROR',
        'type ANY A',
        'class CH IN',
        'cname suffix .a.org. .b.org.',
        'edns0 local set 65001 a',
        'edns0 subnet set 24 56',
      ].map((rule) => `continue ${rule}`),
      ask: `${WEB} A`,
      isQuick: true,
    },
    {
      name: 'answers names that a rule matches on the slow path',
      rules: ['name suffix .apps.example.org .shop.svc.cluster.local answer auto'],
      ask: 'WEB.apps.example.org A',
      isQuick: false,
      reply: ['NOERROR aa rd', 'WEB.apps.example.org. 5 IN A 10.96.0.7'],
    },
    {
      name: 'bounds TTLs on the slow path',
      rules: [`ttl ${WEB} 1`],
      ask: `${WEB} A`,
      isQuick: false,
      reply: ['NOERROR aa rd', `${WEB}. 1 IN A 10.96.0.7`],
    },
    {
      name: 'changes response codes on the slow path',
      rules: ['rcode suffix .cluster.local NXDOMAIN REFUSED'],
      ask: 'nosuch.shop.svc.cluster.local A',
      isQuick: false,
    },
    {
      name: 'queries other types on the slow path',
      rules: ['type TXT A'],
      ask: `${WEB} TXT`,
      isQuick: false,
      reply: ['NOERROR aa rd', `${WEB}. 5 IN A 10.96.0.7`],
    },
    {
      name: 'gives options back that it has set',
      rules: ['edns0 local set 65001 a'],
      ask: `${WEB} A +edns`,
      isQuick: false,
      reply: ['NOERROR aa rd', `${WEB}. 5 IN A 10.96.0.7`, 'edns: 1232', 'option 65001: 61'],
    },
    {
      name: 'gives options that it has taken back to nobody',
      rules: ['edns0 local set 65001 a revert'],
      ask: `${WEB} A +edns`,
      isQuick: false,
      reply: ['NOERROR aa rd', `${WEB}. 5 IN A 10.96.0.7`, 'edns: 1232'],
    },
    {
      name: 'gives no options to clients without EDNS',
      rules: ['edns0 local set 65001 a'],
      ask: `${WEB} A`,
      isQuick: true,
      reply: ['NOERROR aa rd', `${WEB}. 5 IN A 10.96.0.7`],
    },
  ]
  for (const { name, rules, ask, isQuick, reply } of cases) {
    test(name, async () => {
      const lines = rules.map((rule) => `rewrite ${rule}`)
      const corefile = block(...lines, 'kubernetes cluster.local')
      const server = serve(corefile, { cluster: { objects: OBJECTS } })
      assert.equal(await server.isQuick(ask), isQuick)
      if (reply !== undefined) assert.deepEqual(await server.ask(ask), reply)
    })
  }
})

describe('rewrite', () => {
  for (const [words, options] of [
    ['+edns', []],
    ['+nsid', ['nsid: 6e7331']],
    ['', []],
  ] as const) {
    test(`requests the identifier of upstreams, for clients that request it (${words})`, async () => {
      const server = serve(block('rewrite edns0 nsid set', 'forward . 192.0.2.53'), {
        upstream: ({ question }) => {
          assert.match(question, / option=3:$/)
          return ['NOERROR ra', 'option 3: 6e7331']
        },
      })
      const reply = await server.ask(`a.org A ${words}`.trim())
      const edns = words === '' ? [] : ['edns: 1232']
      assert.deepEqual(reply, ['NOERROR rd ra', ...edns, ...options])
    })
  }

  test('stands as often as there are rules', async () => {
    const server = serveRules(['name a.org b.org', 'name c.org d.org'], {
      'b.org. IN A rd': ['NOERROR ra'],
      'd.org. IN A rd': ['REFUSED ra'],
    })
    assert.deepEqual(await server.ask('a.org A'), ['NOERROR rd ra'])
    assert.deepEqual(await server.ask('c.org A'), ['REFUSED rd ra'])
  })

  test('queries upstreams with the options that it sets', async () => {
    const lines = ['continue edns0 local set 65001 {qname}', 'name a.org b.org']
    const rules = lines.map((rule) => `rewrite ${rule}`)
    const server = serve(block(...rules, 'forward . 192.0.2.53'), {
      upstream: () => ['NOERROR ra'],
    })
    assert.deepEqual(await server.ask('A.org A'), ['NOERROR rd ra'])
    const [asked = assert.fail('nobody was asked')] = server.host.asked
    assert.match(asked.question, /^b\.org\. IN A rd edns=/)
    const query = parseQuery(asked.message)
    assert.ok(query.kind === 'query')
    assert.deepEqual(parseOptions(query.bytes, query.optionsStart, query.optionsBytes), [
      { code: 65_001, data: new TextEncoder().encode('A.org.') },
    ])
  })
})
