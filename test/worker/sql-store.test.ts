import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, test } from 'vitest'
import { SqlStore } from '../../worker/sql-store.ts'
import { checkFaults, playOn, RUNS } from '../gateway/fault-runs.ts'
import { STORE_PROMISES } from '../gateway/store-contract.ts'
import { sqlMedium } from './sql-medium.ts'

describe('the store in the database of a Durable Object', () => {
  for (const { name, hold } of STORE_PROMISES) {
    test(name, async () => {
      const object = env.CLUSTER.getByName(name)
      await runInDurableObject(object, (_, { storage }) => hold(new SqlStore(storage)))
    })
  }

  test('that fails never makes an answer wrong, and mostly leaves one', async (t) => {
    const object = env.CLUSTER.getByName('faults')
    await checkFaults(t, {
      name: 'Durable Object',
      runs: RUNS.object,
      play: (from, count) =>
        runInDurableObject(object, (_, { storage }) =>
          playOn(() => sqlMedium(storage))(from, count),
        ),
    })
  })
})
