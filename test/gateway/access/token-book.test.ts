import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, test } from 'vitest'
import { newSecret, type TokenRecord } from '../../../src/gateway/access/token.ts'
import { TokenBook } from '../../../src/gateway/access/token-book.ts'
import { HttpError } from '../../../src/gateway/doh/http-error.ts'
import { storeOf, tokenRecord } from '../tokens.ts'

/** A book with a clock and a store that the test controls. */
class Fixture {
  nowMs = 1_000_000
  /** What the wall clock was set by. */
  steppedMs = 0
  isAway = false
  isSilent = false
  /** Real time that the store takes. */
  delayMs = 0
  reads = 0
  readonly timers = new Set<{ readonly dueMs: number; readonly task: () => void }>()
  readonly errors: string[] = []
  readonly store: ReturnType<typeof storeOf>
  readonly book: TokenBook

  constructor(records: readonly TokenRecord[]) {
    this.store = storeOf(records)
    this.book = new TokenBook({
      store: {
        list: () => {
          this.reads++
          if (this.isSilent) return new Promise(() => undefined)
          if (this.delayMs > 0) return sleep(this.delayMs).then(() => this.store.list())
          return this.isAway ? Promise.reject(new Error('away')) : this.store.list()
        },
      },
      after: (delayMs, task) => {
        const timer = { dueMs: this.nowMs + delayMs, task }
        this.timers.add(timer)
        return () => this.timers.delete(timer)
      },
      clock: { now: () => this.nowMs + this.steppedMs, elapsed: () => this.nowMs - 777 },
      onError: (message) => this.errors.push(message),
    })
  }

  /** Moves the clock on and runs what falls due. */
  advance(durationMs: number): void {
    this.nowMs += durationMs
    for (const timer of this.timers) {
      if (timer.dueMs > this.nowMs) continue
      this.timers.delete(timer)
      timer.task()
    }
  }

  /** Resolves when somebody waits for the store: hashing takes real time. */
  async waits(): Promise<void> {
    while (this.timers.size === 0) await new Promise(setImmediate)
  }

  async knows(token: string): Promise<boolean> {
    return (await this.book.find(token)) !== undefined
  }
}

