import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parseForward } from '../../../../src/resolver/plugins/forward/options.ts'
import { UpstreamHealth } from '../../../../src/resolver/plugins/forward/upstream-health.ts'
import { directive, parseDirective } from '../../../ask.ts'
import { FakeHost, START_MS, settle, type UpstreamScript } from '../../../fake-host.ts'

const DEAD: UpstreamScript = () => new Error('connection refused')

/** The health of the first upstream that a directive names. */
function watch(
  line: string,
  upstream: UpstreamScript,
  seed = 1,
): { host: FakeHost; health: UpstreamHealth } {
  const host = new FakeHost({ upstream, seed })
  const options = parseForward(parseDirective(line), () => undefined)
  const [first] = options.upstreams
  assert.ok(first)
  const onConnection = (): void => undefined
  const client = host.openUpstream(first, { ...options.connections, onConnection })
  return { host, health: new UpstreamHealth({ name: '192.0.2.1:53', client, options, host }) }
}

describe('UpstreamHealth', () => {
  test('asks nothing while all is well', async () => {
    const { host, health } = watch('forward . 192.0.2.1', DEAD)
    await host.advance(60_000)
    assert.equal(health.isDown, false)
    assert.deepEqual(host.asked, [])
  })

  test('checks at once when a query fails, for one second', async () => {
    const { host, health } = watch('forward . 192.0.2.1', () => ['NOERROR'])
    health.noteFailure()
    await settle()
    const [check] = host.asked
    assert.equal(host.asked.length, 1)
    assert.equal(check?.question, '. IN NS rd')
    assert.equal(check?.protocol, 'udp')
    assert.equal(check?.timeoutMs, 1000)
    assert.equal(check?.connectionAgeMsMax, 0)
    assert.equal(health.isDown, false)
  })

  const checks: { name: string; option: string; question: string; protocol: string }[] = [
    {
      name: 'checks with the configured name',
      option: 'health_check 1s domain example.org',
      question: 'example.org. IN NS rd',
      protocol: 'udp',
    },
    {
      name: 'checks without RD when configured so',
      option: 'health_check 1s no_rec',
      question: '. IN NS',
      protocol: 'udp',
    },
    {
      name: 'checks over TCP when that is forced',
      option: 'force_tcp',
      question: '. IN NS rd',
      protocol: 'tcp',
    },
  ]
  for (const { name, option, question, protocol } of checks) {
    test(name, async () => {
      const { host, health } = watch(directive('forward . 192.0.2.1', option), DEAD)
      health.noteFailure()
      await settle()
      assert.equal(host.asked[0]?.question, question)
      assert.equal(host.asked[0]?.protocol, protocol)
    })
  }

  test('is down after two failed checks, 375 to 625 ms apart', async () => {
    const { host, health } = watch('forward . 192.0.2.1', DEAD)
    health.noteFailure()
    await host.advance(374)
    assert.equal(host.asked.length, 1)
    assert.equal(health.isDown, false)
    await host.advance(251)
    assert.equal(host.asked.length, 2)
    assert.equal(health.isDown, true)
  })

  test('is not down because queries fail, as long as checks do not', async () => {
    const { host, health } = watch('forward . 192.0.2.1', () => ['SERVFAIL'])
    for (let i = 0; i < 5; i++) {
      health.noteFailure()
      await settle()
    }
    assert.equal(health.isDown, false)
    assert.equal(host.asked.length, 5)
  })

  test('checks one at a time, with the configured interval between', async () => {
    const line = directive('forward . 192.0.2.1', 'health_check 2s')
    const times: number[] = []
    const { host, health } = watch(line, () => {
      times.push(host.now() - START_MS)
      return 'silence'
    })
    for (let i = 0; i < 5; i++) health.noteFailure()
    await host.advance(20_000)
    const pauses = times.slice(1).map((time, i) => time - (times[i] ?? 0) - 1000)
    assert.ok(pauses.length >= 5)
    for (const pause of pauses) assert.ok(pause >= 1500 && pause < 2500, String(pause))
  })

  test('does not stay in step with the checks of other servers', async () => {
    const phases: number[] = []
    for (let seed = 1; seed <= 100; seed++) {
      const times: number[] = []
      const script = (): Error => {
        times.push(host.now() - START_MS)
        return new Error('connection refused')
      }
      const { host, health } = watch('forward . 192.0.2.1', script, seed * 7919)
      health.noteFailure()
      await host.advance(10_000)
      // The interval of the Corefile is the mean.
      assert.ok(times.length >= 18 && times.length <= 24, String(times.length))
      phases.push((times.at(-1) ?? 0) % 500)
    }
    for (let part = 0; part < 500; part += 100) {
      const count = phases.filter((phase) => phase >= part && phase < part + 100).length
      assert.ok(count > 5 && count < 40, `${count} of 100 in the part at ${part} ms`)
    }
  })

  test('is up again, and checks no more, when a check is answered', async () => {
    let isDead = true
    const { host, health } = watch('forward . 192.0.2.1', () =>
      isDead ? new Error('connection refused') : ['REFUSED'],
    )
    health.noteFailure()
    await host.advance(625)
    assert.equal(health.isDown, true)
    isDead = false
    await host.advance(625)
    assert.equal(health.isDown, false)
    await host.advance(60_000)
    assert.equal(host.asked.length, 3)
  })

  test('is up again when a query is answered', async () => {
    const { host, health } = watch('forward . 192.0.2.1', DEAD)
    health.noteFailure()
    await host.advance(625)
    assert.equal(health.isDown, true)
    health.noteAnswer()
    assert.equal(health.isDown, false)
  })

  test('is down after the configured number of failures', async () => {
    const { host, health } = watch(directive('forward . 192.0.2.1', 'max_fails 4'), DEAD)
    health.noteFailure()
    await host.advance(1124)
    assert.equal(health.isDown, false)
    await host.advance(751)
    assert.equal(health.isDown, true)
  })

  test('never checks and is never down with max_fails 0', async () => {
    const { host, health } = watch(directive('forward . 192.0.2.1', 'max_fails 0'), DEAD)
    health.noteFailure()
    await host.advance(60_000)
    assert.equal(health.isDown, false)
    assert.deepEqual(host.asked, [])
  })

  test('ends its checks when it is stopped', async () => {
    const { host, health } = watch('forward . 192.0.2.1', DEAD)
    health.noteFailure()
    await settle()
    health.stop()
    health.noteFailure()
    await host.advance(60_000)
    assert.equal(host.asked.length, 1)
    assert.equal(host.timerCount, 0)
  })

  test('begins no other check when it is stopped during one', async () => {
    const { host, health } = watch('forward . 192.0.2.1', () => 'silence')
    health.noteFailure()
    await settle()
    health.stop()
    await host.advance(60_000)
    assert.equal(host.asked.length, 1)
  })

  test('counts checks that failed', async () => {
    const { host, health } = watch('forward . 192.0.2.1', DEAD)
    health.noteFailure()
    await host.advance(1000)
    const { length } = host.asked
    assert.ok(length > 1)
    const wanted = `coredns_proxy_healthcheck_failures_total{proxy_name="forward",to="192.0.2.1:53"} ${length}\n`
    assert.ok(host.metrics.format().includes(wanted))
  })
})
