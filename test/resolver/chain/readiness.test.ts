import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { directive, type Server, serve } from '../../ask.ts'

const CONTINUOUSLY = directive('ready', 'monitor continuously')

/** Server blocks of these lines, for the zones a, b and so on. */
function blocks(...lines: readonly (readonly string[])[]): Server {
  const text = lines.map((own, i) => `${'abc'[i]} {\n${own.join('\n')}\n}`).join('\n')
  return serve(text, { cluster: { objects: '[]', presence: 'later' } })
}

/** Has `erratic` in zone `a` count a query: it is ready after three of them, and not after five. */
async function count(server: Server, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await server.ask('x.a A')
}

describe('Readiness', () => {
  test('waits for the plugins of blocks with ready, each named once, sorted', async () => {
    const server = blocks(['ready', 'kubernetes'], ['ready :81', 'kubernetes', 'erratic'])
    assert.deepEqual(server.resolver.notReady(), ['erratic', 'kubernetes'])
    await server.ask('svc.a A')
    assert.deepEqual(server.resolver.notReady(), ['erratic', 'kubernetes'])
    await server.ask('svc.b A')
    assert.deepEqual(server.resolver.notReady(), ['erratic'])
  })

  test('waits for no others', () => {
    assert.deepEqual(blocks(['ready', 'whoami'], ['erratic']).resolver.notReady(), [])
    assert.deepEqual(blocks(['erratic']).resolver.notReady(), [])
  })

  for (const { line, name, after } of [
    { line: 'ready', name: 'does not look again at what was ready', after: [] },
    { line: CONTINUOUSLY, name: 'checks again on request', after: ['erratic'] },
  ]) {
    test(name, async () => {
      const server = blocks([line, 'erratic'])
      assert.deepEqual(server.resolver.notReady(), ['erratic'])
      await count(server, 3)
      assert.deepEqual(server.resolver.notReady(), [])
      await count(server, 3)
      assert.deepEqual(server.resolver.notReady(), after)
    })
  }
})
