import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { EtcdLeases } from '../../../src/server/etcd/etcd-watch.ts'
import { settle } from '../../fake-host.ts'

/** Leases whose etcd answers when the test lets it. */
class Lessor {
  readonly leases: EtcdLeases
  readonly asked: string[] = []
  nowMs = 0
  private readonly answers: PromiseWithResolvers<number>[] = []

  constructor() {
    this.leases = new EtcdLeases({
      now: () => this.nowMs,
      ask: (lease) => {
        this.asked.push(lease)
        const answer = Promise.withResolvers<number>()
        this.answers.push(answer)
        return answer.promise
      },
    })
  }

  async answer(seconds: number | Error): Promise<void> {
    const next = this.answers.shift()
    if (seconds instanceof Error) next?.reject(seconds)
    else next?.resolve(seconds)
    await settle()
  }
}

describe('EtcdLeases', () => {
  test('are 1 until etcd has responded, then the remaining time', async () => {
    const lessor = new Lessor()
    assert.equal(lessor.leases.seconds('a'), 1)
    await lessor.answer(60)
    lessor.nowMs = 1500
    assert.equal(lessor.leases.seconds('a'), 58)
    assert.deepEqual(lessor.asked, ['a'])
  })

  test('refresh in the background', async () => {
    const lessor = new Lessor()
    lessor.leases.seconds('a')
    await lessor.answer(60)
    lessor.nowMs = 10_000
    assert.equal(lessor.leases.seconds('a'), 50)
    assert.deepEqual(lessor.asked, ['a', 'a'])
    await lessor.answer(60)
    assert.equal(lessor.leases.seconds('a'), 60)
  })

  test('are 1 for a lease that seems expired, undefined for an unknown one', async () => {
    const lessor = new Lessor()
    lessor.leases.seconds('a')
    await lessor.answer(2)
    lessor.nowMs = 4000
    assert.equal(lessor.leases.seconds('a'), 1)
    lessor.nowMs = 6000
    lessor.leases.seconds('a')
    await lessor.answer(-1)
    assert.equal(lessor.leases.seconds('a'), undefined)
  })

  test('keep the last time when etcd is unavailable', async () => {
    const lessor = new Lessor()
    lessor.leases.seconds('a')
    await lessor.answer(new Error('away'))
    assert.equal(lessor.leases.seconds('a'), 1)
    assert.equal(lessor.asked.length, 1)
    lessor.nowMs = 6000
    lessor.leases.seconds('a')
    await lessor.answer(60)
    assert.equal(lessor.leases.seconds('a'), 60)
  })

  test('ask eight at a time, each once', async () => {
    const lessor = new Lessor()
    for (let i = 0; i < 20; i++) lessor.leases.seconds(`lease ${i}`)
    for (let i = 10; i < 20; i++) lessor.leases.seconds(`lease ${i}`)
    assert.equal(lessor.asked.length, 8)
    await lessor.answer(1)
    assert.equal(lessor.asked.length, 9)
    for (let i = 0; i < 19; i++) await lessor.answer(1)
    assert.equal(lessor.asked.length, 20)
  })
})
