import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { denial, serveExternal } from './objects.ts'

const WEB = 'web.shop.ext.test'
const OUT = 'out.shop.ext.test'

describe('the name of a Service outside', () => {
  const cases: { name: string; options?: string[]; ask: string; reply: string[] }[] = [
    {
      name: 'has its addresses, at the query name',
      ask: 'WEB.shop.ext.TEST A',
      reply: ['NOERROR aa rd', 'WEB.shop.ext.TEST. 5 IN A 203.0.113.1'],
    },
    {
      name: 'has those of the other family',
      ask: `${WEB} AAAA`,
      reply: ['NOERROR aa rd', `${WEB}. 5 IN AAAA 2001:db8::1`],
    },
    {
      name: 'has its own TTL, but for SRV records',
      options: ['ttl 60'],
      ask: `_http._tcp.${WEB} SRV`,
      reply: [
        'NOERROR aa rd',
        `_http._tcp.${WEB}. 5 IN SRV 0 50 80 ${WEB}.`,
        `additional: ${WEB}. 60 IN A 203.0.113.1`,
        `additional: ${WEB}. 60 IN AAAA 2001:db8::1`,
      ],
    },
    {
      name: 'has SRV records of all ports',
      ask: `${WEB} SRV`,
      reply: [
        'NOERROR aa rd',
        `${WEB}. 5 IN SRV 0 25 80 ${WEB}.`,
        `${WEB}. 5 IN SRV 0 25 443 ${WEB}.`,
        `additional: ${WEB}. 5 IN A 203.0.113.1`,
        `additional: ${WEB}. 5 IN AAAA 2001:db8::1`,
      ],
    },
    {
      name: 'has a CNAME, and what that points to',
      ask: `${OUT} A`,
      reply: [
        'NOERROR aa rd',
        `${OUT}. 5 IN CNAME lb.example.net.`,
        'lb.example.net. 60 IN A 203.0.113.80',
      ],
    },
    {
      name: 'has SRV records to what a CNAME points to',
      ask: `${OUT} SRV`,
      reply: [
        'NOERROR aa rd',
        `${OUT}. 5 IN SRV 0 100 80 lb.example.net.`,
        'additional: lb.example.net. 60 IN A 203.0.113.80',
        'additional: lb.example.net. 60 IN AAAA 2001:db8::80',
      ],
    },
    { name: 'has no data of other types', ask: `${WEB} TXT`, reply: ['NOERROR aa rd', denial()] },
    { name: 'has no pointers', ask: `${WEB} PTR`, reply: ['NOERROR aa rd', denial()] },
    {
      name: 'has no CNAME for whom it is not followed',
      ask: `${OUT} CNAME`,
      reply: ['NOERROR aa rd', denial()],
    },
  ]
  for (const { name, options, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serveExternal(options).ask(ask), reply)
    })
  }

  test('has its CNAME even if the target does not exist, with the code of that', async () => {
    const objects = `
- kind: Service
  metadata: {name: out, namespace: shop}
  spec: {ports: [{port: 80}]}
  status: {loadBalancer: {ingress: [{hostname: none.example.net}]}}
- {kind: Namespace, metadata: {name: shop}}`
    const reply = await serveExternal([], { objects }).ask(`${OUT} A`)
    assert.deepEqual(reply, ['NXDOMAIN aa rd', `${OUT}. 5 IN CNAME none.example.net.`])
  })
})
