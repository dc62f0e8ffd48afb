import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'vitest'
import type { ExportSource } from '../../src/cluster/follow/export-source.ts'
import type { BuiltSnapshot } from '../../src/cluster/follow/snapshot-builder.ts'
import { Metrics } from '../../src/dns/telemetry/metrics.ts'
import { Exporter, type ExporterOptions } from '../../src/exporter/exporter.ts'
import { GatewayError } from '../../src/exporter/gateway-client.ts'
import type { PublishReport, SnapshotFacts } from '../../src/exporter/publisher.ts'
import { SnapshotError } from '../../src/snapshot/format/layout.ts'
import { FakeClock, START_MS } from '../cluster/follow/fake-clock.ts'

/** Changes are gathered for this long. */
const GATHER_MS = 50
const INTERVAL_MS = 200
const CONFIRM_MS = 15_000
const AWAY = new GatewayError('dns.example.org cannot be reached: reset by peer')

/** An exporter of a source that counts what is built, to a scripted publisher. */
class Exporting {
  readonly clock: FakeClock = new FakeClock()
  readonly metrics: Metrics = new Metrics()
  readonly ended: AbortController = new AbortController()
  readonly errors: string[] = []
  readonly reports: PublishReport[] = []
  /** `MS: BUILD` for each attempt: when it was, from the start, and which build it was of. */
  readonly attempts: string[] = []
  /** `confirmed` of each attempt, in milliseconds from the start. */
  readonly scheduled: number[] = []
  /** What becomes of the next attempts; beyond them, all succeed. */
  readonly outcomes: (PublishReport | Error | undefined)[] = []
  readonly exporter: Exporter
  isConfirmed = true
  private builds = 0
  private running: Promise<void> | undefined

  constructor(t: TestContext, options: Partial<ExporterOptions> = {}) {
    const source: ExportSource = {
      build: () => this.build(),
      sources: () => ({ services: '7' }),
      confirmedMs: () => (this.isConfirmed ? this.clock.now() : undefined),
      states: () => [],
      acknowledged: () => undefined,
      run: async () => assert.fail('the exporter does not run its source'),
    }
    this.exporter = new Exporter({
      source,
      publisher: { publish: (built, facts) => this.publish(built, facts) },
      metrics: this.metrics,
      onPublished: (report) => this.reports.push(report),
      onError: (message) => this.errors.push(message),
      intervalMs: INTERVAL_MS,
      confirmMs: CONFIRM_MS,
      sleep: this.clock.sleep,
      random: () => 1,
      now: this.clock.now,
      elapsed: this.clock.elapsed,
      ...options,
    })
    t.onTestFinished(async () => {
      this.ended.abort()
      await this.running?.catch(() => undefined)
    })
  }

  start(): Promise<void> {
    this.running = this.exporter.run(this.ended.signal)
    return this.running
  }

  private build(): BuiltSnapshot {
    this.builds++
    return { shards: [], records: this.builds, ttlSeconds: 5, origins: [], warnings: [] }
  }

  private publish(
    { records }: BuiltSnapshot,
    { confirmedMs, scheduledMs = 0 }: SnapshotFacts,
  ): Promise<PublishReport | undefined> {
    this.scheduled.push(scheduledMs - START_MS)
    assert.equal(confirmedMs, this.clock.now())
    this.attempts.push(`${this.clock.now() - START_MS}: ${records}`)
    const outcome = this.outcomes.length > 0 ? this.outcomes.shift() : reportOf(records)
    return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome)
  }
}

function reportOf(records: number): PublishReport {
  const sizes = { shards: 0, shardBytes: 0, manifestBytes: 300 }
  return { generation: 1, records, isConfirmation: false, ...sizes }
}

describe('publish', () => {
  test('reports nothing before the source is confirmed', async (t) => {
    const { exporter, attempts } = Object.assign(new Exporting(t), { isConfirmed: false })
    assert.equal(await exporter.publish(), undefined)
    assert.deepEqual([exporter.isReady, attempts], [false, []])
  })

  test('publishes, and reports it', async (t) => {
    const { exporter, attempts, reports } = new Exporting(t)
    assert.deepEqual(await exporter.publish(), reportOf(1))
    assert.deepEqual(attempts, ['0: 1'])
    assert.deepEqual(reports, [reportOf(1)])
    assert.equal(exporter.isReady, true)
  })

  test('reports nothing when the gateway is up to date', async (t) => {
    const { exporter, outcomes, reports } = new Exporting(t)
    outcomes.push(undefined)
    assert.equal(await exporter.publish(), undefined)
    assert.deepEqual(reports, [])
  })

  test('builds again only after a change', async (t) => {
    const { exporter, attempts } = new Exporting(t)
    await exporter.publish()
    await exporter.publish()
    exporter.mark()
    await exporter.publish()
    assert.deepEqual(attempts, ['0: 1', '0: 1', '0: 2'])
  })

  test('fails as the gateway fails, and is not ready for it', async (t) => {
    const { exporter, outcomes } = new Exporting(t)
    outcomes.push(AWAY)
    await assert.rejects(exporter.publish(), AWAY)
    assert.equal(exporter.isReady, false)
  })
})

