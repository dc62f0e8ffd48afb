/**
 * A whole gateway and an exporter whose clocks are set forward and back.
 * @module
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { PublishReport } from '../../src/exporter/publisher.ts'
import { AGE_HEADER } from '../../src/gateway/access/cors.ts'
import { buildShards } from '../../src/snapshot/write/build-shards.ts'
import { FakeHost, START_MS } from '../fake-host.ts'
import { rrset } from '../snapshot/entries.ts'
import { WEB } from './publishing.ts'
import { CLIENT_TOKEN, clientSha256, QUESTION, Running } from './running.ts'
import { tokenRecord } from './tokens.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const PATH = `/dns-query${QUESTION}`
const OLD = WEB
const NEW = WEB.replace('0.80', '0.81')

/** A gateway and an exporter, each with a clock to set. */
class Fixture {
  readonly running: Running
  exporterStepMs = 0
  private readonly publisher: ReturnType<Running['exporter']>

  constructor(running: Running) {
    this.running = running
    this.publisher = running.exporter(() => this.exporterNow())
  }

  static async start(variables: Parameters<typeof Running.start>[0] = {}): Promise<Fixture> {
    return new Fixture(await Running.start({ CLIENT_TOKEN_SHA256: clientSha256, ...variables }))
  }

  get host(): FakeHost {
    return this.running.host
  }

  /** Sets the clock of the gateway. */
  step(ms: number): void {
    this.host.step(ms)
  }

  publish(lines: string): Promise<PublishReport | undefined> {
    const built = {
      shards: buildShards([rrset(lines)]),
      ...{ records: 1, ttlSeconds: 5, origins: ['cluster.local.'], warnings: [] },
    }
    return this.publisher.publish(built, { sources: {}, confirmedMs: this.exporterNow() })
  }

