import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { describe, test } from 'vitest'
import { formatHex } from '../../../src/dns/bytes/bytes.ts'
import { cookieSecret } from '../../../src/server/keys/cookie-secret.ts'

const MODULE = join(import.meta.dirname, '../../../src/server/keys/cookie-secret.ts')

describe('cookieSecret', () => {
  test('is the same in all threads of a process', async () => {
    const secret = cookieSecret()
    assert.equal(secret.length, 16)
    assert.notEqual(formatHex(secret), '00'.repeat(16))
    assert.deepEqual(cookieSecret(), secret)
    const code = `
      const { parentPort } = require('node:worker_threads')
      import(${JSON.stringify(MODULE)}).then((it) => parentPort.postMessage(it.cookieSecret()))`
    const worker = new Worker(code, { eval: true })
    const [other] = await once(worker, 'message')
    await worker.terminate()
    assert.deepEqual(other, secret)
  })
})
