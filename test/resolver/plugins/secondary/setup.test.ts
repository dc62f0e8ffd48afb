import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { OPCODE } from '../../../../src/dns/names/rcode.ts'
import { TYPE } from '../../../../src/dns/names/rr-type.ts'
import { FLAG } from '../../../../src/dns/wire/query.ts'
import { writeQuery } from '../../../../src/dns/wire/write-query.ts'
import { block, directive, type Server, serve } from '../../../ask.ts'
import { settle } from '../../../fake-host.ts'
import { formatReply } from '../../../message-text.ts'

const soa = (zone: string, serial = 7): string => `${zone}. 60 IN SOA . . ${serial} 100 20 300 60`
const FROM = 'transfer from 192.0.2.1'

/** Serves zones that all primaries have, each with `www` and what a test adds. */
function start(corefile: string, more: Readonly<Record<string, readonly string[]>> = {}): Server {
  const server = serve(corefile, {
    upstream: ({ question }) =>
      question.startsWith('NOTIFY') ? ['NOERROR aa'] : ['NOERROR aa', soa('example.org')],
    transfers: ({ question }) => {
      const zone = question.split('. ')[0] ?? ''
      const records = more[zone] ?? []
      const www = `www.${zone}. 60 IN A 192.0.2.80`
      return [
        ['NOERROR aa', soa(zone), `${zone}. 60 IN NS ns.${zone}.`, www, ...records, soa(zone)],
      ]
    },
  })
  server.resolver.start()
  return server
}

function notice(zone: string): Uint8Array {
  const flags = (OPCODE.NOTIFY << 11) | FLAG.AA
  return writeQuery({ name: nameOf(zone), type: TYPE.SOA, id: 9, flags })
}

describe('secondary', () => {
  const corefile = block(directive('secondary example.org', FROM))

  test('answers from a zone that it received', async () => {
    const server = start(corefile)
    assert.deepEqual(await server.ask('www.example.org A'), ['SERVFAIL rd'])
    await settle()
    assert.deepEqual(await server.ask('www.example.org A'), [
      'NOERROR aa rd',
      'www.example.org. 60 IN A 192.0.2.80',
      'authority: example.org. 60 IN NS ns.example.org.',
    ])
    assert.deepEqual(await server.ask('x.example.org A'), [
      'NXDOMAIN aa rd',
      `authority: ${soa('example.org')}`,
    ])
    assert.deepEqual(await server.ask('www.example.net A'), ['REFUSED rd'])
    server.resolver.stop()
  })

  test('fails when the zone has expired', async () => {
    const server = start(corefile)
    await settle()
    server.resolver.stop()
    await server.host.advance(300_000)
    assert.deepEqual(await server.ask('www.example.org A'), ['SERVFAIL rd'])
  })

  test('passes unknown names on with fallthrough', async () => {
    const server = start(block(directive('secondary example.org', FROM, 'fallthrough'), 'whoami'))
    await settle()
    const [head, ...lines] = await server.ask('x.example.org A')
    assert.equal(head, 'NOERROR aa rd')
    assert.match(lines.join(), /_udp\.x\.example\.org/)
    server.resolver.stop()
  })

  test('transfers its zones, and sends NOTIFY for them', async () => {
    const transfer = directive('transfer example.org', 'to * 192.0.2.9')
    const server = start(block(transfer, directive('secondary example.org', FROM)))
    await settle()
    assert.equal((await server.ask('example.org AXFR +tcp')).length, 5)
    assert.ok(server.host.asked.some(({ upstream }) => upstream === '192.0.2.9:53'))
    server.resolver.stop()
  })

  test('has the zones that a catalog lists', async () => {
    const catalog = block(directive('secondary cat.test', FROM, 'catalog example.org'))
    const server = start(catalog, {
      'cat.test': [
        'version.cat.test. 60 IN TXT "2"',
        'a.zones.cat.test. 60 IN PTR sub.example.org.',
      ],
    })
    await settle()
    assert.equal((await server.ask('www.sub.example.org A'))[0], 'NOERROR aa rd')
    server.resolver.stop()
  })
})

describe('a notice', () => {
  const corefile = block(directive('secondary example.org', FROM))
  const from = (address: string) => ({ address, port: 4242, transport: 'udp' }) as const
  const cases: { name: string; zone: string; address: string; reply: string[]; asks: number }[] = [
    {
      name: 'of a primary is taken, and looked into',
      zone: 'example.org',
      address: '192.0.2.1',
      reply: ['NOERROR aa'],
      asks: 1,
    },
    {
      name: 'of others gets no answer',
      zone: 'example.org',
      address: '192.0.2.2',
      reply: [],
      asks: 0,
    },
    {
      name: 'of a part of the zone gets no answer',
      zone: 'a.example.org',
      address: '192.0.2.1',
      reply: [],
      asks: 0,
    },
    {
      name: 'of other zones is for nobody',
      zone: 'example.net',
      address: '192.0.2.1',
      reply: ['NOTIMP'],
      asks: 0,
    },
  ]
  for (const { name, zone, address, reply, asks } of cases) {
    test(name, async () => {
      const server = start(corefile)
      await settle()
      const before = server.host.asked.length
      const answer = await server.answer(notice(zone), from(address))
      assert.deepEqual(answer === undefined ? [] : formatReply(answer), reply)
      await settle()
      assert.equal(server.host.asked.length - before, asks)
      server.resolver.stop()
    })
  }
})
