import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, type TestContext, test, vi } from 'vitest'
import { sleep } from '../../../src/cluster/api/backoff.ts'
import { Nginx } from '../../../src/operators/router/nginx.ts'
import { elapsed } from '../../../src/server/node/elapsed.ts'
import { FakeClock, settle } from '../../cluster/follow/fake-clock.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { within } from '../../server/clients.ts'
import { FAKE_NGINX } from './fake-nginx.ts'

const SIGNAL = new AbortController().signal

/** A configuration that is its own digest. */
function config(text: string): { readonly text: string; readonly digest: string } {
  return { text, digest: text }
}

/** Returns a factory of runs of nginx in one folder. */
function inFolder(t: TestContext): {
  readonly folder: string
  readonly errors: string[]
  readonly run: (some?: object) => Nginx
} {
  const folder = temporaryFolder(t, { nginx: FAKE_NGINX })
  chmodSync(`${folder}/nginx`, 0o755)
  const errors: string[] = []
  const run = (some: object = {}): Nginx => {
    const nginx = new Nginx({
      program: `${folder}/nginx`,
      folder,
      isAttached: false,
      onError: (message) => errors.push(message),
      onExit: () => errors.push('exit'),
      sleep,
      elapsed,
      ...some,
    })
    t.onTestFinished(() => nginx.stop())
    return nginx
  }
  return { folder, errors, run }
}

function fileOf(folder: string, name = 'nginx.conf'): string {
  return readFileSync(`${folder}/${name}`, 'utf8')
}

