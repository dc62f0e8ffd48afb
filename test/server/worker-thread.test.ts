import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import type { ServeOptions } from '../../src/server/server.ts'
import { WorkerThread } from '../../src/server/worker-thread.ts'
import { Screen } from '../cli/run-cli.ts'
import { serveOptions } from '../cli/shop.ts'
import { temporaryFolder } from '../exporter/temporary-folder.ts'

const COREFILE = { text: '', blocks: [], warnings: [], problems: [] }
const entry = join(import.meta.dirname, 'faulty-worker.ts')

type Started = {
  readonly thread: WorkerThread
  readonly options: ServeOptions
  readonly aborts: string[]
}

/** A thread that does as a word says. */
function start(t: TestContext, word: string): Started {
  const aborts: string[] = []
  const thread = new WorkerThread(new Screen(), { entry, onAbort: (text) => aborts.push(text) })
  t.onTestFinished(() => thread.stop())
  return { thread, aborts, options: { ...serveOptions(temporaryFolder(t)), files: word } }
}

describe('a thread', () => {
  test('serves, tells, and ends when it is told to', async (t) => {
    const { thread, options } = start(t, 'works')
    assert.deepEqual(await thread.serve(options, COREFILE), { kind: 'serving', ports: [53] })
    assert.deepEqual(await thread.notReady(), [])
    assert.equal(await thread.metrics(), '')
    await thread.stop()
    assert.equal(await thread.exited, 'status 0')
  })

  test('may refuse to serve', async (t) => {
    const { thread, options } = start(t, 'refuses')
    const served = await thread.serve(options, COREFILE)
    assert.deepEqual(served, { kind: 'failed', message: 'cannot' })
  })

  test('that ends before it serves has refused', async (t) => {
    const { thread, options } = start(t, 'dies')
    const served = await thread.serve(options, COREFILE)
    assert.deepEqual(served, { kind: 'failed', message: 'a worker exited: status 7' })
  })

  test('says why it ended', async (t) => {
    const { thread, options } = start(t, `dies-later ${join(temporaryFolder(t), 'mark')}`)
    await thread.serve(options, COREFILE)
    void thread.metrics()
    assert.equal(await thread.exited, 'dies later')
  })

  test('that tells nothing is not ready, and has the metrics that it told last', async (t) => {
    const { thread, options } = start(t, 'silent')
    await thread.serve(options, COREFILE)
    thread.lastMetrics = 'a 1\n'
    assert.deepEqual(await Promise.all([thread.notReady(), thread.metrics()]), [
      ['worker'],
      'a 1\n',
    ])
  })

  test('lets the process end where a plugin says so', async (t) => {
    const { thread, options, aborts } = start(t, 'aborts')
    await thread.serve(options, COREFILE)
    assert.deepEqual(aborts, ['a plugin says so'])
  })

  test('is ended when it does not end by itself', async (t) => {
    const { thread, options } = start(t, 'stays')
    await thread.serve(options, COREFILE)
    await thread.stop()
    assert.equal(await thread.exited, 'status 1')
  })
})
