import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatProblem } from '../../../src/corefile/problem.ts'
import { gatewayNotices, gatewayPlugins } from '../../../src/gateway/config/gateway-plugins.ts'
import { ALL_PLUGINS } from '../../../src/resolver/plugins/all-plugins.ts'
import { EDGE_PLUGINS } from '../../../src/resolver/plugins/edge-plugins.ts'
import { block, parseBlocks, problemsOf } from '../../ask.ts'

const edgeAt = (kind: 'gateway' | 'worker') => gatewayPlugins(EDGE_PLUGINS, kind)

describe('gatewayPlugins', () => {
  test('refuses what its entry refuses, and says what to do instead', () => {
    assert.deepEqual(problemsOf(block('tsig'), { plugins: edgeAt('worker') }), [
      'Corefile:2:3: "tsig" does not work in a Worker: "kubedoh check --for worker" reports why',
    ])
  })

  test('does not look at what it ignores', () => {
    const lines = ['bind no-such-interface', 'tls missing.pem missing.key', 'reload 1ns']
    assert.deepEqual(problemsOf(block('whoami', ...lines), { plugins: edgeAt('worker') }), [])
  })

  test('leaves other plugins as they are', () => {
    const [problem = ''] = problemsOf(block('whoami a'), { plugins: edgeAt('worker') })
    assert.match(problem, /"whoami" takes no arguments/)
  })
})

describe('gatewayNotices', () => {
  function notices(kind: 'gateway' | 'worker', ...lines: readonly string[]): string[] {
    return gatewayNotices(parseBlocks(block(...lines)), EDGE_PLUGINS, kind).map(formatProblem)
  }

  test('names what a gateway ignores or takes in another way', () => {
    assert.deepEqual(notices('gateway', 'prometheus :9153', 'whoami', 'cancel'), [
      'Corefile:2:3: "prometheus" at a gateway: it counts queries, but opens no port; /metrics of ' +
        'the gateway itself has the metrics',
    ])
  })

  test('is silent about a plugin that is taken in another way without its arguments', () => {
    assert.deepEqual(notices('gateway', 'prometheus', 'whoami'), [])
  })

  test('names each option that has no effect', () => {
    const lines = ['kubernetes a.test {', 'pods verified', 'fallthrough', 'ttl 30', '}']
    assert.deepEqual(
      notices('worker', ...lines).map((line) => line.replace(/: its names are .*/, '')),
      [
        'Corefile:3:3: "pods" has no effect at a gateway',
        'Corefile:5:3: "ttl" has no effect at a gateway',
      ],
    )
  })

  test('is silent about what differs in Workers at a gateway on Node', () => {
    assert.deepEqual(notices('gateway', 'loop').length, 0)
    assert.deepEqual(notices('worker', 'loop').length, 1)
  })

  test('has a sentence for each plugin that differs', () => {
    for (const { name, gateways } of ALL_PLUGINS.values()) {
      if (gateways !== undefined) assert.match(gateways.because, /^\S.*[^.]$/, name)
    }
  })
})
