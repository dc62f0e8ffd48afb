import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatProblem } from '../../../../src/corefile/problem.ts'
import { createResolver } from '../../../../src/resolver/chain/create-resolver.ts'
import { block, directive, parseBlocks, Server, serve } from '../../../ask.ts'
import { FakeHost } from '../../../fake-host.ts'
import { A, ASK } from './relay-cases.ts'

const PATH = '/etc/resolv.conf'
const COREFILE = block(
  'errors',
  'kubernetes cluster.local',
  directive(`forward . ${PATH}`, 'policy sequential'),
)
const OBJECTS = `
- {kind: Namespace, metadata: {name: shop}}
- kind: Service
  metadata: {name: web, namespace: shop}
  spec: {clusterIP: 192.0.2.10, clusterIPs: [192.0.2.10], ports: [{port: 80}]}
`
const WEB = 'web.shop.svc.cluster.local'

/** A running server whose upstreams all answer. */
function started(resolvConf: string | undefined, corefile = COREFILE): Server {
  const server = serve(corefile, {
    files: resolvConf === undefined ? {} : { [PATH]: resolvConf },
    cluster: { objects: OBJECTS },
    upstream: () => ['NOERROR', A],
  })
  server.resolver.start()
  return server
}

/** Writes the file and lets the server look; `undefined` deletes it. */
async function write({ host }: Server, text: string | undefined): Promise<void> {
  if (text === undefined) host.files.delete(PATH)
  else host.files.set(PATH, text)
  await host.advance(5000)
}

/** The upstream that gets a query. */
async function upstreamOf(server: Server): Promise<string | undefined> {
  server.host.asked.length = 0
  await server.ask(ASK)
  return server.host.asked[0]?.upstream
}

function logged({ host }: Server): string[] {
  return host.events.map(({ message }) => message)
}

describe('a file that lists upstreams', () => {
  test('is followed while the server runs', async () => {
    const server = started('nameserver 192.0.2.1\n')
    assert.equal(await upstreamOf(server), '192.0.2.1:53')
    await write(server, 'nameserver 192.0.2.2\nnameserver 192.0.2.1\n')
    assert.equal(await upstreamOf(server), '192.0.2.2:53')
    await write(server, 'nameserver 192.0.2.1\n')
    assert.equal(await upstreamOf(server), '192.0.2.1:53')
    assert.deepEqual(
      server.host.events.map(({ level, message, upstreams }) => [level, message, upstreams]),
      [
        ['info', 'a file that lists upstreams has changed', '192.0.2.2:53, 192.0.2.1:53'],
        ['info', 'a file that lists upstreams has changed', '192.0.2.1:53'],
      ],
    )
  })

  test('keeps the connections of upstreams that stay, and closes the others', async () => {
    const server = started('nameserver 192.0.2.1\nnameserver 192.0.2.2\n')
    await write(server, 'nameserver 192.0.2.2\nnameserver 192.0.2.3\n')
    const opened = server.host.upstreams.map(({ upstream, isClosed }) => [
      upstream.address,
      isClosed,
    ])
    assert.deepEqual(opened, [
      ['192.0.2.1', true],
      ['192.0.2.2', false],
      ['192.0.2.3', false],
    ])
  })

  test('is read again only after it was written, and not after the end', async () => {
    const server = started('nameserver 192.0.2.1\n')
    const reads = server.host.reads.length
    await server.host.advance(60_000)
    assert.equal(server.host.reads.length, reads)
    await write(server, 'nameserver 192.0.2.1\nsearch example.org\n')
    assert.ok(server.host.reads.length > reads)
    assert.deepEqual(logged(server), [])
    server.resolver.stop()
    await write(server, 'nameserver 192.0.2.2\n')
    assert.equal(await upstreamOf(server), '192.0.2.1:53')
  })

  for (const [name, text, says] of [
    ['is missing', undefined, 'is missing or unreadable'],
    ['is empty', '', 'lists no nameserver'],
    ['lists no server', 'search example.org\nnameserver nosuch\n', 'lists no nameserver'],
  ] as const) {
    test(`costs names outside only if it ${name} at the start`, async () => {
      const server = started(text)
      assert.deepEqual(server.resolver.notices.map(formatProblem), [
        `Corefile:4:13: "${PATH}" ${says}: queries that need it fail until it lists one`,
      ])
      assert.deepEqual(await server.ask(ASK), ['SERVFAIL rd'])
      assert.deepEqual(await server.ask(`${WEB} A`), ['NOERROR aa rd', `${WEB}. 5 IN A 192.0.2.10`])
      assert.deepEqual(logged(server), [`no upstream: "${PATH}" lists no nameserver`])
      await write(server, 'nameserver 192.0.2.1\n')
      assert.deepEqual(await server.ask(ASK), ['NOERROR rd', A])
    })
  }

  for (const text of [undefined, '', 'search example.org\n']) {
    test(`keeps its upstreams when it becomes ${JSON.stringify(text)}`, async () => {
      const server = started('nameserver 192.0.2.1\n')
      await write(server, text)
      assert.equal(await upstreamOf(server), '192.0.2.1:53')
      assert.deepEqual(logged(server), [
        'a file lists no nameserver any more; its previous ones stay',
      ])
    })
  }

  test('keeps them over a reload meanwhile', async () => {
    const server = started('nameserver 192.0.2.1\n')
    server.host.files.delete(PATH)
    const again = new Server(createResolver(parseBlocks(COREFILE), server.host), server.host)
    assert.deepEqual(again.resolver.notices, [])
    assert.equal(await upstreamOf(again), '192.0.2.1:53')
  })

  test('keeps its upstreams when it lists too many', async () => {
    const server = started('nameserver 192.0.2.1\n')
    const many = Array.from({ length: 65 }, (_, i) => `nameserver 192.0.2.${i}\n`)
    await write(server, many.join(''))
    assert.equal(await upstreamOf(server), '192.0.2.1:53')
    assert.deepEqual(logged(server), [
      'a file that lists upstreams is not used; the previous ones stay',
    ])
  })

  test('may be beside addresses, and with a scheme', async () => {
    const line = `forward . dns://${PATH} 192.0.2.9`
    const server = started(undefined, block('errors', directive(line, 'policy sequential')))
    assert.equal(await upstreamOf(server), '192.0.2.9:53')
    await write(server, 'nameserver 192.0.2.1\n')
    assert.equal(await upstreamOf(server), '192.0.2.1:53')
  })

  test('need not list a second upstream for "hedge" yet', () => {
    const host = new FakeHost()
    const corefile = block(directive(`forward . ${PATH}`, 'hedge 50ms'))
    assert.equal(createResolver(parseBlocks(corefile), host).notices.length, 1)
  })
})
