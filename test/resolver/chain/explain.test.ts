import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { explain } from '../../../src/resolver/chain/explain.ts'
import { Incoming } from '../../../src/resolver/chain/incoming.ts'
import { serve } from '../../ask.ts'
import { formatReply, parseQuestion } from '../../message-text.ts'
import { ResolverClient } from '../../resolver-client.ts'

const COREFILE = `
example.org {
  errors
  cache 30
  rewrite name a.example.org web.shop.svc.cluster.local
  kubernetes cluster.local
  forward . 192.0.2.53
}
cluster.local {
  loadbalance
  kubernetes
}
`
const OBJECTS = `
- { kind: Namespace, metadata: { name: shop } }
- { kind: Service, metadata: { name: web, namespace: shop }, spec: { clusterIP: 192.0.2.10 } }
- kind: Service
  metadata: { name: out, namespace: shop }
  spec: { type: ExternalName, externalName: www.example.org }`

describe('how an answer came about', () => {
  const server = serve(COREFILE, {
    cluster: { objects: OBJECTS },
    upstream: () => ['NOERROR aa ra', 'www.example.org. 60 IN A 192.0.2.80'],
  })
  const ask = async (question: string): ReturnType<typeof told> => told(question)
  const told = async (
    question: string,
  ): Promise<{ reply: string[]; block: string | undefined; plugins: string; zones: unknown[] }> => {
    const [listener] = server.resolver.listeners
    assert.ok(listener)
    const client = { address: '192.0.2.1', port: 1, transport: 'udp' } as const
    const { message } = parseQuestion(question)
    const { reply, serverBlock, plugins, facts } = await explain(
      server.resolver,
      listener,
      new Incoming().read(message, client),
    )
    // To be explained makes no difference to an answer.
    assert.deepEqual(reply, await new ResolverClient(server.resolver, client).slow(message))
    return {
      reply: reply === undefined ? [] : formatReply(reply),
      block: serverBlock,
      plugins: plugins.join(' '),
      zones: facts.map(({ zone }) => zone),
    }
  }

  const cases = [
    {
      name: 'by the plugins that the query came to',
      ask: 'web.shop.svc.cluster.local A',
      block: 'cluster.local.',
      plugins: 'loadbalance kubernetes',
      zones: ['cluster.local.'],
    },
    {
      name: 'with those of look-ups after them',
      ask: 'out.shop.svc.cluster.local A',
      block: 'cluster.local.',
      plugins: 'loadbalance kubernetes errors rewrite cache kubernetes forward',
      zones: ['cluster.local.'],
    },
    {
      name: 'without those that were not reached',
      ask: 'www.example.org A',
      block: 'example.org.',
      plugins: 'errors rewrite cache',
      zones: [],
    },
    { name: 'by no block', ask: 'example.com A', block: undefined, plugins: '', zones: [] },
  ]
  for (const { name, ask: question, ...wanted } of cases) {
    test(name, async () => {
      const { reply, ...found } = await ask(question)
      assert.ok(reply.length > 0)
      assert.deepEqual(found, wanted)
    })
  }

  test('for what is no query', async () => {
    const [listener] = server.resolver.listeners
    assert.ok(listener)
    const client = { address: '192.0.2.1', port: 1, transport: 'udp' } as const
    const { reply, plugins, facts } = await explain(
      server.resolver,
      listener,
      new Incoming().read(new Uint8Array(5), client),
    )
    assert.deepEqual([reply, plugins, facts], [undefined, [], []])
  })
})