describe('run', () => {
  test('does nothing before something changes', async (t) => {
    const exporting = new Exporting(t)
    exporting.start()
    await exporting.clock.advance(CONFIRM_MS - 1)
    assert.deepEqual(exporting.attempts, [])
  })

  test('publishes changes soon, but no more often than the interval allows', async (t) => {
    const exporting = new Exporting(t)
    const { exporter, clock, attempts } = exporting
    exporting.start()
    for (const ms of [0, 10, 50, 100, 900]) {
      await clock.advance(START_MS + ms - clock.now())
      exporter.mark()
    }
    await clock.advance(1000)
    assert.deepEqual(attempts, ['50: 1', '250: 2', '950: 3'])
  })

  test('publishes changes once the source is confirmed', async (t) => {
    const exporting = Object.assign(new Exporting(t), { isConfirmed: false })
    const { exporter, clock, attempts } = exporting
    exporting.start()
    exporter.mark()
    await clock.advance(1000)
    exporting.isConfirmed = true
    exporter.mark()
    await clock.advance(GATHER_MS)
    assert.deepEqual(attempts, ['1050: 1'])
  })

  test('confirms unchanged names from time to time', async (t) => {
    const exporting = new Exporting(t)
    exporting.start()
    exporting.exporter.mark()
    await exporting.clock.advance(2 * CONFIRM_MS + GATHER_MS)
    assert.deepEqual(exporting.attempts, ['50: 1', '15050: 1', '30050: 1'])
  })

  test('confirms by the clock alone, whatever changes in between', async (t) => {
    const exporting = new Exporting(t)
    exporting.start()
    exporting.exporter.mark()
    await exporting.clock.advance(5000)
    exporting.exporter.mark()
    await exporting.clock.advance(CONFIRM_MS - 5000 - 2 * GATHER_MS)
    exporting.exporter.mark()
    await exporting.clock.advance(3 * GATHER_MS + INTERVAL_MS)
    exporting.outcomes.push(AWAY)
    await exporting.clock.advance(CONFIRM_MS + 5000)
    // The change right before the confirmation is published first; one that fails is made up for.
    const [start = 0, ...scheduled] = exporting.scheduled
    assert.deepEqual(scheduled, [start, start, CONFIRM_MS, 2 * CONFIRM_MS, 2 * CONFIRM_MS])
  })

  test('fails with errors that are not the gateway’s', async (t) => {
    const exporting = new Exporting(t)
    const failed = assert.rejects(exporting.start(), RangeError)
    exporting.outcomes.push(new RangeError('ours'))
    exporting.exporter.mark()
    await exporting.clock.advance(GATHER_MS)
    await failed
  })
})

test('a cluster that exceeds a snapshot is logged, and tried again', async (t) => {
  const exporting = new Exporting(t)
  exporting.outcomes.push(new SnapshotError('Cannot build shard: too much'))
  exporting.start()
  exporting.exporter.mark()
  await exporting.clock.advance(1000)
  assert.deepEqual(exporting.attempts, ['50: 1', '550: 1'])
  assert.deepEqual(exporting.errors, ['Cannot build shard: too much; again in 0.5 s'])
})

describe('a gateway that fails', () => {
  test('is tried again, later each time, and each failure is logged', async (t) => {
    const exporting = new Exporting(t)
    const { exporter, clock, attempts, outcomes, errors } = exporting
    outcomes.push(AWAY, AWAY, AWAY)
    exporting.start()
    exporter.mark()
    await clock.advance(10_000)
    assert.deepEqual(attempts, ['50: 1', '550: 1', '1550: 1', '3550: 1'])
    assert.deepEqual(
      errors,
      ['0.5', '1.0', '2.0'].map((seconds) => `${AWAY.message}; again in ${seconds} s`),
    )
    assert.equal(exporter.isReady, true)
  })

  test('is tried again by a time that chance has a part in', async (t) => {
    const exporting = new Exporting(t, { random: () => 0 })
    exporting.outcomes.push(AWAY)
    exporting.start()
    exporting.exporter.mark()
    await exporting.clock.advance(1000)
    assert.deepEqual(exporting.attempts, ['50: 1', '300: 1'])
  })

  test('is tried again with the changes since', async (t) => {
    const exporting = new Exporting(t)
    exporting.outcomes.push(AWAY)
    exporting.start()
    exporting.exporter.mark()
    await exporting.clock.advance(300)
    exporting.exporter.mark()
    await exporting.clock.advance(10_000)
    assert.deepEqual(exporting.attempts, ['50: 1', '550: 2'])
  })

  test('that has not failed in between is waited for as shortly as at first', async (t) => {
    const exporting = new Exporting(t)
    const { exporter, clock, outcomes, errors } = exporting
    outcomes.push(AWAY, AWAY, reportOf(1), AWAY)
    exporting.start()
    exporter.mark()
    await clock.advance(5000)
    exporter.mark()
    await clock.advance(GATHER_MS)
    assert.equal(errors.at(-1), `${AWAY.message}; again in 0.5 s`)
    assert.equal(errors.length, 3)
  })

  test('once it has taken something does not make the exporter less ready', async (t) => {
    const exporting = new Exporting(t)
    exporting.outcomes.push(reportOf(1), AWAY)
    exporting.start()
    exporting.exporter.mark()
    await exporting.clock.advance(CONFIRM_MS + GATHER_MS)
    assert.equal(exporting.errors.length, 1)
    assert.equal(exporting.exporter.isReady, true)
  })
})

