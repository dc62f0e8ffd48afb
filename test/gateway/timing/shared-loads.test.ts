import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { SharedLoads } from '../../../src/gateway/timing/shared-loads.ts'
import { FakeHost } from '../../fake-host.ts'

/** Loads that the test ends, and a clock that the test advances. */
class Fixture {
  readonly host = new FakeHost()
  readonly loads = new SharedLoads<string>(this.host.after)
  readonly begun: PromiseWithResolvers<string>[] = []

  load(key = 'a'): Promise<string> {
    return this.loads.load(key, () => {
      const load = Promise.withResolvers<string>()
      this.begun.push(load)
      return load.promise
    })
  }
}

describe('SharedLoads', () => {
  test('has those who come meanwhile wait for the same load', async () => {
    const fixture = new Fixture()
    const all = [fixture.load(), fixture.load(), fixture.load()]
    assert.equal(fixture.begun.length, 1)
    fixture.begun[0]?.resolve('x')
    assert.deepEqual(await Promise.all(all), ['x', 'x', 'x'])
    assert.equal(fixture.host.timerCount, 0)
  })

  test('loads what is another thing, or comes later, by itself', async () => {
    const fixture = new Fixture()
    const [one, other] = [fixture.load('a'), fixture.load('b')]
    for (const [i, load] of fixture.begun.entries()) load.resolve(String(i))
    assert.deepEqual(await Promise.all([one, other]), ['0', '1'])
    const later = fixture.load('a')
    fixture.begun[2]?.resolve('2')
    assert.equal(await later, '2')
  })

  test('fails for all waiting requests, and then starts again', async () => {
    const fixture = new Fixture()
    const [one, other] = [fixture.load(), fixture.load()]
    fixture.begun[0]?.reject(new Error('away'))
    await assert.rejects(one, /away/)
    await assert.rejects(other, /away/)
    const next = fixture.load()
    fixture.begun[1]?.resolve('x')
    assert.equal(await next, 'x')
  })

  test('has nobody hang on a request that was given up', async () => {
    const fixture = new Fixture()
    const given = fixture.load()
    given.catch(() => undefined)
    const joined = fixture.load()
    await fixture.host.advance(500)
    assert.equal(fixture.begun.length, 2)
    fixture.begun[1]?.resolve('own')
    assert.equal(await joined, 'own')
  })

  test('ends by its time limit', async () => {
    const fixture = new Fixture()
    const load = assert.rejects(fixture.load(), /no answer from the store after 3000 ms/)
    await fixture.host.advance(3000)
    await load
  })
})
