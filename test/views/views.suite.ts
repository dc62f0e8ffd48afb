/**
 * What a token may not see is, byte for byte, as if it were not there: 52,000 requests to gateways
 * with hidden namespaces and to gateways whose clusters never had them. Clusters, tokens and
 * requests are drawn from seeds, which it prints with its figures.
 */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import { compareWorlds, formatTally } from './compare.ts'

const SEEDS = [2026, 2027, 2028, 2029]
const SIZE = { worlds: 65, requests: 200 }

for (const seed of SEEDS) {
  test(`seed ${seed}: hidden and absent namespaces give the same responses`, async () => {
    const startMs = performance.now()
    const tally = await compareWorlds(seed, SIZE)
    const seconds = ((performance.now() - startMs) / 1000).toFixed(0)
    console.log(`seed ${seed}: ${formatTally(tally)}; ${seconds} s`)
    assert.deepEqual(tally.differences, [])
    assert.equal(tally.requests, SIZE.worlds * SIZE.requests)
  })
}
