import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { readUint16, writeUint16 } from '../../../src/dns/bytes/bytes.ts'
import { nameOf } from '../../../src/dns/names/name.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import { EMPTY_REPLY } from '../../../src/dns/wire/message.ts'
import type { Plugin } from '../../../src/resolver/contract/plugin.ts'
import { block, directive, type Server, serve } from '../../ask.ts'
import { formatReply, parseQuestion } from '../../message-text.ts'
import { serveWith } from './serve-with.ts'

/** A server that has a name with as many addresses as there are in 192.0.2.0/24 but one. */
function serveMany(): Server {
  const lines = Array.from({ length: 255 }, (_, i) => `192.0.2.${i} many.example.org`)
  return serve(block(directive('hosts none', ...lines)))
}

describe('refusing', () => {
  const whoami = 'example.org {\n whoami\n}'
  const forward = 'example.org {\n forward . 192.0.2.53\n}'
  const cases: { name: string; corefile: string; ask: string; reply: string[] }[] = [
    {
      name: 'refuses a name that no server block is for',
      corefile: whoami,
      ask: 'www.example.net A',
      reply: ['REFUSED rd'],
    },
    {
      name: 'adds Not Authoritative for a client that understands it, where errors are reported at all',
      corefile: 'example.org {\n whoami\n errors\n}',
      ask: 'www.example.net A +do',
      reply: ['REFUSED rd', 'edns: 1232 do', 'ede: 20'],
    },
    {
      name: 'says nothing where they are not',
      corefile: whoami,
      ask: 'www.example.net A +do',
      reply: ['REFUSED rd', 'edns: 1232 do'],
    },
    {
      name: 'refuses other classes',
      corefile: whoami,
      ask: 'version.example.org CH TXT +edns',
      reply: ['REFUSED rd', 'edns: 1232'],
    },
    {
      name: 'repeats NSID in a refusal, as in other responses',
      corefile: whoami,
      ask: 'version.example.org CH TXT +nsid +padding',
      reply: ['REFUSED rd', 'edns: 1232', 'nsid:'],
    },
    {
      name: 'lets other classes in where forward can do with them',
      corefile: forward,
      ask: 'version.example.org CH TXT',
      reply: ['NOERROR rd ra', 'version.example.org. 0 CH TXT "1"'],
    },
    {
      name: 'echoes CD and leaves out RD when it was not set',
      corefile: whoami,
      ask: 'www.example.net A +nord +cd',
      reply: ['REFUSED cd'],
    },
  ]
  for (const type of ['AXFR', 'IXFR']) {
    cases.push({
      name: `refuses ${type} over HTTPS, whatever would forward it`,
      corefile: `https://${forward}`,
      ask: `example.org ${type} +https`,
      reply: ['REFUSED rd'],
    })
  }
  for (const { name, corefile, ask, reply } of cases) {
    test(name, async () => {
      const server = serve(corefile, {
        upstream: () => ['NOERROR ra', 'version.example.org. 0 CH TXT "1"'],
      })
      assert.deepEqual(await server.ask(ask), reply)
    })
  }
})

