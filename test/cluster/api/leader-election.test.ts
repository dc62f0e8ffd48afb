import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'vitest'
import { LeaderElection } from '../../../src/cluster/api/leader-election.ts'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import { FakeClock } from '../follow/fake-clock.ts'
import { LEASE, LeaseServer } from '../follow/lease-server.ts'

/** Interval at which the tests look who leads. */
const STEP_MS = 10

/** A candidate, which can lose the API server or set its wall clock wrong. */
class Candidate {
  readonly election: LeaderElection
  readonly metrics: Metrics = new Metrics()
  readonly news: string[] = []
  isCut = false
  private readonly ended = new AbortController()
  private readonly running: Promise<void>

  constructor(
    t: TestContext,
    identity: string,
    { server, clock, skewMs = 0 }: { server: LeaseServer; clock: FakeClock; skewMs?: number },
  ) {
    this.election = new LeaderElection({
      api: server.api(() => this.isCut),
      lease: LEASE,
      identity,
      metrics: this.metrics,
      onElected: () => this.news.push('elected'),
      onFollow: (leader) => this.news.push(`follows ${leader}`),
      onError: (message) => this.news.push(`error: ${message}`),
      sleep: clock.sleep,
      random: () => 1,
      now: () => clock.now() + skewMs,
      elapsed: clock.elapsed,
    })
    this.running = this.election.run(this.ended.signal)
    t.onTestFinished(() => this.stop())
  }

  /** Ends its candidacy as SIGTERM does. */
  async stop(): Promise<void> {
    this.ended.abort()
    await this.running
  }

  get isLeader(): boolean {
    return this.election.isLeader
  }
}

type Pair = {
  readonly server: LeaseServer
  readonly clock: FakeClock
  readonly a: Candidate
  readonly b: Candidate
  /** Lets time pass and fails if both lead at once. Returns the time until `holds`. */
  readonly until: (holds: () => boolean, limitMs: number) => Promise<number>
}

/** Starts two candidates, of which `a` leads. */
async function startPair(t: TestContext, skewMs = 0): Promise<Pair> {
  const [server, clock] = [new LeaseServer(), new FakeClock()]
  const a = new Candidate(t, 'a', { server, clock })
  await clock.advance(0)
  const b = new Candidate(t, 'b', { server, clock, skewMs })
  await clock.advance(0)
  assert.deepEqual([a.isLeader, b.isLeader], [true, false])
  const until: Pair['until'] = async (holds, limitMs) => {
    for (let ms = 0; ms <= limitMs; ms += STEP_MS) {
      assert.ok(!(a.isLeader && b.isLeader), 'both lead')
      if (holds()) return ms
      await clock.advance(STEP_MS)
    }
    return assert.fail(`not within ${limitMs} ms`)
  }
  return { server, clock, a, b, until }
}

describe('of two exporters', () => {
  test('one leads for as long as it renews', async (t) => {
    const { server, a, b, until } = await startPair(t)
    await assert.rejects(until(() => b.isLeader, 60_000))
    assert.deepEqual([a.news, b.news], [['elected'], ['follows a']])
    assert.deepEqual(server.holders, ['a'])
    const status = /leader_election_master_status\{name="kubedoh"\} (\d)/
    assert.equal(status.exec(a.metrics.format())?.[1], '1')
    assert.equal(status.exec(b.metrics.format())?.[1], '0')
  })

  test('the other takes over within 2.1 s when the leader crashes', async (t) => {
    const { server, clock, a, b, until } = await startPair(t)
    await clock.advance(10_130)
    a.isCut = true
    const ms = await until(() => b.isLeader, 2100)
    assert.ok(ms > 1000, `after ${ms} ms`)
    assert.equal(server.spec.leaseTransitions, 1)
    a.isCut = false
    await until(() => a.news.includes('follows b'), 3000)
    assert.deepEqual(server.holders, ['a', 'b'])
  })

  test('the other takes over at once when the leader ends', async (t) => {
    const { server, clock, a, b } = await startPair(t)
    await clock.advance(10_130)
    await a.stop()
    await clock.advance(0)
    assert.deepEqual([a.isLeader, b.isLeader], [false, true])
    assert.deepEqual(server.holders, ['a', '', 'b'])
  })

  for (const hours of [-5, 5]) {
    test(`a wall clock that is ${hours} h off changes nothing`, async (t) => {
      const { clock, a, b, until } = await startPair(t, hours * 3_600_000)
      await assert.rejects(until(() => b.isLeader, 20_000))
      clock.setBack(-7_200_000)
      await assert.rejects(until(() => b.isLeader, 20_000))
      a.isCut = true
      assert.ok((await until(() => b.isLeader, 2100)) > 1000)
    })
  }

  test('a leader that stood still does not lead when it continues', async (t) => {
    const { clock, a, b } = await startPair(t)
    clock.pass(1500)
    assert.equal(a.isLeader, false)
    await clock.advance(0)
    assert.equal(Number(a.isLeader) + Number(b.isLeader), 1)
  })

  test('a follower whose watch is silent finds out that the leader is alive', async (t) => {
    const { server, clock, a, b, until } = await startPair(t)
    await clock.advance(1000)
    b.isCut = true
    await clock.advance(10_000)
    b.isCut = false
    await assert.rejects(until(() => b.isLeader, 20_000))
    assert.ok(a.isLeader)
    assert.deepEqual(server.holders, ['a'])
  })

  test('a deleted Lease is created again', async (t) => {
    const { server, a, b, until } = await startPair(t)
    server.remove()
    const holds = (): boolean => typeof server.spec.holderIdentity === 'string'
    await until(() => holds() && a.isLeader !== b.isLeader, 3000)
  })

  test('neither leads without the API server, and one does afterwards', async (t) => {
    const { a, b, until } = await startPair(t)
    a.isCut = true
    b.isCut = true
    await until(() => !a.isLeader && !b.isLeader, 2000)
    await assert.rejects(until(() => a.isLeader || b.isLeader, 20_000))
    a.isCut = false
    b.isCut = false
    await until(() => a.isLeader || b.isLeader, 3000)
    const errors = a.news.filter((line) => line.startsWith('error'))
    assert.deepEqual(errors, ['error: cannot use Lease kube-system/kubedoh: connect ECONNREFUSED'])
  })
})
