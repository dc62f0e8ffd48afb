import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import {
  chooseRules,
  NodeSetup,
  runScript,
  type SetupError,
  setupErrors,
} from '../../../src/operators/node-local/node-network.ts'
import type { RulesKind } from '../../../src/operators/node-local/node-rules.ts'

type Faults = { error?: Error; output?: string }

function create(addresses: readonly string[], rules: RulesKind | undefined, faults: Faults = {}) {
  const scripts: string[] = []
  const messages: string[] = []
  const metrics = new Metrics()
  const errors = setupErrors(metrics)
  const network = { interfaceName: 'dns0', addresses, dnsPort: 53, healthPort: 8080 }
  const setup = new NodeSetup({
    network,
    hasInterface: true,
    rules,
    log: ({ message }) => messages.push(message),
    errors,
    run: (script) => {
      scripts.push(script.split('\n', 1)[0] ?? '')
      return faults.error ? Promise.reject(faults.error) : Promise.resolve(faults.output ?? '')
    },
  })
  return { setup, scripts, messages, metrics, faults }
}

const failure = (code: number): Error => Object.assign(new Error('no'), { code })

describe('NodeSetup', () => {
  const cases: readonly (readonly [
    kind: SetupError,
    rules: RulesKind,
    code: number,
    act: (setup: NodeSetup) => Promise<void>,
  ])[] = [
    ['interface_add', 'iptables', 1, (setup) => setup.ensureInterface()],
    ['interface_check', 'iptables', 1, (setup) => setup.removeInterface()],
    ['iptables', 'iptables', 1, (setup) => setup.ensureRules()],
    ['iptables_lock', 'iptables', 4, (setup) => setup.removeRules()],
    ['nftables', 'nftables', 4, (setup) => setup.ensureRules()],
  ]
  for (const [kind, rules, code, act] of cases) {
    test(`counts and logs errors of ${kind}`, async () => {
      const { setup, messages, metrics } = create(['127.0.0.1'], rules, { error: failure(code) })
      await act(setup)
      assert.deepEqual(messages, [`cannot set up the network (${kind}): no`])
      const counted = metrics
        .format()
        .split('\n')
        .filter((line) => line.endsWith('} 1'))
      assert.deepEqual(counted, [`coredns_nodecache_setup_errors_total{errortype="${kind}"} 1`])
    })
  }

  test('publishes each kind of error from the start', () => {
    const lines = create([], 'iptables').metrics.format().split('\n')
    assert.equal(lines.filter((line) => line.endsWith('} 0')).length, 6)
  })

  test('counts a failed repair as a failed check', async () => {
    const { setup, metrics, faults } = create(['127.0.0.1'], undefined)
    await setup.ensureInterface()
    faults.error = failure(1)
    await setup.ensureInterface()
    assert.match(metrics.format(), /interface_check"\} 1\n/)
  })

  test('logs that a bridge replaces the dummy interface', async () => {
    const { setup, messages } = create(['127.0.0.1'], undefined, { output: 'bridge\n' })
    await setup.ensureInterface()
    assert.deepEqual(messages, ['dns0 is a bridge without ports: no dummy interfaces here'])
  })

  test('restores the interface only if an address is missing', async () => {
    const present = create(['127.0.0.1'], undefined)
    await present.setup.watchAddresses()
    assert.deepEqual(present.scripts, [])
    const absent = create(['127.0.0.1', '192.0.2.1'], undefined)
    await absent.setup.watchAddresses()
    assert.deepEqual(absent.scripts, ['ip link show dev dns0 >/dev/null 2>&1 ||'])
    assert.deepEqual(absent.messages, ['restoring dns0: an address is missing'])
  })

  test('runs nothing for rules that are switched off', async () => {
    const { setup, scripts } = create(['127.0.0.1'], undefined)
    await setup.ensureRules()
    await setup.removeRules()
    assert.deepEqual(scripts, [])
  })
})

test('chooseRules takes iptables where it works', async () => {
  assert.equal(await chooseRules(() => Promise.resolve('')), 'iptables')
  assert.equal(await chooseRules(() => Promise.reject(failure(127))), 'nftables')
})

describe('runScript', () => {
  test('resolves with the output', async () => {
    assert.equal(await runScript('echo a; cat'), 'a\n')
  })

  test('stops at the first error, with its status and its last line', async () => {
    await assert.rejects(runScript('echo one >&2; (echo two >&2; exit 4); echo three >&2'), {
      message: 'two',
      code: 4,
    })
    await assert.rejects(runScript('exit 3'), { message: 'exit status 3', code: 3 })
  })
})
