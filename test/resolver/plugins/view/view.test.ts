import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, serve } from '../../../ask.ts'

const hosts = (address: string): string => directive('hosts none', `${address} www.split.test`)
const view = (...conditions: readonly string[]): string => {
  return directive('view inside', ...conditions.map((condition) => `expr ${condition}`))
}
const split = (...directives: readonly string[]): string =>
  block(...directives).replace('. {', 'split.test {')

/** Two blocks of one zone, of which the first has a view. */
const twoBlocks = (...conditions: readonly string[]): string =>
  [split(view(...conditions), hosts('192.0.2.1')), split(hosts('192.0.2.2'))].join('\n')

describe('view', () => {
  const cases: { name: string; conditions: string[]; ask?: string; isAdmitted: boolean }[] = [
    {
      name: 'has its block serve whom the condition is met by',
      conditions: ["incidr(client_ip(), '198.51.100.0/24')"],
      isAdmitted: true,
    },
    {
      name: 'passes over its block for all others',
      conditions: ["incidr(client_ip(), '198.51.100.0/24')"],
      ask: 'www.split.test A +from=192.0.2.7',
      isAdmitted: false,
    },
    { name: 'admits all without a condition', conditions: [], isAdmitted: true },
    {
      name: 'wants all conditions met',
      conditions: ["type() == 'A'", 'do()'],
      isAdmitted: false,
    },
    {
      name: 'admits when all conditions are met',
      conditions: ["type() == 'A'", 'do()'],
      ask: 'www.split.test A +do',
      isAdmitted: true,
    },
    {
      name: 'does not admit when a condition cannot be evaluated',
      conditions: ["incidr('nobody', '10.0.0.0/8') || true"],
      isAdmitted: false,
    },
    {
      name: 'does not admit when a condition is no truth value',
      conditions: ['1'],
      isAdmitted: false,
    },
    {
      name: 'sees names in lower case',
      conditions: [String.raw`name() matches '^www\\.split\\.test\\.$'`],
      ask: 'WWW.split.TEST A',
      isAdmitted: true,
    },
    {
      name: 'has no metadata without the plugin',
      conditions: ["metadata('view/name') == ''"],
      isAdmitted: true,
    },
  ]
  for (const { name, conditions, ask = 'www.split.test A', isAdmitted } of cases) {
    test(name, async () => {
      const [, record] = await serve(twoBlocks(...conditions)).ask(ask)
      assert.match(String(record), isAdmitted ? /192\.0\.2\.1$/ : /192\.0\.2\.2$/)
    })
  }

  test('leaves nothing where no block admits', async () => {
    const server = serve(split(view('do()'), hosts('192.0.2.1')))
    assert.deepEqual(await server.ask('www.split.test A'), ['REFUSED rd'])
  })

  test('may follow a block that matches everything, which then shadows it', async () => {
    const server = serve([split(hosts('192.0.2.2')), split(view(), hosts('192.0.2.1'))].join('\n'))
    assert.deepEqual(await server.ask('www.split.test A'), [
      'NOERROR aa rd',
      'www.split.test. 3600 IN A 192.0.2.2',
    ])
  })

  test('counts queries under its name', async () => {
    const server = serve(split('prometheus', 'cache', view('true'), hosts('192.0.2.1')))
    await server.ask('www.split.test A')
    const metrics = server.host.metrics.format()
    for (const name of ['dns_requests_total', 'dns_responses_total', 'cache_requests_total']) {
      assert.match(metrics, new RegExp(`coredns_${name}\\{[^}]*view="inside"[^}]*\\} 1`))
    }
  })

  test('knows the metadata of its own block', async () => {
    const server = serve(
      split('metadata', view("metadata('view/name') == 'inside'"), hosts('192.0.2.1')),
    )
    assert.equal((await server.ask('www.split.test A')).length, 2)
  })
})

describe('the set-up of view', () => {
  const problems: { name: string; directives: string[]; problem: string }[] = [
    { name: 'needs a name', directives: ['view'], problem: 'Corefile:2:3: "view" takes a name' },
    {
      name: 'has one name',
      directives: ['view a b'],
      problem: 'Corefile:2:10: "view" takes at most 1 argument(s), got "b"',
    },
    {
      name: 'may appear once in a block',
      directives: ['view a', 'view b'],
      problem: 'Corefile:3:3: "view" appears twice in this server block; remove one',
    },
    {
      name: 'has no other option',
      directives: [directive('view a', 'foo bar')],
      problem: 'Corefile:3:5: "view" has no option "foo"; it has expr',
    },
    {
      name: 'needs an expression',
      directives: [directive('view a', 'expr')],
      problem: 'Corefile:3:5: expected a value or an operator, got the end of the expression',
    },
    {
      name: 'says where an expression is wrong',
      directives: [directive('view a', "expr type() == 'A' && nam() == 'b'")],
      problem: 'Corefile:3:27: the function "nam" does not exist',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }

  test('rejects two blocks of a zone that match everything, even after one with a view', () => {
    const corefile = [
      split(view(), hosts('192.0.2.1')),
      split(hosts('192.0.2.2')),
      split(hosts('192.0.2.3')),
    ].join('\n')
    assert.deepEqual(problemsOf(corefile), [
      'Corefile:13:1: zone "split.test." is served at port 53 already (line 8)',
    ])
  })
})
