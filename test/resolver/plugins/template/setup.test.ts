import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parseQuery } from '../../../../src/dns/wire/query.ts'
import { block, directive, serve } from '../../../ask.ts'
import { parseQuestion } from '../../../message-text.ts'

describe('the fast path past template', () => {
  const cases: { name: string; head: string; options?: string[]; ask: string; isFree: boolean }[] =
    [
      { name: 'is free for other types', head: 'template IN A', ask: 'a.org MX', isFree: true },
      { name: 'is not free for ANY', head: 'template IN A', ask: 'a.org ANY', isFree: false },
      {
        name: 'is free for other zones',
        head: 'template ANY ANY b.org',
        ask: 'a.org A',
        isFree: true,
      },
      { name: 'is free for other classes', head: 'template CH ANY', ask: 'a.org A', isFree: true },
      {
        name: 'is not free where every name matches',
        head: 'template IN ANY',
        ask: 'a.org A',
        isFree: false,
      },
      {
        name: 'is free where names cannot match and fall through',
        head: 'template IN ANY',
        options: ['match [.]b[.]org[.]$', 'fallthrough'],
        ask: 'x.a.org A',
        isFree: true,
      },
      {
        name: 'is not free where they do not fall through',
        head: 'template IN ANY',
        options: ['match [.]b[.]org[.]$', 'fallthrough c.org'],
        ask: 'x.a.org A',
        isFree: false,
      },
      {
        name: 'is not free where names may match',
        head: 'template IN ANY',
        options: ['match x', 'match [.]b[.]org[.]$', 'fallthrough'],
        ask: 'a.b.org A',
        isFree: false,
      },
    ]
  for (const { name, head, options = [], ask, isFree } of cases) {
    test(name, () => {
      const server = serve(block(options.length === 0 ? head : directive(head, ...options)))
      const query = parseQuery(parseQuestion(ask).message)
      const plugin = server.resolver.listeners[0]?.zones[0]?.chain.plugins[0]
      if (query.kind === 'refusal') throw new TypeError('Not a query')
      const client = { address: '192.0.2.7', port: 1, transport: 'udp' } as const
      assert.equal(plugin?.fastPath?.needsSlowPath?.(query, client), !isFree)
    })
  }

  test('has nothing to say of EDNS where there is none', async () => {
    const lines = [
      'answer "a 1 IN TXT {{ with .Message.IsEdns0 }}{{ .UDPSize }}{{ else }}-{{ end }}"',
    ]
    const server = serve(block(directive('template IN TXT', ...lines)))
    assert.deepEqual(await server.ask('a.org TXT'), ['NOERROR aa rd', 'a. 1 IN TXT "-"'])
    const [head, record] = await server.ask('a.org TXT +edns=1400')
    assert.deepEqual([head, record], ['NOERROR aa rd', 'a. 1 IN TXT "1400"'])
    const careless = directive('template IN TXT', 'answer "a 1 IN TXT {{ .Message.IsEdns0.Do }}"')
    assert.deepEqual(await serve(block(careless)).ask('a.org TXT'), ['SERVFAIL rd'])
  })

  test('knows the metadata of the other plugins', async () => {
    const server = serve(
      block(
        'metadata',
        directive('view inside'),
        directive('template IN TXT', 'answer "a 1 IN TXT {{ .Meta \\"view/name\\" }}"'),
      ),
    )
    assert.deepEqual(await server.ask('a.org TXT'), ['NOERROR aa rd', 'a. 1 IN TXT "inside"'])
  })
})