  /** Lets time pass, while somebody asks every second. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= SECOND) await this.running.pass(Math.min(left, SECOND))
  }

  async address(): Promise<string | undefined> {
    const [, answer] = await this.running.ask()
    return answer?.split(' ').at(-1)
  }

  async ageSeconds(): Promise<number> {
    const response = await this.running.get(PATH, CLIENT_TOKEN)
    return Number(response.headers.get(AGE_HEADER))
  }

  private exporterNow(): number {
    return this.host.elapsed() - 777 + START_MS + this.exporterStepMs
  }
}

describe('a cluster answers again', () => {
  test('when the clock of the gateway was 25 hours ahead at the start and is set right', async () => {
    const fixture = await Fixture.start()
    fixture.step(25 * HOUR)
    await fixture.publish(OLD)
    await fixture.pass(2 * SECOND)
    assert.equal(await fixture.address(), undefined)
    fixture.step(-25 * HOUR)
    await fixture.publish(NEW)
    await fixture.pass(2 * SECOND)
    assert.equal(await fixture.address(), '10.96.0.81')
    assert.equal(await fixture.ageSeconds(), 2)
  })

  test('when nothing is published but that the names are as they were', async () => {
    const fixture = await Fixture.start()
    fixture.step(25 * HOUR)
    await fixture.publish(OLD)
    await fixture.pass(2 * SECOND)
    fixture.step(-25 * HOUR)
    assert.equal((await fixture.publish(OLD))?.isConfirmation, true)
    await fixture.pass(2 * SECOND)
    assert.equal(await fixture.address(), '10.96.0.80')
  })

  for (const stepMs of [25 * HOUR, -25 * HOUR]) {
    test(`when all clocks are ${stepMs / HOUR} hours wrong and are set right`, async () => {
      const fixture = await Fixture.start()
      fixture.step(stepMs)
      fixture.exporterStepMs = stepMs
      await fixture.publish(OLD)
      await fixture.pass(2 * SECOND)
      assert.equal(await fixture.address(), '10.96.0.80')
      fixture.step(-stepMs)
      fixture.exporterStepMs = 0
      await fixture.publish(NEW)
      await fixture.pass(10 * SECOND)
      assert.equal(await fixture.address(), '10.96.0.81')
      assert.equal(await fixture.ageSeconds(), 10)
      assert.equal((await fixture.publish(NEW))?.isConfirmation, true)
      await fixture.pass(2 * SECOND)
      assert.equal(await fixture.ageSeconds(), 2)
    })
  }

  test('when the clock of the exporter was ahead, and the gateway has refused its names', async () => {
    const fixture = await Fixture.start()
    await fixture.publish(OLD)
    fixture.exporterStepMs = HOUR
    await assert.rejects(fixture.publish(NEW), /is 3600 s ahead of the gateway's clock/)
    await fixture.pass(2 * SECOND)
    assert.equal(await fixture.address(), '10.96.0.80')
    fixture.exporterStepMs = 0
    await fixture.publish(NEW)
    await fixture.pass(2 * SECOND)
    assert.equal(await fixture.address(), '10.96.0.81')
  })
})

test("changes continue while the exporter's clock is an hour slow", async () => {
  const fixture = await Fixture.start()
  await fixture.publish(OLD)
  await fixture.pass(10 * SECOND)
  fixture.exporterStepMs = -HOUR
  await fixture.publish(NEW)
  await fixture.pass(2 * SECOND)
  assert.equal(await fixture.address(), '10.96.0.81')
  assert.equal(await fixture.ageSeconds(), 12)
  await assert.rejects(fixture.publish(NEW), /is before the current one's/)
})

describe('the age of names', () => {
  test('counts the hour that the machine slept', async () => {
    const fixture = await Fixture.start()
    await fixture.publish(OLD)
    await fixture.pass(2 * SECOND)
    fixture.step(HOUR)
    assert.equal(await fixture.ageSeconds(), 3602)
  })

  test('does not fall when the clock is set back', async () => {
    const fixture = await Fixture.start({ STALE_SECONDS: '60', EXPIRE_SECONDS: '86400' })
    await fixture.publish(OLD)
    await fixture.host.advance(30 * MINUTE)
    await fixture.pass(2 * SECOND)
    fixture.step(-HOUR)
    assert.equal(await fixture.ageSeconds(), 1802)
    await fixture.pass(MINUTE)
    assert.equal(await fixture.ageSeconds(), 1862)
  })

  test('counts from when they were first read, when they are from the future', async () => {
    const fixture = await Fixture.start()
    fixture.exporterStepMs = 4 * MINUTE
    await fixture.publish(OLD)
    await fixture.pass(30 * SECOND)
    assert.equal(await fixture.ageSeconds(), 29)
  })
})

describe('a token', () => {
  const status = async ({ running }: Fixture, token: string): Promise<number> =>
    (await running.get(PATH, token)).status

  test('that expired while the machine slept is refused', async () => {
    const fixture = await Fixture.start()
    await fixture.publish(OLD)
    const { token, record } = await tokenRecord({ expiresMs: START_MS + 10 * MINUTE })
    await fixture.running.tokens.add(record)
    assert.equal(await status(fixture, token), 200)
    fixture.step(HOUR)
    assert.equal(await status(fixture, token), 401)
  })

  test('that has expired does not come back when the clock is set back', async () => {
    const fixture = await Fixture.start()
    await fixture.publish(OLD)
    const expiresMs = START_MS + 10 * MINUTE
    const asked = await tokenRecord({ expiresMs })
    const secret = await tokenRecord()
    const unasked = await tokenRecord({ expiresMs })
    const [rotated] = secret.record.secrets
    const secrets = rotated === undefined ? [] : [{ ...rotated, expiresMs }]
    for (const record of [asked.record, { ...secret.record, secrets }, unasked.record]) {
      await fixture.running.tokens.add(record)
    }
    assert.equal(await status(fixture, asked.token), 200)
    assert.equal(await status(fixture, secret.token), 200)
    await fixture.host.advance(10 * MINUTE)
    assert.equal(await status(fixture, asked.token), 401)
    fixture.step(-HOUR)
    for (const { token } of [asked, secret, unasked])
      assert.equal(await status(fixture, token), 401)
    const later = await tokenRecord({ expiresMs: fixture.host.now() + MINUTE })
    await fixture.running.tokens.add(later.record)
    await fixture.pass(2 * SECOND)
    assert.equal(await status(fixture, later.token), 200)
  })

  for (const stepMs of [25 * HOUR, -25 * HOUR]) {
    test(`that is revoked is refused within seconds, ${stepMs / HOUR} hours on`, async () => {
      const fixture = await Fixture.start()
      await fixture.publish(OLD)
      const { token, record } = await tokenRecord()
      await fixture.running.tokens.add(record)
      assert.equal(await status(fixture, token), 200)
      fixture.step(stepMs)
      await fixture.running.tokens.remove(record.id)
      // A request notices that the list is old; the next one has a newer one.
      await fixture.host.advance(6 * SECOND)
      await status(fixture, token)
      await Promise.all(fixture.running.kept)
      assert.equal(await status(fixture, token), 401)
    })
  }
})

for (const stepMs of [25 * HOUR, -25 * HOUR]) {
  test(`requests are limited as before, ${stepMs / HOUR} hours on`, async () => {
    const fixture = await Fixture.start({ REQUESTS_PER_MINUTE: '10' })
    await fixture.running.publish(OLD)
    const get = async (): Promise<number> => (await fixture.running.get(PATH, CLIENT_TOKEN)).status
    assert.deepEqual([await get(), await get(), await get()], [200, 200, 429])
    fixture.step(stepMs)
    assert.equal(await get(), 429)
    await fixture.host.advance(6 * SECOND)
    assert.deepEqual([await get(), await get()], [200, 429])
  })

  test(`what is cached and forwarded ends when it should, ${stepMs / HOUR} hours on`, async () => {
    let isSilent = false
    const host = new FakeHost({
      upstream: () => (isSilent ? 'silence' : ['NOERROR', 'www.example.org. 60 IN A 192.0.2.9']),
    })
    const corefile = '. {\n  cache\n  forward . https://upstream.example.org/dns-query\n}\n'
    const variables = { CLIENT_TOKEN_SHA256: clientSha256, COREFILE: corefile }
    const running = await Running.start(variables, host)
    const ask = (): Promise<string[]> => running.ask('www.example.org A')
    await ask()
    await host.advance(10 * SECOND)
    host.step(stepMs)
    assert.equal((await ask())[1], 'www.example.org. 50 IN A 192.0.2.9')
    await host.advance(49 * SECOND)
    await ask()
    assert.equal(host.asked.length, 1)
    isSilent = true
    await host.advance(SECOND)
    let late: readonly string[] = []
    void ask().then((reply) => {
      late = reply
    })
    await host.advance(SECOND)
    host.step(-stepMs)
    // How many turns of the event loop a request takes is not for the test to know.
    for (let i = 0; i < 10_000 && late.length === 0; i++) await host.advance(SECOND / 10)
    assert.match(late[0] ?? '', /^SERVFAIL/)
  })
}
