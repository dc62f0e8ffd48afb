import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { EMPTY_REPLY } from '../../../src/dns/wire/message.ts'
import type { Observation } from '../../../src/resolver/contract/observation.ts'
import type { Plugin } from '../../../src/resolver/contract/plugin.ts'
import { serve } from '../../ask.ts'
import { serveWith } from './serve-with.ts'

describe('requests', () => {
  test('are observed with the reply, the plugin and the time it took', async () => {
    const seen: Observation[] = []
    const server = serveWith({
      name: 'test',
      serve: (request) => {
        request.trace.plugin = 'deep'
        return server.host.advance(250).then(() => EMPTY_REPLY)
      },
      observe: (observation) => {
        seen.push(observation)
      },
    })
    const reply = await server.askBytes('www.example.org A +tcp +from=192.0.2.9')
    const [only] = seen
    assert.equal(seen.length, 1)
    assert.deepEqual(only?.reply, reply)
    assert.equal(only?.plugin, 'deep')
    assert.equal(only?.durationMs, 250)
    assert.deepEqual(only?.client, { address: '192.0.2.9', port: 4242, transport: 'tcp' })
  })
})

test('queries that plugins defer are bounded: more are refused and counted until one is done', async () => {
  const finish: (() => void)[] = []
  const server = serveWith({
    name: 'test',
    serve: ({ name }) =>
      name.length < 10
        ? EMPTY_REPLY
        : new Promise((resolve) => finish.push(() => resolve(EMPTY_REPLY))),
  })
  const late = Array.from({ length: 8192 }, () => server.ask('late.example A'))
  const over = server.ask('late.example A')
  assert.equal(finish.length, 8192)
  assert.deepEqual(await over, ['REFUSED rd'])
  assert.deepEqual(await server.ask('soon A'), ['REFUSED rd'])
  assert.match(server.host.metrics.format(), /^kubedoh_deferred_rejects_total 2$/m)
  finish[0]?.()
  assert.deepEqual(await late[0], ['NOERROR rd'])
  assert.deepEqual(await server.ask('soon A'), ['NOERROR rd'])
  const last = server.ask('late.example A')
  for (const one of finish) one()
  for (const answered of [...late, last]) assert.deepEqual(await answered, ['NOERROR rd'])
})

describe('a plugin that throws', () => {
  const fail = (): never => {
    throw new Error('out of order')
  }
  const base: Plugin = { name: 'test', serve: () => EMPTY_REPLY }
  const cases: { name: string; plugin: Plugin; head: string }[] = [
    { name: 'on the slow path', plugin: { ...base, serve: fail }, head: 'SERVFAIL rd' },
    {
      name: 'on the fast path, where the slow path has an answer',
      plugin: { ...base, fastPath: { answer: fail } },
      head: 'NOERROR rd',
    },
    { name: 'when it looks on', plugin: { ...base, observe: fail }, head: 'NOERROR rd' },
    {
      name: 'when it observes a fast answer',
      plugin: {
        ...base,
        fastPath: {
          answer: (query, reply, how) => {
            reply.begin(query, how)
            return reply.finish(0, 0)
          },
        },
        observe: fail,
      },
      head: 'NOERROR rd',
    },
  ]
  for (const { name, plugin, head } of cases) {
    test(`${name} is logged and counted, and keeps nobody from an answer`, async () => {
      const server = serveWith(plugin)
      assert.deepEqual(await server.ask('www.example.org A'), [head])
      assert.match(server.host.metrics.format(), /^coredns_panics_total 1$/m)
      assert.match(JSON.stringify(server.host.events), /a plugin failed.*out of order/)
    })
  }
})

test('fast answers that are not timed count as the last one that was', async () => {
  const seen: number[] = []
  const server = serveWith({
    name: 'test',
    serve: () => assert.fail('not on the slow path'),
    fastPath: {
      answer: (query, reply, how) => {
        void server.host.advance(seen.length + 1)
        reply.begin(query, how)
        return reply.finish(0, 0)
      },
    },
    observe: ({ durationMs }) => seen.push(durationMs),
  })
  for (let i = 0; i < 18; i++) await server.ask('www.example.org A')
  assert.equal(new Set(seen.slice(0, 16)).size, 1)
  assert.equal(new Set(seen.slice(16)).size, 1)
})

describe('the life of a resolver', () => {
  test('starts and stops all plugins, and waits for their end', async () => {
    const calls: string[] = []
    const { resolver } = serveWith({
      name: 'test',
      start: () => calls.push('start'),
      stop: async () => {
        await Promise.resolve()
        calls.push('stop')
      },
    })
    resolver.start()
    await resolver.stop()
    assert.deepEqual(calls, ['start', 'stop'])
  })

  test('names the plugins that are not ready, where somebody asks', () => {
    const server = serve('a {\n ready\n erratic\n}\nb {\n erratic\n}')
    assert.deepEqual(server.resolver.notReady(), ['erratic'])
  })

  test('has the features of all blocks', () => {
    const { resolver } = serve('example.org {\n health\n}\nexample.net {\n ready\n}')
    assert.deepEqual(
      resolver.features.map(({ kind }) => kind),
      ['health', 'ready'],
    )
  })
})
