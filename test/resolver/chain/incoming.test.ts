import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../src/dns/names/name.ts'
import { RCODE } from '../../../src/dns/names/rcode.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import { ReplyWriter } from '../../../src/dns/wire/reply-writer.ts'
import { Incoming, ownResponse } from '../../../src/resolver/chain/incoming.ts'
import type { Client } from '../../../src/resolver/contract/client.ts'
import { failure } from '../../../src/resolver/contract/outcome.ts'
import { block, serve } from '../../ask.ts'
import { formatReply, parseQuestion } from '../../message-text.ts'
import { serveWith } from './serve-with.ts'

const CLIENT: Client = { address: '192.0.2.1', port: 1, transport: 'udp' }
const A = parseQuestion('a.test A +id=1').message
const B = parseQuestion('longer.b.test AAAA +id=2 +do').message

describe('Incoming', () => {
  test('reads one message after the other', () => {
    const incoming = new Incoming()
    for (const [message, id] of [A, B, A].map((one, i) => [one, [1, 2, 1][i]] as const)) {
      const { parsed, query, client } = incoming.read(message, CLIENT)
      assert.equal(parsed, query)
      assert.deepEqual([query.id, query.bytes, client], [id, message, CLIENT])
    }
    assert.equal(incoming.read(new Uint8Array(12), CLIENT).parsed.kind, 'refusal')
  })

  test('reads the next message elsewhere when the query was taken', () => {
    const incoming = new Incoming()
    const taken = incoming.read(A, CLIENT).takeQuery()
    assert.equal(incoming.parsed, taken)
    incoming.read(B, CLIENT)
    assert.deepEqual([taken.id, taken.type, taken.wantsDnssec], [1, 1, false])
    assert.equal(incoming.query.id, 2)
  })
})

test('a request has the time at which its message arrived', async () => {
  const since: number[] = []
  const server = serveWith({
    name: 'test',
    serve: ({ sinceMs, lookup }) => {
      since.push(sinceMs)
      return since.length === 1 ? lookup(nameOf('b.test'), TYPE.A) : failure(RCODE.REFUSED)
    },
  })
  const { host, resolver } = server
  const [listener] = resolver.listeners
  const incoming = new Incoming().read(A, CLIENT)
  assert.equal(incoming.waitedMs, 0)
  incoming.waitedMs = 700
  const arrivedMs = host.awake() - 700
  await resolver.answerOnSlowPath(listener ?? assert.fail('nothing listens'), incoming)
  assert.deepEqual(since, [arrivedMs, arrivedMs])
  assert.equal(incoming.read(B, CLIENT).waitedMs, 0)
})

test('ownResponse copies what is in the writer, and nothing else', async () => {
  const writer = new ReplyWriter()
  writer.bytes.set([1, 2, 3])
  const own = ownResponse(2, writer)
  writer.bytes.fill(9)
  assert.deepEqual(own, Uint8Array.of(1, 2))
  // Copies share memory, and no byte of it.
  const sizes = [...Array.from({ length: 500 }, (_, i) => (i * 37) % 600), 4096, 65_535]
  const copies = sizes.map((size, i) => {
    writer.bytes.fill(i & 255, 0, size)
    return ownResponse(size, writer)
  })
  for (const [i, copy] of copies.entries()) {
    assert.deepEqual(copy, new Uint8Array(sizes[i] ?? 0).fill(i & 255))
  }
  const other = Uint8Array.of(7)
  assert.equal(ownResponse(other, writer), other)
  assert.equal(await ownResponse(Promise.resolve(other), writer), other)
  assert.equal(ownResponse(undefined, writer), undefined)
})

test('a response that comes later is that to its own query, whatever was answered meanwhile', async () => {
  const objects = '- { apiVersion: v1, kind: Namespace, metadata: { name: default } }'
  const upstream = Promise.withResolvers<readonly string[]>()
  const { resolver } = serve(block('kubernetes c.test', 'forward . 192.0.2.53'), {
    cluster: { objects },
    upstream: () => upstream.promise,
  })
  const [listener] = resolver.listeners
  assert.ok(listener)
  const incoming = new Incoming()
  const writer = new ReplyWriter()
  const ask = (question: string): ReturnType<typeof resolver.answer> => {
    const { message } = parseQuestion(question)
    return resolver.answer(listener, incoming.read(message, CLIENT), writer)
  }
  const later = ask('www.example.org A +id=1 +cd')
  assert.ok(later instanceof Promise)
  const sizes = Array.from({ length: 100 }, (_, id) => ask(`x${id}.svc.c.test AAAA +id=${id} +do`))
  assert.ok(sizes.every((size) => typeof size === 'number'))
  upstream.resolve(['NOERROR ra', 'www.example.org. 60 IN A 192.0.2.80'])
  const response = await later
  assert.ok(response)
  assert.deepEqual(response.subarray(0, 2), Uint8Array.of(0, 1))
  assert.deepEqual(formatReply(response), [
    'NOERROR rd ra cd',
    'www.example.org. 60 IN A 192.0.2.80',
  ])
  writer.bytes.fill(0)
  assert.equal(response[1], 1)
})
