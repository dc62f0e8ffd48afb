import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { test } from 'vitest'
import { runWorker, type ToWorker } from '../../../src/server/serve/worker-messages.ts'
import { workerEntry } from '../../../src/server/serve/worker-thread.ts'

test('a worker answers until the message "stop", and then exits', async () => {
  const worker = new Worker(workerEntry('serve-worker'), { workerData: { format: undefined } })
  const send = (message: ToWorker): void => worker.postMessage(message)
  send({ kind: 'query', id: 7, what: 'not-ready' })
  assert.deepEqual(await once(worker, 'message'), [{ kind: 'reply', id: 7, lines: ['starting'] }])
  const exited = once(worker, 'exit')
  send({ kind: 'stop' })
  assert.deepEqual(await exited, [0])
})

test('nothing runs in the main thread', () => {
  runWorker(() => assert.fail('a worker in the main thread'))
})
