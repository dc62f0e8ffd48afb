import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, type Server, serve } from '../../../ask.ts'
import type { UpstreamAct } from '../../../fake-host.ts'
import { A, ASK } from './relay-cases.ts'
import { askedFor } from './serve-forward.ts'

const OBJECTS = `
- {kind: Namespace, metadata: {name: shop}}
- kind: Service
  metadata: {name: out, namespace: shop}
  spec: {type: ExternalName, externalName: www.example.org}
`

const DENIAL: UpstreamAct = ['NXDOMAIN']

/** A server that asks upstreams 1, 2 and so on in turn. They send NXDOMAIN after 1.8 s. */
function serveInTurn(count: number, act: (upstream: string) => UpstreamAct): Server {
  const lines = Array.from({ length: count }, (_, i) => {
    return directive(`forward . 192.0.2.${i + 1}`, 'next NXDOMAIN', 'max_fails 0')
  })
  const server: Server = serve(block('errors', 'kubernetes cluster.local', ...lines), {
    cluster: { objects: OBJECTS },
    upstream: ({ upstream }) => {
      const done = act(upstream.replace(/^192\.0\.2\.(\d+):53$/, '$1'))
      if (done !== DENIAL) return done
      return new Promise((resolve) => server.host.after(1800, () => resolve(DENIAL)))
    },
  })
  return server
}

/** The number of queries that were dropped because their clients had given up. */
function late({ host }: Server): number {
  return Number(/^kubedoh_forward_late_total (\d+)$/m.exec(host.metrics.format())?.[1] ?? 0)
}

async function ask(server: Server, question: string): Promise<readonly string[]> {
  const reply = server.ask(question)
  await server.host.advance(20_000)
  return reply
}

describe('a query over UDP', () => {
  test('is answered within five seconds', async () => {
    const server = serveInTurn(2, () => DENIAL)
    assert.deepEqual(await ask(server, ASK), ['NXDOMAIN rd'])
    assert.deepEqual([askedFor(server), late(server)], ['1 2', 0])
  })

  test('is dropped after five seconds, and goes to no further upstream', async () => {
    const server = serveInTurn(4, () => DENIAL)
    assert.deepEqual(await ask(server, ASK), [])
    assert.deepEqual([askedFor(server), late(server)], ['1 2 3', 1])
    assert.deepEqual(server.host.events, [])
  })

  test('is not repeated at a silent upstream', async () => {
    const server = serveInTurn(3, (upstream) => (upstream === '3' ? 'silence' : DENIAL))
    assert.deepEqual(await ask(server, ASK), [])
    assert.deepEqual([askedFor(server), late(server)], ['1 2 3', 1])
  })

  test('is repeated for another client that still waits for the same response', async () => {
    let count = 0
    const server = serveInTurn(3, (upstream) => {
      if (upstream !== '3') return DENIAL
      return ++count === 1 ? 'silence' : ['NOERROR', A]
    })
    const first = server.ask(ASK)
    await server.host.advance(1000)
    const second = server.ask(`${ASK} +id=2`)
    await server.host.advance(20_000)
    assert.deepEqual(await first, [])
    assert.deepEqual(await second, ['NOERROR rd', A])
  })

  test('for which the server looks a target up ends as well', async () => {
    const server = serveInTurn(4, () => DENIAL)
    await ask(server, 'out.shop.svc.cluster.local A')
    assert.deepEqual([askedFor(server), late(server)], ['1 2 3', 1])
  })

  test('has as long as "read_timeout" allows, and a second', async () => {
    const line = directive('forward . 192.0.2.1', 'read_timeout 7s', 'max_connect_attempts 1')
    const server: Server = serve(block('errors', line), {
      upstream: () => new Promise((resolve) => server.host.after(6900, () => resolve(DENIAL))),
    })
    assert.deepEqual(await ask(server, ASK), ['NXDOMAIN rd'])
  })
})

test('a query over TCP is answered: the connection shows that its client waits', async () => {
  const server = serveInTurn(4, () => DENIAL)
  assert.deepEqual(await ask(server, `${ASK} +tcp`), ['NXDOMAIN rd'])
  assert.deepEqual([askedFor(server), late(server)], ['1 2 3 4', 0])
})
