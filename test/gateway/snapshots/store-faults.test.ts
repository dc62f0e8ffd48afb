import { test } from 'vitest'
import { checkFaults, playOn, RUNS } from '../fault-runs.ts'
import { memoryMedium } from '../faulty-media.ts'

test('a gateway on memory that fails never answers wrongly, and mostly answers', async (t) => {
  await checkFaults(t, { name: 'memory', runs: RUNS.memory, play: playOn(memoryMedium) })
})
