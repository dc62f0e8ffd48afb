import assert from 'node:assert/strict'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type LocalGateway, startGateway } from '../../demo/gateway.ts'
import { checkFaults, RUNS } from '../gateway/fault-runs.ts'
import { STORE_PROMISES } from '../gateway/store-contract.ts'

describe('the store in the database of a Durable Object', () => {
  let worker: LocalGateway | undefined
  beforeAll(async () => {
    const entry = join(import.meta.dirname, 'store-worker.ts')
    worker = await startGateway({ variables: {}, port: 0, entry })
  })
  afterAll(() => worker?.stop())
  for (const [index, { name }] of STORE_PROMISES.entries()) {
    test(name, async () => {
      const response = await fetch(`${worker?.url}/${index}`)
      assert.equal(await response.text(), '')
      assert.equal(response.status, 200)
    })
  }
  test('that fails never makes an answer wrong, and mostly leaves one', async (t) => {
    await checkFaults(t, {
      name: 'Durable Object',
      runs: RUNS.object,
      play: (from, count) => fetch(`${worker?.url}/faults/${from}-${count}`),
    })
  })
})