describe('TokenBook', () => {
  test('reads the list once for many tokens', async () => {
    const { token, record } = await tokenRecord()
    const fixture = new Fixture([record])
    for (let i = 0; i < 5; i++) assert.equal(await fixture.knows(token), true)
    assert.equal(fixture.reads, 1)
  })

  test('finds a new token at once, and looks for a wrong one once a second at most', async () => {
    const { token, record } = await tokenRecord()
    const fixture = new Fixture([])
    assert.equal(await fixture.knows(token), false)
    await fixture.store.add(record)
    assert.equal(await fixture.knows(token), false)
    fixture.nowMs += 1000
    assert.equal(await fixture.knows(token), true)
    for (let i = 0; i < 5; i++) await fixture.knows(`${token.slice(0, -1)}!`)
    assert.equal(fixture.reads, 2)
  })

  test('refuses a revoked token within the time to look again', async () => {
    const { token, record } = await tokenRecord()
    const fixture = new Fixture([record])
    assert.equal(await fixture.knows(token), true)
    await fixture.store.remove(record.id)
    assert.equal(await fixture.knows(token), true)
    fixture.nowMs += 1000
    await fixture.book.follow()
    assert.equal(await fixture.knows(token), false)
  })

  test('refuses a revoked token after a minute without anybody asking', async () => {
    const { token, record } = await tokenRecord()
    const fixture = new Fixture([record])
    await fixture.knows(token)
    await fixture.store.remove(record.id)
    fixture.nowMs += 60_000
    assert.equal(await fixture.knows(token), false)
  })

  test('refuses a token that has ended, also when its list is old', async () => {
    const { token, record } = await tokenRecord({ expiresMs: 1_000_500 })
    const fixture = new Fixture([record])
    assert.equal(await fixture.knows(token), true)
    fixture.nowMs += 5000
    fixture.delayMs = 20
    void fixture.book.follow()
    assert.equal(await fixture.knows(token), false)
  })

  test('waits for nobody with a token that the list has, also when the store says nothing', async () => {
    const { token, record } = await tokenRecord()
    const fixture = new Fixture([record])
    await fixture.knows(token)
    fixture.isSilent = true
    fixture.nowMs += 59_999
    assert.equal(await fixture.knows(token), true)
    assert.equal(fixture.book.findAtOnce(token)?.record.id, record.id)
    assert.equal(fixture.reads, 1)
  })

  test('has a token that the list lacks wait 150 ms for a newer list, and says that it may be new', async () => {
    const { token, record } = await tokenRecord()
    const other = await tokenRecord()
    const fixture = new Fixture([other.record])
    await fixture.knows(other.token)
    fixture.isSilent = true
    fixture.nowMs += 1000
    const isRefused = assert.rejects(fixture.knows(token), isUnavailable)
    await fixture.waits()
    fixture.advance(150)
    await isRefused
    await fixture.store.add(record)
    fixture.isSilent = false
    fixture.advance(4000)
    assert.equal(await fixture.knows(token), true)
  })

  test('refuses a token that has ended, and one of two secrets that has', async () => {
    const { token, record } = await tokenRecord({ expiresMs: 1_000_500 })
    const old = await tokenRecord()
    const fresh = await newSecret(old.record.id, randomBytes)
    const secrets = [
      { sha256: old.record.secrets[0]?.sha256 ?? '', expiresMs: 1_000_500 },
      { sha256: fresh.sha256, expiresMs: undefined },
    ]
    const fixture = new Fixture([record, { ...old.record, secrets }])
    const known = (): Promise<boolean[]> =>
      Promise.all([token, old.token, fresh.token].map((one) => fixture.knows(one)))
    assert.deepEqual(await known(), [true, true, true])
    fixture.nowMs += 500
    assert.deepEqual(await known(), [false, false, true])
  })

  test('goes by the list it has while the store is away, for a minute', async () => {
    const { token, record } = await tokenRecord()
    const fixture = new Fixture([record])
    await fixture.knows(token)
    fixture.isAway = true
    fixture.nowMs += 59_999
    await fixture.book.follow()
    assert.equal(await fixture.knows(token), true)
    assert.deepEqual(fixture.errors, ['away'])
    fixture.nowMs += 1
    await assert.rejects(fixture.knows(token), isUnavailable)
    fixture.isAway = false
    fixture.nowMs += 1000
    assert.equal(await fixture.knows(token), true)
  })

  test('asks a store that fails once a second, however many come', async () => {
    const { token, record } = await tokenRecord()
    const fixture = new Fixture([record])
    await fixture.knows(token)
    fixture.isAway = true
    fixture.nowMs += 5000
    for (let i = 0; i < 5; i++) {
      await fixture.book.follow()
      assert.equal(await fixture.knows(token), true)
    }
    assert.equal(fixture.reads, 2)
  })

  test('waits two seconds for a store that says nothing, without a list', async () => {
    const { token, record } = await tokenRecord()
    const fixture = new Fixture([record])
    fixture.isSilent = true
    const isRefused = assert.rejects(fixture.knows(token), isUnavailable)
    await fixture.waits()
    fixture.advance(2000)
    await isRefused
    assert.match(fixture.errors.join(), /no answer from the origin/)
  })

  test('finds at once only what was found before, by a young list', async () => {
    const { token, record } = await tokenRecord()
    const fixture = new Fixture([record])
    assert.equal(fixture.book.findAtOnce(token), undefined)
    await fixture.knows(token)
    assert.equal(fixture.book.findAtOnce(token)?.record.id, record.id)
    const wrong = token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
    await fixture.knows(wrong)
    assert.equal(fixture.book.findAtOnce(wrong), undefined)
    fixture.nowMs += 60_000
    assert.equal(fixture.book.findAtOnce(token), undefined)
  })

  test('finds at once no longer what was found before, when it holds no longer', async () => {
    const { token, record } = await tokenRecord()
    const [known] = record.secrets
    assert.ok(known !== undefined)
    const until = { ...record, secrets: [{ ...known, expiresMs: 1_000_900 }] }
    const fixture = new Fixture([until])
    await fixture.knows(token)
    assert.equal(fixture.book.findAtOnce(token)?.record.id, record.id)
    assert.equal(fixture.book.findAtOnce(token)?.record.id, record.id)
    fixture.nowMs = 1_000_900
    assert.equal(fixture.book.findAtOnce(token), undefined)
    for (const next of [
      { ...record, expiresMs: 1_000_000 },
      { ...record, secrets: [{ ...known, sha256: '0'.repeat(64) }] },
      { ...record, secrets: [] },
    ]) {
      const other = new Fixture([record])
      await other.knows(token)
      assert.equal(other.book.findAtOnce(token)?.record.id, record.id)
      await other.store.replace(record, next)
      other.nowMs += 1000
      await other.book.follow()
      assert.equal(other.book.findAtOnce(token), undefined)
    }
  })

  test('lets nobody in when there never was a list', async () => {
    const { token, record } = await tokenRecord()
    const fixture = new Fixture([record])
    fixture.isAway = true
    await assert.rejects(fixture.knows(token), isUnavailable)
  })

  test('returns the same visibility for the same grants, after each refresh', async () => {
    const [one, other] = [await tokenRecord(), await tokenRecord()]
    const fixture = new Fixture([one.record, other.record])
    const before = (await fixture.book.find(one.token))?.visibility
    fixture.nowMs += 6000
    assert.equal((await fixture.book.find(other.token))?.visibility, before)
  })
})

function isUnavailable(error: unknown): boolean {
  assert.ok(error instanceof HttpError)
  assert.deepEqual([error.status, error.code], [503, 'tokens_unavailable'])
  return true
}