describe('nginx', () => {
  test('is started, and reloaded with what it accepts', async (t) => {
    const { folder, errors, run } = inFolder(t)
    const nginx = run()
    assert.equal(await nginx.take(config('one'), SIGNAL), undefined)
    const pid = fileOf(folder, 'nginx.pid')
    assert.equal(await nginx.take(config('two'), SIGNAL), undefined)
    assert.match(
      (await nginx.take(config('bad'), SIGNAL)) ?? '',
      /^nginx: \[emerg\] no "bad" in the configuration:1$/,
    )
    assert.deepEqual([fileOf(folder), fileOf(folder, 'nginx.pid')], ['two', pid])
    assert.equal(await nginx.take(config('three'), SIGNAL), undefined)
    assert.equal(existsSync(`${folder}/nginx.conf.kubedoh`), false)
    await nginx.stop()
    assert.deepEqual([existsSync(`${folder}/nginx.pid`), errors], [false, []])
  })

  test('is started with the configuration of the last run, if it still takes that', async (t) => {
    const { folder, run } = inFolder(t)
    const resume = async (text: string): Promise<Nginx> => {
      writeFileSync(`${folder}/nginx.conf`, text)
      const nginx = run()
      await nginx.resume(SIGNAL)
      return nginx
    }
    const isRunning = (): boolean => existsSync(`${folder}/nginx.pid`)
    const startMs = performance.now()
    const good = await resume('good')
    await vi.waitUntil(isRunning, { timeout: 10_000 })
    const tookMs = performance.now() - startMs
    await good.stop()
    await resume('bad')
    // It would run by now.
    await sleep(2 * tookMs, SIGNAL)
    assert.equal(isRunning(), false)
  })

  test('that runs elsewhere is reloaded, and never started or ended', async (t) => {
    const { folder, run } = inFolder(t)
    const attached = run({ isAttached: true })
    assert.match((await attached.take(config('one'), SIGNAL)) ?? '', /^no nginx runs with .*conf$/)
    const elsewhere = run()
    assert.equal(await elsewhere.take(config('one'), SIGNAL), undefined)
    assert.equal(await attached.take(config('two'), SIGNAL), undefined)
    await attached.stop()
    assert.equal(existsSync(`${folder}/nginx.pid`), true)
  })

  test('that runs elsewhere, with no program here, keeps a file that it has taken', async (t) => {
    const { folder, run } = inFolder(t)
    const attached = run({ isAttached: true, program: `${folder}/none` })
    assert.match((await attached.take(config('one'), SIGNAL)) ?? '', /^no nginx runs with /)
    const elsewhere = run()
    await elsewhere.resume(SIGNAL)
    await vi.waitUntil(() => elsewhere.digest(), { timeout: 10_000 })
    assert.equal(await attached.take(config('two'), SIGNAL), undefined)
    assert.equal(await attached.take(config('three'), SIGNAL), undefined)
    await elsewhere.stop()
    assert.match((await attached.take(config('four'), SIGNAL)) ?? '', /^no nginx runs with /)
    assert.equal(fileOf(folder), 'three')
    await elsewhere.resume(SIGNAL)
    await vi.waitUntil(() => elsewhere.digest(), { timeout: 10_000 })
    assert.equal(await attached.take(config('four'), SIGNAL), undefined)
    assert.equal(fileOf(folder), 'four')
  })

  test('that ends by itself is reported, and started by the next configuration', async (t) => {
    const { folder, errors, run } = inFolder(t)
    const ended = Promise.withResolvers<void>()
    const nginx = run({ onExit: ended.resolve })
    await nginx.take(config('one'), SIGNAL)
    process.kill(Number(fileOf(folder, 'nginx.pid')), 'SIGKILL')
    await within(ended.promise, 'the end of nginx')
    assert.deepEqual(errors, ['nginx has ended: SIGKILL'])
    assert.equal(await nginx.take(config('one'), SIGNAL), undefined)
  })

  test('is reloaded ten times at once, then every 10 seconds; started at once', async (t) => {
    const { folder, run } = inFolder(t)
    const clock = new FakeClock()
    const nginx = run({
      elapsed: clock.elapsed,
      // Polls are short; only the bound waits for the clock.
      sleep: (ms: number, signal: AbortSignal) =>
        ms < 1000 ? sleep(1, signal) : clock.sleep(ms, signal),
    })
    let readyCount = 0
    const ready = (): Promise<number> => nginx.ready(SIGNAL).then(() => ++readyCount)
    const take = async (text: string): Promise<void> => {
      await ready()
      assert.equal(await nginx.take(config(text), SIGNAL), undefined)
    }
    await take('start')
    for (let i = 1; i <= 10; i++) await take(`reload ${i}`)
    const pid = fileOf(folder, 'nginx.pid')
    for (const last of ['reload 11', 'reload 12']) {
      const before = readyCount
      const taking = take(last)
      await clock.advance(9999)
      assert.deepEqual([readyCount, clock.sleeping], [before, 1], last)
      await clock.advance(1)
      await taking
      assert.equal(fileOf(folder), last)
    }
    assert.equal(fileOf(folder, 'nginx.pid'), pid)
    const waiting = ready()
    await settle()
    assert.equal(clock.sleeping, 1)
    process.kill(Number(pid), 'SIGKILL')
    await within(waiting, 'the end of nginx')
    assert.equal(await nginx.take(config('restart'), SIGNAL), undefined)
  })

  test('that is too busy to answer is reloaded, not started again', async (t) => {
    const { folder, run } = inFolder(t)
    const nginx = run()
    await nginx.take(config('one'), SIGNAL)
    const pid = fileOf(folder, 'nginx.pid')
    writeFileSync(`${folder}/mute`, '')
    assert.equal(await nginx.take(config('two'), SIGNAL), undefined)
    assert.equal(fileOf(folder, 'nginx.pid'), pid)
  })

  test('that has not taken a configuration at the end finds it when it restarts', async (t) => {
    const { folder, run } = inFolder(t)
    const nginx = run()
    await nginx.take(config('one'), SIGNAL)
    await nginx.take(config('deaf'), AbortSignal.timeout(300))
    assert.equal(fileOf(folder), 'deaf')
  })

  test('of another run is not signalled by a number that another process has now', async (t) => {
    const { folder, run } = inFolder(t)
    const other = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)'])
    t.onTestFinished(() => void other.kill('SIGKILL'))
    const ended = once(other, 'exit')
    writeFileSync(`${folder}/nginx.pid`, `${other.pid}\n`)
    await run().stop()
    other.kill('SIGTERM')
    // A signal before would have been SIGQUIT.
    assert.deepEqual(await ended, [null, 'SIGTERM'])
  })

  test('that is missing, or a configuration that cannot be written, is an error', async (t) => {
    const { folder, run } = inFolder(t)
    const missing = run({ program: `${folder}/none` })
    assert.match((await missing.take(config('one'), SIGNAL)) ?? '', /none: ENOENT$/)
    mkdirSync(`${folder}/nginx.conf`)
    const problem = await run().take(config('one'), SIGNAL)
    assert.equal(problem, `cannot write ${folder}/nginx.conf: EISDIR`)
  })
})
