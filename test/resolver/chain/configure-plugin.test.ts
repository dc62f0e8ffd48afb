import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatProblem } from '../../../src/corefile/problem.ts'
import { block, directive, problemsOf, serve } from '../../ask.ts'

describe('configurePlugin finds all that is wrong', () => {
  const cases: { name: string; directives: string[]; problems: string[] }[] = [
    {
      name: 'in several options',
      directives: [directive('cache 30', 'success x', 'denial 1', 'keepttll', 'servfail y')],
      problems: [
        'Corefile:3:13: "x" is not a number from 0 to 4294967295',
        'Corefile:5:5: "cache" has no option "keepttll"; did you mean "keepttl"?',
        'Corefile:6:14: "y" is not a duration such as 30s, 1m30s or 500ms',
      ],
    },
    {
      name: 'in an argument and an option',
      directives: [directive('kubernetes a..b cluster.local', 'pods all', 'ttl 99999')],
      problems: [
        'Corefile:2:14: "a..b" is not a domain name',
        'Corefile:3:10: "all" is not one of disabled, insecure, verified',
        'Corefile:4:9: "99999" is not a number from 0 to 3600',
      ],
    },
    {
      name: 'in several directives of one plugin',
      directives: ['forward .', directive('forward . 192.0.2.1', 'polcy random')],
      problems: [
        'Corefile:2:3: "forward" needs a zone and at least one upstream',
        'Corefile:4:5: "forward" has no option "polcy"; did you mean "policy"?',
      ],
    },
    {
      name: 'but nothing that is wrong only without what was wrong',
      directives: ['forward . udp://192.0.2.1', 'loadbalance weight none'],
      problems: [
        'Corefile:3:15: "weight" is neither "round_robin" nor "weighted"',
        'Corefile:2:13: "udp://192.0.2.1": upstreams need dns://, tls:// or https://',
      ],
    },
    {
      name: 'in a directive that appears twice',
      directives: ['errors x', 'errors y'],
      problems: [
        'Corefile:3:3: "errors" appears twice in this server block; remove one',
        'Corefile:2:10: "errors" logs to "stdout" only, got "x"',
      ],
    },
  ]
  for (const { name, directives, problems } of cases) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), problems)
    })
  }

  test('up to a bound', () => {
    const lines = Array.from({ length: 500 }, (_, i) => `x${i}`)
    const problems = problemsOf(block(directive('forward . 192.0.2.1', ...lines)))
    assert.equal(problems.length, 101)
  })
})

describe('configurePlugin', () => {
  const repeated: { one: string; counts: 'first' | 'last' }[] = [
    { one: 'any', counts: 'first' },
    { one: 'autopath @kubernetes', counts: 'last' },
    { one: 'bufsize 1232', counts: 'first' },
    { one: 'chaos v2', counts: 'first' },
    { one: directive('etcd', 'path /skydns'), counts: 'first' },
    { one: directive('https', 'max_connections 5'), counts: 'first' },
    { one: 'minimal', counts: 'first' },
    { one: 'reload 10s', counts: 'first' },
    { one: 'tls cert.pem key.pem', counts: 'last' },
    { one: 'whoami', counts: 'first' },
  ]
  const files = { 'cert.pem': 'CERT', 'key.pem': 'KEY' }
  for (const { one, counts } of repeated) {
    const [name = ''] = one.split(' ')
    test(`takes the ${counts} "${name}", as CoreDNS does`, () => {
      const ignored = counts === 'first' ? 2 + one.split('\n').length : 2
      const message = `"${name}" appears twice in this server block; only the ${counts} one counts`
      const said = serve(block(one, one), { files }).resolver.notices.map(formatProblem)
      assert.ok(said.includes(`Corefile:${ignored}:3: ${message}`), said.join('\n'))
    })
  }

  test('sets up the one that counts', async () => {
    const { resolver } = serve(block('reload 10s', 'reload 20s'))
    assert.deepEqual(
      resolver.features.filter(({ kind }) => kind === 'reload'),
      [{ kind: 'reload', intervalMs: 10_000, jitterMs: 5000 }],
    )
  })
})
