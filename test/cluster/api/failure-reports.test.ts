import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { FailureReports } from '../../../src/cluster/api/failure-reports.ts'
import { ApiError } from '../../../src/cluster/api/object-api.ts'
import { FakeClock } from '../follow/fake-clock.ts'
import { SERVICES } from '../follow/mirror.ts'
import { ScriptedApi } from '../follow/scripted-api.ts'

const { signal } = new AbortController()

type Reported = {
  readonly clock: FakeClock
  readonly errors: string[]
  /** Fails, and waits for some time: by default longer than any pause. */
  readonly fail: (error: ApiError, waitMs?: number) => Promise<void>
  readonly problem: (hasSynced: boolean) => string | undefined
  readonly recover: () => void
}

function start(random: number): Reported {
  const clock = new FakeClock()
  const errors: string[] = []
  const failures = new FailureReports({
    api: new ScriptedApi(),
    collection: SERVICES,
    onWarning: assert.fail,
    onError: (message) => errors.push(message),
    sleep: clock.sleep,
    random: () => random,
    elapsed: clock.elapsed,
  })
  const fail: Reported['fail'] = async (error, waitMs = 120_000) => {
    const paused = failures.pause(error, signal)
    await clock.advance(waitMs)
    await paused
  }
  return {
    clock,
    errors,
    fail,
    problem: (hasSynced) => failures.problem(hasSynced),
    recover: () => failures.recover(),
  }
}

const busy = (seconds: number): ApiError =>
  new ApiError('too many requests', 429, { retryAfterMs: seconds * 1000 })

describe('pause', () => {
  const cases: { name: string; random: number; seconds: number; delayMs: number }[] = [
    { name: 'as long as the server requests', random: 0, seconds: 7, delayMs: 7000 },
    { name: 'up to half longer', random: 1, seconds: 7, delayMs: 10_500 },
    { name: 'at least the back-off', random: 1, seconds: 0.1, delayMs: 500 },
    { name: 'at most a minute and a half', random: 1, seconds: 3600, delayMs: 90_000 },
  ]
  for (const { name, random, seconds, delayMs } of cases) {
    test(`waits ${name}`, async () => {
      const { clock, fail } = start(random)
      await fail(busy(seconds))
      assert.deepEqual(clock.delays, [delayMs])
    })
  }

  test('reports a failure once, and again after the server recovered', async () => {
    const { errors, fail, recover } = start(1)
    const message = 'cannot follow services: away; again in'
    for (let i = 0; i < 3; i++) await fail(new ApiError('away'), 5000)
    assert.deepEqual(errors, [`${message} 0.5 s`])
    recover()
    await fail(new ApiError('away'))
    assert.deepEqual(errors, [`${message} 0.5 s`, `${message} 0.5 s`])
  })

  test('reports a failure that persists each minute, with its length', async () => {
    const { errors, fail, problem } = start(1)
    for (let i = 0; i < 5; i++) await fail(new ApiError('away'), 31_000)
    assert.deepEqual(errors, [
      'cannot follow services: away; again in 0.5 s',
      'cannot follow services for 62 s: away; again in 2.0 s',
      'cannot follow services for 124 s: away; again in 8.0 s',
    ])
    assert.equal(problem(true), 'cannot follow services for 155 s: away')
  })

  test('counts the length from the first failure, whatever the reason', async () => {
    const { errors, fail } = start(1)
    for (const message of ['reset', 'refused']) await fail(new ApiError(message), 61_000)
    assert.deepEqual(errors, [
      'cannot follow services: reset; again in 0.5 s',
      'cannot follow services for 61 s: refused; again in 1.0 s',
    ])
  })

  test('reports the missing rule once while a right is missing', async () => {
    const { clock, errors, fail } = start(1)
    for (let i = 0; i < 3; i++) await fail(new ApiError('services is forbidden', 403), 5000)
    assert.equal(errors.length, 1)
    assert.match(errors[0] ?? '', /add to its ClusterRole: .*"verbs":\["list","watch"\]\}; again/)
    assert.deepEqual(clock.delays, [500, 1000, 2000])
  })
})

describe('problem', () => {
  test('is none while nothing fails', () => {
    const { problem } = start(1)
    assert.equal(problem(true), undefined)
    assert.equal(problem(false), 'waits for the list of services')
  })

  test('has the reason on one line of bounded length, until the server responds', async () => {
    const { fail, problem, recover } = start(1)
    await fail(new ApiError(`no\nroute ${'x'.repeat(300)}`), 1000)
    const reason = `no route ${'x'.repeat(191)}`
    assert.equal(problem(false), `waits for the list of services: ${reason}`)
    assert.equal(problem(true), `cannot follow services: ${reason}`)
    recover()
    assert.equal(problem(true), undefined)
  })
})
