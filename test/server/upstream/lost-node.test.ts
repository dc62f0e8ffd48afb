import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'vitest'
import { byteAt } from '../../../src/dns/bytes/bytes.ts'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import { createResolver } from '../../../src/resolver/chain/create-resolver.ts'
import { createNodeHost } from '../../../src/server/serve/node-host.ts'
import { block, directive, parseBlocks } from '../../ask.ts'
import { AUTHORITY } from '../../certificates.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { ResolverClient } from '../../resolver-client.ts'
import { echo, fakeTcp, frame, queryWith } from '../clients.ts'
import { fakeHttp2, fakeHttps, fakeTls } from '../secure-servers.ts'

/** An upstream, and a function after which the connections that it has are silent for ever. */
type Upstream = { readonly to: string; readonly loseNode: () => void }

/** Decides whether a connection is served, by an object that stands for it. */
function connections(): { isServed: (one: object) => boolean; lose: () => void } {
  const known = new Set<object>()
  const lost = new Set<object>()
  return {
    isServed: (one) => {
      known.add(one)
      return !lost.has(one)
    },
    lose: () => {
      for (const one of known) lost.add(one)
    },
  }
}

/** Stands for no response. */
const SERVFAIL = Uint8Array.of(0, 0, 0, 2)
const WIRE = 'application/dns-message'

const UPSTREAMS: Readonly<Record<string, (t: TestContext) => Promise<Upstream>>> = {
  TCP: async (t) => {
    const { isServed, lose } = connections()
    const { port } = await fakeTcp(t, (query, socket) => {
      if (isServed(socket)) socket.write(frame(echo(query)))
    })
    return { to: `127.0.0.1:${port}`, loseNode: lose }
  },
  TLS: async (t) => {
    const { isServed, lose } = connections()
    const { port } = await fakeTls(t, (query, socket) => {
      if (isServed(socket)) socket.write(frame(echo(query)))
    })
    return { to: `tls://127.0.0.1:${port}`, loseNode: lose }
  },
  'HTTP/2': async (t) => {
    const { isServed, lose } = connections()
    const { port } = await fakeHttp2(t, ({ body, stream }) => {
      if (!isServed(stream.session ?? {})) return
      stream.respond({ ':status': 200, 'content-type': WIRE })
      stream.end(echo(body))
    })
    return { to: `https://127.0.0.1:${port}/dns-query`, loseNode: lose }
  },
  'HTTP/1.1': async (t) => {
    const { isServed, lose } = connections()
    const { port } = await fakeHttps(t, (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk) => chunks.push(chunk))
      request.on('end', () => {
        if (!isServed(request.socket)) return
        response.writeHead(200, { 'content-type': WIRE })
        response.end(echo(new Uint8Array(Buffer.concat(chunks))))
      })
    })
    return { to: `https://127.0.0.1:${port}/dns-query`, loseNode: lose }
  },
}

/** Transports, and the number of upstreams behind the node. */
const CASES: readonly (readonly [transport: string, upstreams: number])[] = [
  ['TCP', 1],
  ['TCP', 2],
  ['TLS', 1],
  ['HTTP/2', 1],
  ['HTTP/1.1', 1],
  ['HTTP/1.1', 2],
]

describe('queries while a node is lost', () => {
  for (const [transport, count] of CASES) {
    test(`over ${transport} to ${count} upstream(s) get a response by a new connection`, async (t) => {
      const open = UPSTREAMS[transport] ?? assert.fail(`no upstream for ${transport}`)
      const upstreams = await Promise.all(Array.from({ length: count }, () => open(t)))
      const client = clientOf(t, `forward . ${upstreams.map(({ to }) => to).join(' ')}`)
      assert.equal(await failures(client, { label: 'before', count: 40, pauseMs: 0 }), 0)
      for (const { loseNode } of upstreams) loseNode()
      // Fewer than there are connections, before the first one has waited in vain.
      assert.equal(await failures(client, { label: 'after', count: 20, pauseMs: 20 }), 0)
    })
  }
})

/** A server with a `forward` by TCP, TLS or HTTPS. */
function clientOf(t: TestContext, forward: string): ResolverClient {
  const folder = temporaryFolder(t, { 'ca.pem': AUTHORITY })
  const host = createNodeHost({
    folder,
    metrics: new Metrics(),
    log: () => undefined,
    abort: () => undefined,
    openCluster: () => assert.fail('no cluster here'),
  })
  const lines = ['force_tcp', 'read_timeout 1500ms', 'tls ca.pem', 'policy sequential']
  const resolver = createResolver(parseBlocks(block(directive(forward, ...lines))), host)
  t.onTestFinished(() => resolver.stop())
  return new ResolverClient(resolver, { address: '192.0.2.7', port: 4242, transport: 'udp' })
}

type Queries = { readonly label: string; readonly count: number; readonly pauseMs: number }

/** Sends queries, one after a pause each; returns how many got another response than NOERROR. */
async function failures(client: ResolverClient, queries: Queries): Promise<number> {
  const { label, count, pauseMs } = queries
  const replies = Array.from({ length: count }, async (_, id) => {
    await new Promise((resolve) => setTimeout(resolve, id * pauseMs))
    return client.answer(queryWith(id, `${label}-${id}.test`))
  })
  const rcodes = (await Promise.all(replies)).map((reply) => byteAt(reply ?? SERVFAIL, 3) & 15)
  return rcodes.filter((rcode) => rcode !== 0).length
}
