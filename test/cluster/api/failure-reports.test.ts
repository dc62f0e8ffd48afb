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
  readonly fail: (error: ApiError) => Promise<void>
  readonly recover: () => void
}

function start(random: number): Reported {
  const clock = new FakeClock()
  const errors: string[] = []
  const failures = new FailureReports({
    api: new ScriptedApi(),
    collection: SERVICES,
    onError: (message) => errors.push(message),
    sleep: clock.sleep,
    random: () => random,
  })
  const fail = async (error: ApiError): Promise<void> => {
    const paused = failures.pause(error, signal)
    await clock.advance(120_000)
    await paused
  }
  return { clock, errors, fail, recover: () => failures.recover() }
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
    for (let i = 0; i < 3; i++) await fail(new ApiError('away'))
    assert.deepEqual(errors, [`${message} 0.5 s`])
    recover()
    await fail(new ApiError('away'))
    assert.deepEqual(errors, [`${message} 0.5 s`, `${message} 0.5 s`])
  })

  test('reports the missing rule once while a right is missing', async () => {
    const { clock, errors, fail } = start(1)
    for (let i = 0; i < 3; i++) await fail(new ApiError('services is forbidden', 403))
    assert.equal(errors.length, 1)
    assert.match(errors[0] ?? '', /add to its ClusterRole: .*"verbs":\["list","watch"\]\}; again/)
    assert.deepEqual(clock.delays, [500, 1000, 2000])
  })
})