describe('messages that are no proper queries', () => {
  const change =
    (at: number, value: number) =>
    (message: Uint8Array): void =>
      writeUint16(message, at, value)
  const cases: {
    name: string
    ask?: string
    spoil: (message: Uint8Array) => void
    reply: string[]
  }[] = [
    { name: 'gives no answer to a response', spoil: change(2, 0x8100), reply: [] },
    { name: 'answers NOTIMP to another operation', spoil: change(2, 0x2100), reply: ['NOTIMP rd'] },
    { name: 'answers FORMERR without a question', spoil: change(4, 0), reply: ['FORMERR rd'] },
    {
      name: 'answers BADVERS to a newer EDNS',
      spoil: (message) => change(message.length - 6, 0x0001)(message),
      reply: ['BADVERS rd', 'edns: 1232'],
    },
    {
      name: 'refuses another class before it looks at the EDNS version',
      ask: 'www.example.org CH A +edns',
      spoil: (message) => change(message.length - 6, 0x0001)(message),
      reply: ['REFUSED rd', 'edns: 1232'],
    },
  ]
  for (const { name, ask = 'www.example.org A +edns', spoil, reply } of cases) {
    test(name, async () => {
      const { message } = parseQuestion(ask)
      spoil(message)
      const bytes = await serve(block('whoami')).answer(message)
      assert.deepEqual(bytes === undefined ? [] : formatReply(bytes), reply)
    })
  }

  test('never throws and always answers with the ID, whatever bytes come', async () => {
    const server = serve(block('any', 'hosts none', 'whoami'))
    const { message } = parseQuestion('www.example.org A +do +nsid +padding')
    const spoiled = fc
      .array(fc.tuple(fc.nat(message.length - 1), fc.nat(255)), { maxLength: 4 })
      .map((changes) => {
        const bytes = message.slice()
        for (const [at, value] of changes) bytes[at] = value
        return bytes
      })
    await fc.assert(
      fc.asyncProperty(fc.oneof(spoiled, fc.uint8Array({ maxLength: 600 })), async (bytes) => {
        const reply = await server.answer(bytes)
        if (reply === undefined) return
        assert.equal(readUint16(reply, 0), readUint16(bytes, 0))
        assert.ok(formatReply(reply).length > 0)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('truncation', () => {
  // Header and question take 34 bytes, each address 16, the OPT record 11.
  const cases: { name: string; words: string; count: number; flags: string }[] = [
    { name: 'is at 512 bytes over UDP without EDNS', words: '', count: 29, flags: 'aa tc rd' },
    {
      name: 'is at the size that the client says',
      words: ' +edns=1232',
      count: 74,
      flags: 'aa tc rd',
    },
    {
      name: 'is not below 512, whatever the client says',
      words: ' +edns=100',
      count: 29,
      flags: 'aa tc rd',
    },
    {
      name: 'is at 1232, whatever the client says',
      words: ' +edns=65535',
      count: 74,
      flags: 'aa tc rd',
    },
    { name: 'is not over TCP', words: ' +tcp', count: 255, flags: 'aa rd' },
    { name: 'is not over TLS', words: ' +tls +edns=512', count: 255, flags: 'aa rd' },
    { name: 'is not over HTTPS', words: ' +https +edns=512', count: 255, flags: 'aa rd' },
  ]
  for (const { name, words, count, flags } of cases) {
    test(name, async () => {
      const [head, ...lines] = await serveMany().ask(`many.example.org A${words}`)
      assert.equal(head, `NOERROR ${flags}`)
      assert.equal(lines.filter((line) => line.includes(' IN A ')).length, count)
    })
  }
})

describe('EDNS', () => {
  const cases: { name: string; ask: string; tail: string[] }[] = [
    { name: 'has no OPT record for a client that sent none', ask: 'a.example.org A', tail: [] },
    {
      name: 'advertises 1232 bytes, whatever the client has',
      ask: 'a.example.org A +edns=4096',
      tail: ['edns: 1232'],
    },
    { name: 'echoes DO', ask: 'a.example.org A +do', tail: ['edns: 1232 do'] },
    {
      name: 'has no identifier to report',
      ask: 'a.example.org A +nsid',
      tail: ['edns: 1232', 'nsid:'],
    },
    {
      name: 'does not answer to other options',
      ask: 'a.example.org A +cookie',
      tail: ['edns: 1232'],
    },
    {
      name: 'does not pad over UDP',
      ask: 'a.example.org A +padding',
      tail: ['edns: 1232'],
    },
    {
      name: 'does not pad over TCP in the clear',
      ask: 'a.example.org A +padding +tcp',
      tail: ['edns: 1232'],
    },
    {
      name: 'does not pad without a request for it',
      ask: 'a.example.org A +https +edns',
      tail: ['edns: 1232'],
    },
  ]
  for (const { name, ask, tail } of cases) {
    test(name, async () => {
      const server = serve(block(directive('hosts none', '192.0.2.1 a.example.org')))
      assert.deepEqual(await server.ask(ask), [
        'NOERROR aa rd',
        'a.example.org. 3600 IN A 192.0.2.1',
        ...tail,
      ])
    })
  }

  for (const transport of ['tls', 'https']) {
    test(`pads to a multiple of 468 bytes over ${transport}`, async () => {
      const server = serveMany()
      const small = await server.askBytes(`a.example.org A +padding +${transport}`)
      assert.equal(small?.length, 468)
      const large = await server.askBytes(`many.example.org A +padding +${transport}`)
      assert.equal(large?.length, 9 * 468)
    })
  }

  test('does not report that an upstream has no identifier', async () => {
    const server = serve(block('forward . 192.0.2.53'), { upstream: () => ['NOERROR ra'] })
    assert.deepEqual(await server.ask('www.example.org A +nsid'), ['NOERROR rd ra', 'edns: 1232'])
  })
})

describe('outcomes', () => {
  const cases: { name: string; serve: NonNullable<Plugin['serve']>; reply: string[] }[] = [
    {
      name: 'writes a reply',
      serve: () => ({ ...EMPTY_REPLY, rcode: 3, authoritative: true, recursionAvailable: true }),
      reply: ['NXDOMAIN aa rd ra', 'edns: 1232'],
    },
    {
      name: 'writes a failure with its options',
      serve: () => ({
        kind: 'failure',
        rcode: 5,
        options: [{ code: 15, data: Uint8Array.of(0, 18) }],
      }),
      reply: ['REFUSED rd', 'edns: 1232', 'ede: 18'],
    },
    { name: 'writes nothing for a drop', serve: () => ({ kind: 'drop' }), reply: [] },
    {
      name: 'waits for an outcome that comes later',
      serve: () => Promise.resolve(EMPTY_REPLY),
      reply: ['NOERROR rd', 'edns: 1232'],
    },
    {
      name: 'makes a server failure of a plugin that throws',
      serve: () => {
        throw new RangeError('out of luck')
      },
      reply: ['SERVFAIL rd', 'edns: 1232'],
    },
    {
      name: 'makes a server failure of a plugin that rejects',
      serve: () => Promise.reject(new RangeError('out of luck')),
      reply: ['SERVFAIL rd', 'edns: 1232'],
    },
  ]
  for (const { name, serve: answer, reply } of cases) {
    test(name, async () => {
      const server = serveWith({ name: 'test', serve: answer })
      assert.deepEqual(await server.ask('www.example.org A +edns'), reply)
    })
  }

  test('logs and counts a plugin that throws', async () => {
    const server = serveWith({
      name: 'test',
      serve: () => {
        throw new RangeError('out of luck')
      },
    })
    await server.ask('www.example.org A')
    const [event] = server.host.events
    assert.equal(event?.level, 'error')
    assert.match(String(event?.error), /^RangeError: out of luck\n/)
    assert.match(server.host.metrics.format(), /^coredns_panics_total 1$/m)
  })
})

describe('requests', () => {
  test('keep the query name as sent beside its lower case', async () => {
    const seen: [Uint8Array, Uint8Array][] = []
    const server = serveWith({
      name: 'test',
      serve: ({ name, lowerName }) => {
        seen.push([name, lowerName])
        return EMPTY_REPLY
      },
    })
    await server.ask('wWw.Example.ORG A')
    await server.ask('other.example.net A')
    assert.deepEqual(seen[0], [nameOf('wWw.Example.ORG'), nameOf('www.example.org')])
  })

  test('are their own while others are answered', async () => {
    const waiting: (() => void)[] = []
    const server = serveWith({
      name: 'test',
      serve: ({ name: owner, class: rrClass }) =>
        new Promise((resolve) => {
          const rdata = Uint8Array.of(192, 0, 2, 1)
          const record = { owner, type: TYPE.A, class: rrClass, ttlSeconds: 1, rdata }
          waiting.push(() => {
            resolve({ ...EMPTY_REPLY, answer: [record] })
          })
        }),
    })
    const first = server.ask('first.example.org A +id=1 +do')
    const second = server.ask('second.example.org A +id=2')
    for (const finish of waiting.toReversed()) finish()
    assert.deepEqual(await first, [
      'NOERROR rd',
      'first.example.org. 1 IN A 192.0.2.1',
      'edns: 1232 do',
    ])
    assert.deepEqual(await second, ['NOERROR rd', 'second.example.org. 1 IN A 192.0.2.1'])
  })
})

describe('lookup', () => {
  // Each of two zones has a name that stands for one in the other.
  const CIRCLE = `
- {kind: Namespace, metadata: {name: x}}
- {kind: Service, metadata: {name: a, namespace: x},
   spec: {type: ExternalName, externalName: b.x.svc.two.example.org}}
- {kind: Service, metadata: {name: b, namespace: x},
   spec: {type: ExternalName, externalName: a.x.svc.one.example.org}}
- {kind: Service, metadata: {name: c, namespace: x},
   spec: {type: ExternalName, externalName: www.example.net}}
`
  const blocks = ['one', 'two'].map((zone) => `${zone}.example.org {\n kubernetes\n}\n`).join('')

  test('ends when lookups cause lookups', async () => {
    const server = serve(blocks, { cluster: { objects: CIRCLE } })
    const [head, ...links] = await server.ask('a.x.svc.one.example.org A +tcp')
    assert.equal(head, 'NOERROR aa rd')
    assert.equal(links.length, 11)
    assert.deepEqual(links.slice(0, 2), [
      'a.x.svc.one.example.org. 5 IN CNAME b.x.svc.two.example.org.',
      'b.x.svc.two.example.org. 5 IN CNAME a.x.svc.one.example.org.',
    ])
  })

  test('goes through the block of the name that is looked up', async () => {
    const server = serve(`${blocks}example.net {\n forward . 192.0.2.53\n}`, {
      cluster: { objects: CIRCLE },
      upstream: {
        'www.example.net. IN A rd edns=1232 do': ['NOERROR', 'www.example.net. 60 IN A 192.0.2.80'],
      },
    })
    assert.deepEqual(await server.ask('c.x.svc.one.example.org A +do'), [
      'NOERROR aa rd',
      'c.x.svc.one.example.org. 5 IN CNAME www.example.net.',
      'www.example.net. 60 IN A 192.0.2.80',
      'edns: 1232 do',
    ])
  })

  test('is refused for a name that no block is for', async () => {
    const server = serve(blocks, { cluster: { objects: CIRCLE } })
    assert.deepEqual(await server.ask('c.x.svc.one.example.org A'), [
      'NOERROR aa rd',
      'c.x.svc.one.example.org. 5 IN CNAME www.example.net.',
    ])
  })
})
