import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatHex } from '../../../../src/dns/bytes/bytes.ts'
import { block, directive, type Server, serve } from '../../../ask.ts'
import type { UpstreamScript } from '../../../fake-host.ts'
import { START_MS } from '../../../fake-host.ts'
import { readTap, type TapText } from './tap-text.ts'

const SECONDS = START_MS / 1000

/** Starts a server, asks, and reads what its collectors got. */
async function tapped(
  lines: readonly string[],
  question: string,
  upstream: UpstreamScript = () => ['NOERROR rd ra'],
): Promise<{ server: Server; reply: Uint8Array | undefined; taps: TapText[][] }> {
  const server = serve(block(...lines), { upstream })
  server.resolver.start()
  const reply = await server.askBytes(question)
  return { server, reply, taps: server.host.taps.map(({ messages }) => messages.map(readTap)) }
}

describe('dnstap', () => {
  test('reports queries and responses, without their bytes', async () => {
    const { taps } = await tapped(['dnstap /tap', 'whoami'], 'www.example.org A')
    const known = {
      identity: 'ns1.example.org',
      version: 'kubedoh-0.1.0',
      family: 1,
      protocol: 1,
      query_address: '198.51.100.7',
      query_port: 4242,
      query_time_sec: SECONDS,
      query_time_nsec: 0,
    }
    assert.deepEqual(taps, [
      [
        { ...known, type: 5 },
        { ...known, type: 6, response_time_sec: SECONDS, response_time_nsec: 0 },
      ],
    ])
  })

  test('sends the bytes with the full option, to every collector', async () => {
    const lines = ['dnstap tcp://192.0.2.1:6000 full', 'dnstap /tap', 'whoami']
    const { taps, server, reply } = await tapped(lines, 'www.example.org A +tcp')
    const [[query, response] = [], [bare] = []] = taps
    assert.equal(response?.response_message, formatHex(reply ?? new Uint8Array(0)))
    assert.match(String(query?.query_message), /^1234010000010000/)
    assert.equal(query?.protocol, 2)
    assert.equal(bare?.query_message, undefined)
    assert.deepEqual(server.host.taps[0]?.target, { kind: 'tcp', host: '192.0.2.1', port: 6000 })
  })

  test('reports a query that gets no response', async () => {
    const lines = ['dnstap /tap', directive('acl', 'drop'), 'whoami']
    const { taps } = await tapped(lines, 'www.example.org A')
    assert.deepEqual(
      taps.flat().map(({ type }) => type),
      [5],
    )
  })

  test('reports the queries of forward and their responses', async () => {
    const lines = ['dnstap /tap full', 'forward . 192.0.2.53']
    const { taps } = await tapped(lines, 'www.example.org A')
    assert.deepEqual(
      taps.flat().map(({ type, response_address: address }) => [type, address]),
      [
        [7, '192.0.2.53'],
        [8, '192.0.2.53'],
        [5, undefined],
        [6, undefined],
      ],
    )
  })

  test('reports the queries of forward that fail', async () => {
    const lines = ['dnstap /tap', directive('forward . 192.0.2.53', 'max_connect_attempts 1')]
    const { taps } = await tapped(lines, 'www.example.org A', () => new Error('away'))
    assert.deepEqual(
      taps.flat().map(({ type }) => type),
      [7, 5, 6],
    )
  })

  test('adds what the Corefile wants, also of what other plugins know', async () => {
    const tap = directive('dnstap /tap', 'extra "{name} {/forward/upstream}"', 'identity me')
    const { taps } = await tapped(['metadata', tap, 'forward . 192.0.2.53'], 'www.example.org A')
    const last = taps.flat().at(-1)
    assert.deepEqual([last?.identity, last?.extra], ['me', 'www.example.org. 192.0.2.53:53'])
  })

  test('leaves queries on the fast path', async () => {
    const cluster = { objects: '[]' }
    const server = serve(block('dnstap /tap', 'kubernetes cluster.local'), { cluster })
    assert.ok(server.resolver.listeners[0]?.zones[0]?.chain.fastPath)
    server.resolver.start()
    await server.ask('nosuch.default.svc.cluster.local A')
    assert.equal(server.host.taps[0]?.messages.length, 2)
  })
})