describe('the signal', () => {
  const cases: {
    name: string
    outcomes?: readonly Error[]
    marks: readonly number[]
    atMs: number
    attempts: readonly string[]
  }[] = [
    { name: 'ends it when nothing changed', marks: [], atMs: 100, attempts: [] },
    {
      name: 'ends it when all is published',
      marks: [0],
      atMs: 1000,
      attempts: ['50: 1'],
    },
    { name: 'publishes what was gathered', marks: [0], atMs: 20, attempts: ['20: 1'] },
    {
      name: 'publishes what waited for the interval',
      marks: [0, 60],
      atMs: 100,
      attempts: ['50: 1', '100: 2'],
    },
    {
      name: 'tries once more what failed',
      outcomes: [AWAY],
      marks: [0],
      atMs: 200,
      attempts: ['50: 1', '200: 1'],
    },
    {
      name: 'tries no more than once',
      outcomes: [AWAY, AWAY],
      marks: [0],
      atMs: 200,
      attempts: ['50: 1', '200: 1'],
    },
  ]
  for (const { name, outcomes = [], marks, atMs, attempts } of cases) {
    test(name, async (t) => {
      const exporting = new Exporting(t)
      const { exporter, clock, ended } = exporting
      exporting.outcomes.push(...outcomes)
      const running = exporting.start()
      for (const ms of marks) {
        await clock.advance(START_MS + ms - clock.now())
        exporter.mark()
      }
      await clock.advance(START_MS + atMs - clock.now())
      ended.abort()
      await running
      assert.deepEqual(exporting.attempts, attempts)
      assert.equal(clock.sleeping, 0)
    })
  }
})

describe('metrics', () => {
  test('count publications and failures', async (t) => {
    const exporting = new Exporting(t)
    exporting.outcomes.push(AWAY, reportOf(1), undefined)
    exporting.start()
    exporting.exporter.mark()
    await exporting.clock.advance(CONFIRM_MS + GATHER_MS)
    const lines = exporting.metrics.format().split('\n')
    assert.deepEqual(
      lines.filter((line) => line.startsWith('kubedoh_exporter_publishes_total')),
      [
        'kubedoh_exporter_publishes_total{result="failed"} 1',
        'kubedoh_exporter_publishes_total{result="stored"} 1',
      ],
    )
  })
})

describe('a follower', () => {
  test('builds what changes, publishes nothing, and is ready', async (t) => {
    const exporting = new Exporting(t, { isLeader: () => false })
    exporting.start()
    exporting.exporter.mark()
    await exporting.clock.advance(CONFIRM_MS + GATHER_MS)
    assert.deepEqual(exporting.attempts, [])
    assert.equal(exporting.exporter.isReady, true)
  })

  test('that is elected publishes at once what it built', async (t) => {
    let isLeader = false
    let acknowledged = 0
    const onAcknowledged = (): void => {
      acknowledged++
    }
    const exporting = new Exporting(t, { isLeader: () => isLeader, onAcknowledged })
    exporting.start()
    exporting.exporter.mark()
    await exporting.clock.advance(1000)
    assert.equal(acknowledged, 0)
    isLeader = true
    exporting.outcomes.push(AWAY)
    exporting.exporter.mark()
    await exporting.clock.advance(GATHER_MS)
    assert.deepEqual([exporting.attempts.length, acknowledged], [1, 0])
    await exporting.clock.advance(2000)
    assert.deepEqual([exporting.attempts.length, acknowledged], [2, 1])
  })
})

test('times changes until the gateway takes them, from the oldest one', async (t) => {
  const exporting = new Exporting(t)
  exporting.start()
  exporting.exporter.mark()
  exporting.outcomes.push(AWAY)
  await exporting.clock.advance(GATHER_MS)
  exporting.exporter.mark()
  await exporting.clock.advance(2000)
  const sum = /acknowledged_duration_seconds_sum (\S+)/.exec(exporting.metrics.format())?.[1]
  const [, last = ''] = exporting.attempts
  assert.equal(Number(sum) * 1000, Number.parseInt(last, 10))
})
