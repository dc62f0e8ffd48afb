import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, type TestContext, test, vi } from 'vitest'
import type { LogEvent } from '../../../src/dns/telemetry/log.ts'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import type { Feature } from '../../../src/resolver/contract/feature.ts'
import { type LoadedCorefile, loadCorefile } from '../../../src/server/node/load-corefile.ts'
import { CommandError } from '../../../src/server/node/output.ts'
import { CorefileReloads } from '../../../src/server/serve/corefile-reloads.ts'
import { shopFolder } from '../../cli/shop.ts'

const INTERVAL_MS = 30_000
const RELOAD: Feature = { kind: 'reload', intervalMs: INTERVAL_MS, jitterMs: 0 }
const FIRST = '. {\n  whoami\n}\n'
const SECOND = '. {\n  any\n}\n'

class Reloading {
  readonly metrics = new Metrics()
  readonly logged: LogEvent[] = []
  readonly printed: string[] = []
  readonly taken: string[] = []
  readonly path: string
  readonly reloads: CorefileReloads
  current: LoadedCorefile
  /** Thrown when the next Corefile is applied. */
  refusal: Error | undefined

  constructor(t: TestContext, features: readonly Feature[] = [RELOAD]) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    this.path = join(shopFolder(t, { Corefile: FIRST }), 'Corefile')
    this.current = loadCorefile(this.path)
    this.reloads = new CorefileReloads({
      path: this.path,
      current: () => ({ corefile: this.current, features }),
      apply: async (corefile) => {
        if (this.refusal !== undefined) throw this.refusal
        this.taken.push(corefile.text)
        this.current = corefile
      },
      metrics: this.metrics,
      log: (event) => this.logged.push(event),
      print: (line) => this.printed.push(line),
    })
    this.reloads.schedule()
  }

  async pass(ms: number): Promise<void> {
    vi.advanceTimersByTime(ms)
    // A Corefile is read in slices, each in a later turn.
    for (let turn = 0; turn < 5; turn++) await setImmediate()
  }
}

function runningLine(text: string): string {
  const hash = createHash('sha512').update(text).digest('hex')
  return `[INFO] plugin/reload: Running configuration SHA512 = ${hash}`
}

describe('CorefileReloads', () => {
  test('waits with an interval that is longer than a timer can be', async (t) => {
    const reloading = new Reloading(t, [{ ...RELOAD, intervalMs: 3_600_000_000 }])
    writeFileSync(reloading.path, SECOND)
    await reloading.pass(INTERVAL_MS)
    assert.deepEqual(reloading.taken, [])
  })

  test('applies a changed Corefile once, after the interval', async (t) => {
    const reloading = new Reloading(t)
    writeFileSync(reloading.path, SECOND)
    await reloading.pass(INTERVAL_MS - 1)
    assert.deepEqual(reloading.taken, [])
    await reloading.pass(1)
    assert.deepEqual(reloading.taken, [SECOND])
    await reloading.pass(INTERVAL_MS)
    assert.deepEqual(reloading.taken, [SECOND])
    const hash = createHash('sha512').update(SECOND).digest('hex')
    const text = reloading.metrics.format()
    assert.ok(text.includes(`coredns_reload_version_info{hash="sha512",value="${hash}"} 1`))
    assert.match(text, /^coredns_reload_failed_total 0$/m)
  })

  test("prints CoreDNS's lines of a reload", async (t) => {
    const reloading = new Reloading(t)
    await reloading.pass(0)
    assert.deepEqual(reloading.printed.splice(0), [runningLine(FIRST)])
    writeFileSync(reloading.path, SECOND)
    await reloading.pass(INTERVAL_MS)
    assert.deepEqual(reloading.printed.splice(0), [
      '[INFO] Reloading',
      runningLine(SECOND),
      '[INFO] Reloading complete',
    ])
    await reloading.pass(INTERVAL_MS)
    await reloading.reloads.reloadNow()
    assert.deepEqual(reloading.printed, [
      '[INFO] Reloading',
      runningLine(SECOND),
      '[INFO] Reloading complete',
    ])
  })

  test("prints CoreDNS's lines of a reload that fails", async (t) => {
    const reloading = new Reloading(t)
    await reloading.pass(0)
    reloading.printed.splice(0)
    reloading.refusal = new CommandError('no such\nplugin')
    writeFileSync(reloading.path, SECOND)
    await reloading.pass(INTERVAL_MS)
    assert.deepEqual(reloading.printed.splice(0), [
      '[INFO] Reloading',
      '[ERROR] Restart failed: no such; plugin',
      '[ERROR] plugin/reload: Corefile changed but reload failed: no such; plugin',
    ])
    writeFileSync(reloading.path, '. {\n')
    await reloading.pass(INTERVAL_MS)
    assert.equal(reloading.printed.length, 1)
    assert.match(reloading.printed[0] ?? '', /^\[WARNING\] plugin\/reload: Corefile parse failed: /)
  })

  test('prints nothing without a reload directive', async (t) => {
    const reloading = new Reloading(t, [])
    await reloading.pass(0)
    writeFileSync(reloading.path, SECOND)
    await reloading.reloads.reloadNow()
    assert.deepEqual([reloading.taken, reloading.printed], [[SECOND], []])
  })

  test('logs and counts a bad Corefile, and keeps checking', async (t) => {
    const reloading = new Reloading(t)
    writeFileSync(reloading.path, '. {\n  whoamy\n}\n')
    reloading.refusal = new Error('no such plugin')
    await reloading.pass(INTERVAL_MS)
    assert.equal(
      reloading.logged[0]?.message,
      'cannot reload the Corefile; the previous one stays in use',
    )
    assert.match(reloading.metrics.format(), /^coredns_reload_failed_total 1$/m)
    assert.equal(reloading.current.text, FIRST)
    reloading.refusal = undefined
    writeFileSync(reloading.path, SECOND)
    await reloading.pass(INTERVAL_MS)
    assert.deepEqual(reloading.taken, [SECOND])
  })

  test('keeps the Corefile in use while an editor has truncated the file', async (t) => {
    const reloading = new Reloading(t)
    writeFileSync(reloading.path, '')
    await reloading.pass(INTERVAL_MS)
    assert.deepEqual(reloading.taken, [])
    assert.match(JSON.stringify(reloading.logged), /no server block/)
  })

  test('reloadNow reloads an unchanged Corefile, even without a reload directive', async (t) => {
    const reloading = new Reloading(t, [])
    await reloading.reloads.reloadNow()
    assert.deepEqual(reloading.taken, [FIRST])
    assert.equal(reloading.logged[0]?.message, 'reloaded the unchanged Corefile')
    writeFileSync(reloading.path, SECOND)
    await Promise.all([reloading.reloads.reloadNow(), reloading.reloads.reloadNow()])
    assert.deepEqual(reloading.taken, [FIRST, SECOND])
    reloading.reloads.stop()
    await reloading.reloads.reloadNow()
    assert.equal(reloading.taken.length, 2)
  })

  test('does not check after stop', async (t) => {
    const reloading = new Reloading(t)
    writeFileSync(reloading.path, SECOND)
    reloading.reloads.stop()
    await reloading.pass(2 * INTERVAL_MS)
    reloading.reloads.schedule()
    await reloading.pass(2 * INTERVAL_MS)
    assert.deepEqual(reloading.taken, [])
  })

  test('never checks without a reload directive', async (t) => {
    const reloading = new Reloading(t, [{ kind: 'metrics', address: ':1' }])
    writeFileSync(reloading.path, SECOND)
    await reloading.pass(10 * INTERVAL_MS)
    assert.deepEqual(reloading.taken, [])
  })
})
