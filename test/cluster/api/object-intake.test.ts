import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'vitest'
import { MirroredObjects } from '../../../src/cluster/api/mirrored-objects.ts'
import { ObjectIntake } from '../../../src/cluster/api/object-intake.ts'
import type { Kind } from '../../../src/cluster/objects/objects.ts'
import { FakeClock, settle } from '../follow/fake-clock.ts'

/** A ConfigMap with hosts, of which the version is the last number of the address. */
function map(name: string, version: number, hosts = 1): unknown {
  const line = `192.0.2.${version} h.a.test\n`
  return {
    metadata: {
      ...{ name, namespace: 'shop', resourceVersion: String(version) },
      labels: { 'kubedoh.dev/hostnames': 'hosts' },
    },
    data: { hosts: line.repeat(hosts) },
  }
}

class Intake {
  readonly clock: FakeClock = new FakeClock()
  readonly lines: string[] = []
  readonly intake: ObjectIntake
  parsed = 0
  /** Milliseconds that pass with each look at the clock: more than 4 end a slice. */
  private readonly stepMs: number

  constructor(t: TestContext, { kind = 'ConfigMap' as Kind, stepMs = 0 } = {}) {
    this.stepMs = stepMs
    const mirrored = new MirroredObjects(
      kind,
      {
        set: (object) => {
          const [host] = 'hosts' in object ? object.hosts : []
          this.lines.push(`set ${object.name} ${host?.targets[0]?.split('.').at(-1)}`)
        },
        delete: (_kind, _namespace, name) => this.lines.push(`delete ${name}`),
      },
      (message) => this.lines.push(message),
    )
    const { sleep } = this.clock
    const elapsed = (): number => {
      this.clock.pass(this.stepMs)
      return this.clock.elapsed()
    }
    const onParsed = (): void => {
      this.parsed++
    }
    this.intake = new ObjectIntake({ kind, mirrored, sleep, elapsed, onParsed })
    t.onTestFinished(() => this.intake.stop())
  }

  news(): string[] {
    return this.lines.splice(0)
  }

  /** Waits until what may be parsed now is. */
  async settle(): Promise<void> {
    await this.intake.settled()
    await settle()
  }
}

