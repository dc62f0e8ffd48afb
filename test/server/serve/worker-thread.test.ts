import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test, vi } from 'vitest'
import type { ServeOptions } from '../../../src/server/serve/serve-options.ts'
import { WorkerThread } from '../../../src/server/serve/worker-thread.ts'
import { Screen } from '../../cli/run-cli.ts'
import { serveOptions } from '../../cli/shop.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'

const COREFILE = { text: '', blocks: [], warnings: [], problems: [] }
const entry = join(import.meta.dirname, 'faulty-worker.ts')

type Started = {
  readonly thread: WorkerThread
  readonly options: ServeOptions
  readonly aborts: string[]
}

/** Starts a thread with the behavior of a keyword. */
function start(t: TestContext, word: string): Started {
  const aborts: string[] = []
  const thread = new WorkerThread(new Screen(), { entry, onAbort: (text) => aborts.push(text) })
  t.onTestFinished(() => thread.stop())
  return { thread, aborts, options: { ...serveOptions(temporaryFolder(t)), files: word } }
}

describe('a worker thread', () => {
  test('serves, answers queries, and stops', async (t) => {
    const { thread, options } = start(t, 'works')
    assert.deepEqual(await thread.serve(options, COREFILE), { kind: 'serving', ports: [53] })
    assert.deepEqual(await thread.notReady(), [])
    assert.equal(await thread.metrics(), '')
    await thread.stop()
    assert.equal(await thread.exited, 'status 0')
  })

  test('reports a Corefile that it cannot serve', async (t) => {
    const { thread, options } = start(t, 'refuses')
    const served = await thread.serve(options, COREFILE)
    assert.deepEqual(served, { kind: 'failed', message: 'cannot' })
  })

  test('fails to serve when it exits first', async (t) => {
    const { thread, options } = start(t, 'dies')
    const served = await thread.serve(options, COREFILE)
    assert.deepEqual(served, { kind: 'failed', message: 'a worker exited: status 7' })
  })

  test('reports why it exited', async (t) => {
    const { thread, options } = start(t, `dies-later ${join(temporaryFolder(t), 'mark')}`)
    await thread.serve(options, COREFILE)
    void thread.metrics()
    assert.equal(await thread.exited, 'dies later')
  })

  test('that hangs is silent after ten seconds, and ended after a minute', async (t) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const { thread, options } = start(t, 'hangs')
    await thread.serve(options, COREFILE)
    vi.advanceTimersByTime(10_000)
    assert.equal(thread.isSilent, false)
    vi.advanceTimersByTime(2000)
    assert.equal(thread.isSilent, true)
    vi.advanceTimersByTime(46_000)
    vi.advanceTimersByTime(2000)
    assert.equal(await thread.exited, 'it has not replied for 60 s')
    assert.equal(vi.getTimerCount(), 0)
  })

  test('that replies in time is not silent', async (t) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const { thread, options } = start(t, 'works')
    await thread.serve(options, COREFILE)
    for (let i = 0; i < 40; i++) {
      vi.advanceTimersByTime(2000)
      await thread.notReady()
    }
    assert.equal(thread.isSilent, false)
  })

  test('is not ready when it does not answer, and keeps its last metrics', async (t) => {
    const { thread, options } = start(t, 'silent')
    await thread.serve(options, COREFILE)
    thread.lastMetrics = 'a 1\n'
    assert.deepEqual(await Promise.all([thread.notReady(), thread.metrics()]), [
      ['worker'],
      'a 1\n',
    ])
  })

  test("passes on a plugin's request to end the process", async (t) => {
    const { thread, options, aborts } = start(t, 'aborts')
    await thread.serve(options, COREFILE)
    assert.deepEqual(aborts, ['a plugin says so'])
  })

  test('is terminated when it does not stop', async (t) => {
    const { thread, options } = start(t, 'stays')
    await thread.serve(options, COREFILE)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const stopped = thread.stop()
    vi.advanceTimersByTime(8000)
    await stopped
    assert.equal(await thread.exited, 'status 1')
  })
})
