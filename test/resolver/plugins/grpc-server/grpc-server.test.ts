import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { directive, problemsOf, serve } from '../../../ask.ts'

const served = (line: string, keys = 'grpc://.'): string => `${keys} {\n  ${line}\n  whoami\n}`

describe('grpc_server', () => {
  for (const { options, connectionsMax, streamsMax } of [
    { options: [], connectionsMax: undefined, streamsMax: undefined },
    { options: ['max_connections 300'], connectionsMax: 300, streamsMax: undefined },
    { options: ['max_streams 7'], connectionsMax: undefined, streamsMax: 7 },
    {
      options: ['max_streams 0', 'max_connections 0'],
      connectionsMax: Infinity,
      streamsMax: Infinity,
    },
  ]) {
    test(`bounds connections to ${connectionsMax} and streams to ${streamsMax}`, () => {
      const line = options.length === 0 ? 'grpc_server' : directive('grpc_server', ...options)
      const [listener] = serve(served(line)).resolver.listeners
      assert.equal(listener?.transport, 'grpc')
      assert.equal(listener.port, 443)
      assert.equal(listener.httpConnectionsMax, connectionsMax)
      assert.equal(listener.streamsMax, streamsMax)
    })
  }

  test('bounds connections of gRPC only', () => {
    const line = directive('grpc_server', 'max_connections 3')
    const https = directive('https', 'max_connections 4')
    const { listeners } = serve(served(`${line}\n  ${https}`, 'grpc://. https://.:8443 .')).resolver
    assert.deepEqual(
      listeners.map(({ transport, httpConnectionsMax }) => [transport, httpConnectionsMax]),
      [
        ['grpc', 3],
        ['https', 4],
        ['dns', undefined],
      ],
    )
  })

  const problems: { line: string; problem: string }[] = [
    { line: 'grpc_server 200', problem: ':2:15: "grpc_server" takes no arguments, got "200"' },
    {
      line: directive('grpc_server', 'max_streams'),
      problem: ':3:5: "max_streams" takes 1 argument(s), got 0',
    },
    {
      line: directive('grpc_server', 'max_streams -1'),
      problem: ':3:17: "-1" is not a number from 0 to 2147483647',
    },
    {
      line: directive('grpc_server', 'max_streams many'),
      problem: ':3:17: "many" is not a number from 0 to 2147483647',
    },
    {
      line: directive('grpc_server', 'max_streams 1', 'max_streams 2'),
      problem: ':4:5: "max_streams" appears twice; remove one',
    },
    {
      line: directive('grpc_server', 'max_idle 1'),
      problem: ':3:5: "grpc_server" has no option "max_idle"; it has max_connections, max_streams',
    },
  ]
  for (const { line, problem } of problems) {
    test(`refuses "${line.replaceAll(/\s+/g, ' ')}"`, () => {
      assert.deepEqual(problemsOf(served(line)), [`Corefile${problem}`])
    })
  }
})