describe('an object', () => {
  test('that is light is parsed at once, and never waits', (t) => {
    const one = new Intake(t, { kind: 'Service' })
    for (let version = 1; version <= 50; version++) {
      const metadata = { name: 'web', namespace: 'shop', resourceVersion: String(version) }
      assert.equal(one.intake.take({ metadata }), undefined)
    }
    assert.equal(one.news().length, 50)
    assert.equal(one.intake.settled(), undefined)
  })

  test('that is a small ConfigMap is parsed at once as well', (t) => {
    const one = new Intake(t)
    void one.intake.take(map('a', 1))
    assert.deepEqual(one.news(), ['set a 1'])
  })

  test('that takes long is parsed in slices, the newest version of several', async (t) => {
    const one = new Intake(t, { stepMs: 5 })
    void one.intake.take(map('a', 1, 1000))
    assert.deepEqual(one.news(), [])
    for (let version = 2; version < 9; version++) void one.intake.take(map('a', version))
    await one.settle()
    assert.deepEqual(one.news(), ['set a 1', 'set a 8'])
    assert.equal(one.parsed, 2)
  })

  test('whose text took long is parsed in a later turn', async (t) => {
    const one = new Intake(t)
    void one.intake.take(map('a', 1), 64 * 1024)
    assert.deepEqual(one.news(), [])
    await one.settle()
    assert.deepEqual(one.news(), ['set a 1'])
  })

  test('that is in the sink, or is parsed now, is not parsed again', async (t) => {
    const one = new Intake(t, { stepMs: 5 })
    void one.intake.take(map('a', 1, 1000))
    void one.intake.take(map('a', 1, 1000))
    await one.settle()
    void one.intake.take(map('a', 1, 1000))
    await one.settle()
    assert.deepEqual([one.news(), one.parsed], [['set a 1'], 1])
  })

  test('that changes without end waits for a token, and holds up no other', async (t) => {
    const one = new Intake(t)
    for (let version = 1; version <= 30; version++) {
      void one.intake.take(map('busy', version))
      await one.settle()
    }
    assert.equal(one.news().length, 10)
    void one.intake.take(map('calm', 31))
    assert.deepEqual(one.news(), ['set calm 31'])
    await one.clock.advance(9000)
    void one.intake.take(map('busy', 32))
    assert.deepEqual(one.news(), [])
    await one.clock.advance(1000)
    assert.deepEqual(one.news(), ['set busy 32'])
    await one.clock.advance(100_000)
    assert.deepEqual(one.news(), [])
    for (let version = 40; version < 60; version++) {
      void one.intake.take(map('busy', version))
      await one.settle()
    }
    assert.equal(one.news().length, 10)
  })

  test('that is deleted and created again has no new tokens', async (t) => {
    const one = new Intake(t)
    for (let version = 1; version <= 20; version++) {
      void one.intake.take(map('busy', version))
      await one.settle()
      one.intake.drop(map('busy', version))
    }
    assert.equal(one.news().filter((line) => line.startsWith('set')).length, 10)
    await one.clock.advance(20_000)
    assert.deepEqual(one.news(), [])
  })

  test('that is deleted while it is parsed is not set', async (t) => {
    const one = new Intake(t, { stepMs: 5 })
    void one.intake.take(map('a', 1, 1000))
    one.intake.drop(map('a', 2))
    await one.settle()
    assert.deepEqual(one.news(), ['delete a'])
  })

  test('that is invalid is reported, and removed', async (t) => {
    const one = new Intake(t)
    void one.intake.take(map('a', 1))
    void one.intake.take(map('a', 2, 5001))
    await one.settle()
    assert.deepEqual(one.news(), [
      'set a 1',
      'delete a',
      'ConfigMap shop/a: it has more than 5000 hostnames, of which long ones count several times',
    ])
  })
})

describe('a list', () => {
  test('keeps what waits of it, and its older version', async (t) => {
    const one = new Intake(t, { stepMs: 5 })
    void one.intake.take(map('a', 1))
    await one.settle()
    one.news()
    one.intake.startList('')
    void one.intake.take(map('a', 2, 1000))
    void one.intake.take(map('b', 3, 1000))
    one.intake.endList()
    assert.deepEqual(one.news(), [])
    await one.settle()
    assert.deepEqual(one.news(), ['set a 2', 'set b 3'])
  })

  test('forgets what it lacks, whether it waits or is parsed now', async (t) => {
    const one = new Intake(t, { stepMs: 5 })
    void one.intake.take(map('a', 1, 1000))
    void one.intake.take(map('b', 2, 1000))
    one.intake.startList('')
    one.intake.endList()
    await one.settle()
    assert.deepEqual(one.news(), [])
  })

  test('keeps what is parsed now if it has the same version', async (t) => {
    const one = new Intake(t, { stepMs: 5 })
    void one.intake.take(map('a', 1, 1000))
    one.intake.startList('')
    void one.intake.take(map('a', 1, 1000))
    one.intake.endList()
    await one.settle()
    assert.deepEqual([one.news(), one.parsed], [['set a 1'], 1])
  })
})

test('a reader waits while too many bytes wait', async (t) => {
  const one = new Intake(t, { stepMs: 5 })
  const bytes = 5 * 1024 * 1024
  assert.equal(one.intake.take(map('a', 1, 1000), bytes), undefined)
  assert.equal(one.intake.take(map('b', 2, 1000), bytes), undefined)
  const waiting = one.intake.take(map('c', 3, 1000), bytes)
  assert.ok(waiting instanceof Promise)
  await waiting
  assert.equal(one.news().length, 3)
  assert.equal(one.intake.take(map('d', 4), bytes), undefined)
})
