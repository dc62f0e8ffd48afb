import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, type Server, serve } from '../../../ask.ts'
import { settle, type UpstreamScript } from '../../../fake-host.ts'

/** A server whose upstream is the server itself, as far as `script` says so. */
function serveLoop(corefile: string, script: (server: Server) => UpstreamScript): Server {
  const server: Server = serve(corefile, { upstream: (asked) => script(server)(asked) })
  return server
}

/** Brings a query back to the server, from another port and with another ID. */
const bringBack =
  (server: Server): UpstreamScript =>
  async ({ message }) =>
    (await server.answer(message.slice())) ?? 'silence'

const LOOP = block('loop', 'forward . 192.0.2.53')

describe('loop', () => {
  test('ends the process when its query comes back from the upstream', async () => {
    const server = serveLoop(LOOP, bringBack)
    server.resolver.start()
    await settle()
    assert.match(
      server.host.aborts[0] ?? 'no loop was found',
      /^Loop detected for zone "\.": the server got its own query from 198\.51\.100\.7:4242; /,
    )
  })

  test('asks for HINFO at a name below the zone that nobody can guess', async () => {
    const server = serve('example.org {\n loop\n forward . 192.0.2.53\n}', {
      upstream: () => ['NXDOMAIN'],
    })
    server.resolver.start()
    await settle()
    assert.match(
      server.host.asked[0]?.question ?? '',
      /^\d{4,20}\.\d{4,20}\.example\.org\. IN HINFO rd$/,
    )
    assert.deepEqual(server.host.aborts, [])
  })

  test('asks for another name in another process', async () => {
    const names = new Set<string | undefined>()
    for (const seed of [1, 2]) {
      const server = serve(LOOP, { seed, upstream: () => ['NXDOMAIN'] })
      server.resolver.start()
      await settle()
      names.add(server.host.asked[0]?.question)
    }
    assert.equal(names.size, 2)
  })

  test('asks nothing before it is started', async () => {
    const server = serve(LOOP, { upstream: () => ['NXDOMAIN'] })
    await settle()
    assert.deepEqual(server.host.asked, [])
  })

  test('does not mind other queries', async () => {
    const server = serve(LOOP, { upstream: () => ['NXDOMAIN'] })
    server.resolver.start()
    await settle()
    const probe = server.host.asked[0]?.question.split(' ')[0] ?? ''
    for (const ask of ['www.example.org HINFO', `${probe} A`, `x.${probe} HINFO`]) {
      for (let i = 0; i < 5; i++) await server.ask(ask)
    }
    assert.deepEqual(server.host.aborts, [])
  })

  test('does not look after two seconds', async () => {
    const server = serve(LOOP, { upstream: () => ['NXDOMAIN'] })
    server.resolver.start()
    await settle()
    const probe = server.host.asked[0]?.question.split(' ')[0] ?? ''
    await server.host.advance(2000)
    for (let i = 0; i < 5; i++) await server.ask(`${probe} HINFO`)
    assert.deepEqual(server.host.aborts, [])
  })

  test('finds no loop where the upstream is elsewhere', async () => {
    const server = serve(LOOP, { upstream: () => ['NOERROR ra'] })
    server.resolver.start()
    await server.host.advance(5000)
    assert.deepEqual(server.host.aborts, [])
  })

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'takes no argument',
      directives: ['loop x'],
      problem: 'Corefile:2:8: "loop" takes no arguments, got "x"',
    },
    {
      name: 'takes no options',
      directives: [directive('loop', 'x')],
      problem: 'Corefile:3:5: "loop" has no options; remove "x"',
    },
    {
      name: 'may appear once in a block',
      directives: ['loop', 'loop'],
      problem: 'Corefile:3:3: "loop" appears twice in this server block; remove one',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
