import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, type Server, serve } from '../../../ask.ts'

const HOSTS = directive('hosts none', '192.0.2.1 www.example.org', 'fallthrough')
const UPSTREAM = {
  'www.example.net. IN A rd': ['NOERROR rd ra', 'www.example.net. 60 IN A 192.0.2.80'],
}

/** A span without its identifiers and times. */
type Span = { readonly name: string; readonly parent: string; readonly tags: unknown }

async function spansOf(server: Server): Promise<Span[]> {
  await server.host.advance(1000)
  const spans = server.host.posted.flatMap(({ json }) => JSON.parse(json))
  const names = new Map(spans.map(({ id, name }): [string, string] => [id, name]))
  return spans.map(({ name, parentId, tags }) => ({
    name,
    parent: names.get(parentId) ?? '',
    tags,
  }))
}

describe('trace', () => {
  test('reports the plugins of a query, each within the previous one', async () => {
    const corefile = block('trace', 'errors', 'cache', HOSTS, 'forward . 192.0.2.53')
    const server = serve(corefile, { upstream: () => ['NOERROR rd ra'] })
    await server.ask('WWW.example.net A +from=2001:db8::9 +tcp')
    assert.deepEqual(await spansOf(server), [
      {
        name: 'servedns',
        parent: '',
        tags: {
          'coredns.io/name': 'www.example.net.',
          'coredns.io/type': 'A',
          'coredns.io/proto': 'tcp',
          'coredns.io/remote': '2001:db8::9',
          'coredns.io/rcode': 'NOERROR',
        },
      },
      { name: 'forward', parent: 'hosts', tags: {} },
      { name: 'hosts', parent: 'cache', tags: {} },
      { name: 'cache', parent: 'errors', tags: {} },
      { name: 'errors', parent: 'servedns', tags: {} },
    ])
    assert.equal(server.host.posted[0]?.url, 'http://localhost:9411/api/v2/spans')
  })

  test('reports why there was no answer', async () => {
    const server = serve(block('trace', HOSTS))
    await server.ask('www.example.net A')
    const [whole] = await spansOf(server)
    const { error, 'coredns.io/rcode': rcode } = Object(whole?.tags)
    assert.equal(error, 'no plugin of the server block has an answer')
    assert.equal(rcode, 'SERVFAIL')
  })

  test('has the look-ups of a query in the same trace', async () => {
    const keys = { '/skydns/org/example/www': { host: 'www.example.net' } }
    const corefile = block('trace', 'etcd example.org', 'forward . 192.0.2.53')
    const server = serve(corefile, { keys, upstream: UPSTREAM })
    await server.ask('www.example.org A')
    const spans = await spansOf(server)
    assert.deepEqual(
      spans.map(({ name, parent }) => `${parent} > ${name}`),
      [' > servedns', 'etcd > forward', 'trace > etcd', 'etcd > trace', 'servedns > etcd'],
    )
    const json: { traceId: string }[] = JSON.parse(server.host.posted[0]?.json ?? '[]')
    assert.equal(new Set(json.map(({ traceId }) => traceId)).size, 1)
  })

  test('traces one query in so many, on the fast path as well', async () => {
    const cluster = { objects: '[]' }
    const corefile = block(directive('trace', 'every 3'), 'kubernetes cluster.local', 'whoami')
    const server = serve(corefile, { cluster })
    for (let i = 0; i < 9; i++) {
      await server.ask(i % 2 === 0 ? 'nosuch.default.svc.cluster.local A' : 'www.example.org A')
    }
    const wholes = (await spansOf(server)).filter(({ name }) => name === 'servedns')
    assert.equal(wholes.length, 3)
  })

  test('traces none if configured so', async () => {
    const server = serve(block(directive('trace', 'every 0'), 'whoami'))
    for (let i = 0; i < 5; i++) await server.ask('www.example.org A')
    assert.deepEqual(await spansOf(server), [])
  })

  test('does not delay queries when the collector takes nothing', async () => {
    const server = serve(block('trace', 'whoami'))
    server.host.postFailure = new Error('nobody is here')
    const replies = [await server.ask('www.example.org A'), await server.ask('www.example.org A')]
    await server.host.advance(2000)
    replies.push(await server.ask('www.example.org A'))
    assert.deepEqual(new Set(replies.map(([head]) => head)), new Set(['NOERROR aa rd']))
    assert.deepEqual(
      server.host.events.map(({ message, reason }) => `${message}: ${reason}`),
      ['spans are lost: nobody is here'],
    )
  })

  test('sends what it has when it ends', async () => {
    const server = serve(block('trace', 'whoami'))
    await server.ask('www.example.org A')
    server.resolver.stop()
    assert.equal(server.host.posted.length, 1)
    assert.equal(server.host.timerCount, 0)
  })
})
