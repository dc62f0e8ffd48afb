import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'vitest'
import type { ClusterObject } from '../../src/cluster/objects/objects.ts'
import { parseAddress } from '../../src/dns/names/address.ts'
import { nameOf } from '../../src/dns/names/name.ts'
import { TYPE } from '../../src/dns/names/rr-type.ts'
import { Metrics } from '../../src/dns/telemetry/metrics.ts'
import { Canary } from '../../src/exporter/canary.ts'
import { FakeClock } from '../cluster/follow/fake-clock.ts'

const NAME = nameOf('canary.default.svc.cluster.local')

/** A response with one A record. */
function responseOf(address: string): Uint8Array {
  const header = [0, 0, 0x84, 0, 0, 1, 0, 1, 0, 0, 0, 0]
  const question = [...NAME, 0, TYPE.A, 0, 1]
  const record = [0xc0, 12, 0, TYPE.A, 0, 1, 0, 0, 0, 5, 0, 4, ...(parseAddress(address) ?? [])]
  return Uint8Array.from([...header, ...question, ...record])
}

type Edge = {
  readonly clock: FakeClock
  readonly changes: string[]
  readonly errors: string[]
  readonly samples: () => string[]
}

/** Starts a canary of a gateway that answers with a change after `delayMs`. */
function start(t: TestContext, delayMs: number, isLeader = true): Edge {
  const [clock, metrics, ended] = [new FakeClock(), new Metrics(), new AbortController()]
  const [changes, errors]: [string[], string[]] = [[], []]
  let changedMs = 0
  const canary = new Canary({
    service: { namespace: 'default', name: 'canary' },
    isLeader: () => isLeader,
    change: (service: ClusterObject) => {
      assert.ok(service.kind === 'Service')
      changes.push(service.clusterIPs.join())
      changedMs = clock.elapsed()
    },
    ask: async () => {
      if (clock.elapsed() - changedMs < delayMs / 2) throw new Error('unreachable')
      const isNew = clock.elapsed() - changedMs >= delayMs
      return responseOf(isNew ? (changes.at(-1) ?? '') : '198.19.255.255')
    },
    onError: (message) => errors.push(message),
    metrics,
    sleep: clock.sleep,
    random: () => 0,
    elapsed: clock.elapsed,
  })
  const running = canary.run(ended.signal)
  t.onTestFinished(async () => {
    ended.abort()
    await running
  })
  const samples = (): string[] =>
    metrics.format().match(/(?<=^kubedoh_exporter_)(edge\S+_(sum|count)|canary\S+) .*/gm) ?? []
  return { clock, changes, errors, samples }
}

describe('a canary', () => {
  test('is changed every 15 s and timed until the gateway answers with it', async (t) => {
    const { clock, changes, samples } = start(t, 100)
    await clock.advance(1000)
    assert.deepEqual(samples(), ['edge_duration_seconds_sum 0.1', 'edge_duration_seconds_count 1'])
    await clock.advance(15_000)
    assert.deepEqual(changes, ['198.18.0.1', '198.18.0.2'])
    assert.equal(samples()[1], 'edge_duration_seconds_count 2')
  })

  test('that no response has within 30 s is lost', async (t) => {
    const { clock, errors, samples } = start(t, 60_000)
    await clock.advance(31_000)
    assert.deepEqual(samples(), ['canary_lost_total 1'])
    assert.deepEqual(errors, [
      'the gateway does not answer with 198.18.0.1 for the canary after 30 s',
    ])
  })

  test('of a follower does nothing', async (t) => {
    const { clock, changes } = start(t, 100, false)
    await clock.advance(60_000)
    assert.deepEqual(changes, [])
  })
})
