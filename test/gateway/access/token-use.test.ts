import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import { DAY_MS, type TokenRecord } from '../../../src/gateway/access/token.ts'
import type { TokenDays } from '../../../src/gateway/access/token-store.ts'
import { TokenUse } from '../../../src/gateway/access/token-use.ts'
import { Running } from '../running.ts'
import { tokenRecord } from '../tokens.ts'

class Fixture {
  nowMs = 5 * DAY_MS
  isAway = false
  readonly writes: TokenDays[] = []
  readonly errors: string[] = []
  readonly metrics = new Metrics()
  readonly use = new TokenUse({
    store: {
      noteUse: async (days) => {
        if (this.isAway) throw new Error('away')
        this.writes.push(days)
      },
    },
    metrics: this.metrics,
    clock: { now: () => this.nowMs, elapsed: () => this.nowMs },
    onError: (message) => this.errors.push(message),
  })
}

describe('TokenUse', () => {
  test('writes a day once, and at most once a minute', async () => {
    const { use, writes } = new Fixture()
    use.note('a')
    await use.writeIfDue()
    use.note('a')
    assert.equal(use.writeIfDue(), undefined)
    use.note('b')
    use.note('c')
    assert.equal(use.writeIfDue(), undefined)
    assert.deepEqual(writes, [[['a', 5]]])
  })

  test('writes together what was used meanwhile, and the next day again', async () => {
    const fixture = new Fixture()
    fixture.use.note('a')
    await fixture.use.writeIfDue()
    for (const id of ['a', 'b', 'c', 'b']) fixture.use.note(id)
    fixture.nowMs += 60_000
    await fixture.use.writeIfDue()
    fixture.nowMs += DAY_MS
    fixture.use.note('a')
    await fixture.use.writeIfDue()
    const together: TokenDays = [
      ['b', 5],
      ['c', 5],
    ]
    assert.deepEqual(fixture.writes, [[['a', 5]], together, [['a', 6]]])
  })

  test('tries again after a minute if the store fails', async () => {
    const fixture = new Fixture()
    fixture.isAway = true
    fixture.use.note('a')
    await fixture.use.writeIfDue()
    assert.deepEqual(fixture.errors, ['away'])
    fixture.isAway = false
    assert.equal(fixture.use.writeIfDue(), undefined)
    fixture.nowMs += 60_000
    await fixture.use.writeIfDue()
    assert.deepEqual(fixture.writes, [[['a', 5]]])
  })

  test('counts the first 100 tokens by themselves, and the others together', () => {
    const { use, metrics } = new Fixture()
    for (let i = 0; i < 150; i++) use.note(`token${i}`)
    use.note('token0')
    use.note('token149')
    const lines = metrics
      .format()
      .split('\n')
      .filter((line) => line.includes('{'))
    assert.equal(lines.length, 101)
    assert.equal(lines[0], 'kubedoh_gateway_token_requests_total{token="token0"} 2')
    assert.equal(lines.at(-1), 'kubedoh_gateway_token_requests_total{token="other"} 51')
  })
})

describe('the use of a token at a gateway', () => {
  const paths = ['/resolve?name=web.shop.svc.shop.example.org', '/v1/names']
  for (const path of paths) {
    test(`is noted for ${path}`, async () => {
      const { running, token, record } = await start()
      assert.equal((await running.get(path, token)).status, 200)
      // A request for DNS writes what was noted.
      await running.get(paths[0] ?? '', token)
      await Promise.all(running.kept)
      const day = Math.floor(running.host.now() / DAY_MS)
      assert.deepEqual(await running.tokens.list(), [{ ...record, usedDay: day }])
    })
  }

  test('is not noted for a wrong secret', async () => {
    const { running, record } = await start()
    await running.get('/resolve?name=a', `kdt_${record.id}_${'a'.repeat(43)}`)
    await Promise.all(running.kept)
    assert.deepEqual(await running.tokens.list(), [record])
  })
})

async function start(): Promise<{ running: Running; token: string; record: TokenRecord }> {
  const running = await Running.start()
  await running.publish()
  const { token, record } = await tokenRecord()
  await running.tokens.add(record)
  return { running, token, record }
}
