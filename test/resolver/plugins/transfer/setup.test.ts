import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { concatBytes, writeUint16 } from '../../../../src/dns/bytes/bytes.ts'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { TYPE } from '../../../../src/dns/names/rr-type.ts'
import { writeQuery } from '../../../../src/dns/wire/write-query.ts'
import { block, directive, type Server, serve } from '../../../ask.ts'
import { hex } from '../../../dns/wire/messages.ts'
import { settle } from '../../../fake-host.ts'
import { formatReply } from '../../../message-text.ts'
import { APEX } from '../file/zones.ts'

const FILES = { db: `${APEX}www A 192.0.2.1` }
const SOA = 'example.org. 3600 IN SOA ns.example.org. host.example.org. 7 3600 600 86400 300'
const ALL = [
  'NOERROR aa rd',
  SOA,
  'example.org. 3600 IN NS ns.example.org.',
  'www.example.org. 3600 IN A 192.0.2.1',
  SOA,
]

function withRules(...rules: string[]): Server {
  return serve(block(...rules, 'file db example.org sub.example.org'), { files: FILES })
}

describe('transfer', () => {
  const open = directive('transfer example.org', 'to *')
  const cases: { name: string; rules: string[]; ask: string; replies: string[] }[] = [
    { name: 'sends a zone over TCP', rules: [open], ask: 'example.org AXFR +tcp', replies: ALL },
    { name: 'sends a zone over TLS', rules: [open], ask: 'example.org AXFR +tls', replies: ALL },
    {
      name: 'sends a zone to a client that is named',
      rules: [directive('transfer example.org', 'to 192.0.2.9 198.51.100.7')],
      ask: 'example.org AXFR +tcp',
      replies: ALL,
    },
    {
      name: 'refuses others',
      rules: [directive('transfer example.org', 'to 192.0.2.9')],
      ask: 'example.org AXFR +tcp',
      replies: ['REFUSED rd'],
    },
    {
      name: 'refuses over UDP',
      rules: [open],
      ask: 'example.org AXFR +udp',
      replies: ['REFUSED rd'],
    },
    {
      name: 'leaves zones without a rule to the plugins that have them, which refuse',
      rules: [directive('transfer example.net', 'to *')],
      ask: 'example.org AXFR +tcp',
      replies: ['REFUSED rd'],
    },
    {
      name: 'sends no part of a zone',
      rules: [open],
      ask: 'www.example.org AXFR +tcp',
      replies: ['REFUSED rd'],
    },
    {
      name: 'goes by the rule with the longest zone',
      rules: [open, directive('transfer sub.example.org', 'to 192.0.2.9')],
      ask: 'sub.example.org AXFR +tcp',
      replies: ['REFUSED rd'],
    },
    {
      name: 'fails to send changes to a client that does not say what it has',
      rules: [open],
      ask: 'example.org IXFR +tcp',
      replies: ['SERVFAIL rd'],
    },
    {
      name: 'leaves other types alone',
      rules: [open],
      ask: 'www.example.org A',
      replies: [
        'NOERROR aa rd',
        'www.example.org. 3600 IN A 192.0.2.1',
        'authority: example.org. 3600 IN NS ns.example.org.',
      ],
    },
  ]
  for (const { name, rules, ask, replies } of cases) {
    test(name, async () => {
      assert.deepEqual(await withRules(...rules).ask(ask), replies)
    })
  }

  const changes: { name: string; serial: string; more?: string; replies: string[] }[] = [
    { name: 'sends all to a client that has an older serial', serial: '00000006', replies: ALL },
    {
      name: 'knows the serial also when another name is queried',
      serial: '00000007',
      more: 'rewrite name exact example.net example.org',
      replies: [
        'NOERROR rd',
        SOA.replaceAll(/^example\.org|(?<=ns\.)example\.org/g, 'example.net'),
      ],
    },
    {
      name: 'says without authority that a serial is current',
      serial: '00000007',
      replies: ['NOERROR rd', SOA],
    },
  ]
  for (const { name, serial, more, replies } of changes) {
    test(name, async () => {
      const asked = nameOf(more === undefined ? 'example.org' : 'example.net')
      const soa = `c00c 0006 0001 00000000 0016 00 00 ${serial} ${'00000001'.repeat(4)}`
      const question = writeQuery({ name: asked, type: TYPE.IXFR })
      const message = concatBytes(question, hex(soa))
      writeUint16(message, 8, 1)
      const client = { address: '198.51.100.7', port: 4242, transport: 'tcp' } as const
      const reply = await withRules(open, ...(more === undefined ? [] : [more])).answer(
        message,
        client,
      )
      assert.deepEqual(formatReply(reply ?? assert.fail()), replies)
    })
  }

  test('says in the log what was sent', async () => {
    const server = withRules(open)
    await server.ask('example.org AXFR +tcp')
    assert.deepEqual(server.host.events, [
      {
        level: 'info',
        message: 'transferred a zone',
        zone: 'example.org.',
        to: '198.51.100.7',
        records: 4,
      },
    ])
  })
})

describe('secondaries get NOTIFY', () => {
  const questions = (server: Server): string[] =>
    server.host.asked.map(({ upstream, question }) => `${upstream} ${question}`)
  const rules = [
    directive('transfer example.org', 'to 192.0.2.9 *'),
    directive('transfer sub.example.org', 'to 192.0.2.8:5353'),
  ]

  test('of all zones at the start, each by the rule for it', async () => {
    const server = serve(block(...rules, 'file db example.org sub.example.org'), {
      files: FILES,
      upstream: () => ['NOERROR aa'],
    })
    await server.prepared
    server.resolver.start()
    await settle()
    assert.deepEqual(questions(server), [
      '192.0.2.9:53 NOTIFY example.org. IN SOA aa',
      '192.0.2.8:5353 NOTIFY sub.example.org. IN SOA aa',
    ])
    server.resolver.stop()
  })

  test('of a zone that changed', async () => {
    const server = serve(block(...rules, directive('file db example.org', 'reload 5s')), {
      files: FILES,
      upstream: () => ['NOERROR aa'],
    })
    await server.prepared
    server.resolver.start()
    await settle()
    server.host.files.set('db', APEX.replace(' 7 ', ' 8 '))
    await server.host.advance(5000)
    assert.equal(questions(server).length, 2)
    server.resolver.stop()
  })

  test('of no zone that could not be read', async () => {
    const server = serve(block(...rules, 'file none example.org'))
    server.resolver.start()
    await settle()
    assert.deepEqual(server.host.asked, [])
    server.resolver.stop()
  })
})
