import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  createElection,
  ELECTS_PUBLISHER,
  leaseOf,
} from '../../../src/cli/export/export-election.ts'
import { Input } from '../../../src/cli/flags/flags.ts'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import { LEASE, LeaseServer } from '../../cluster/follow/lease-server.ts'
import { within } from '../../server/clients.ts'

function inputOf(given: Readonly<Record<string, string>>, environment = {}): Input {
  const flags = Object.entries(given).map(([name, value]) => [name, [value]] as const)
  return new Input([], new Map(flags), environment)
}

describe('leaseOf', () => {
  test('reads the variable', () => {
    const lease = 'kube-system/kubedoh'
    assert.deepEqual(leaseOf(inputOf({}, { KUBEDOH_LEASE: lease })), LEASE)
    assert.equal(leaseOf(inputOf({})), undefined)
  })

  for (const lease of ['kubedoh', '/kubedoh', 'kube-system/', 'a/b/c', 'Kube/doh', '../x/y']) {
    test(`refuses ${lease}`, () => {
      assert.throws(() => leaseOf(inputOf({}, { KUBEDOH_LEASE: lease })), {
        message: /use NAMESPACE\/NAME/,
      })
    })
  }

  test('refuses flags that exclude an election', () => {
    const environment = { KUBEDOH_LEASE: 'kube-system/kubedoh' }
    assert.throws(() => leaseOf(inputOf({ once: '' }, environment)), { message: /unset/ })
    assert.throws(() => leaseOf(inputOf({ objects: 'a.yaml' }, environment)), {
      message: /API server/,
    })
  })
})

test('createElection elects this process, and releases the Lease at the end', async () => {
  const server = new LeaseServer()
  const [elected, ended] = [Promise.withResolvers<void>(), new AbortController()]
  const logged: string[] = []
  const election = createElection(LEASE, {
    messages: ELECTS_PUBLISHER,
    api: server.api(),
    log: ({ message }) => logged.push(String(message)),
    metrics: new Metrics(),
    onElected: elected.resolve,
  })
  const running = election.run(ended.signal)
  await within(elected.promise, 'the election')
  assert.equal(election.isLeader, true)
  ended.abort()
  await running
  assert.match(server.holders.join(), /^[^_,]+_[0-9a-f-]{36},$/)
  assert.deepEqual(logged, ['elected: publishes from now on'])
})
