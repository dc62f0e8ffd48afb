import { test } from 'vitest'
import { checkFaults, playOn, RUNS } from '../../gateway/fault-runs.ts'
import { fileMedium } from './file-medium.ts'

test('a gateway on files that fail never answers wrongly, and mostly answers', async (t) => {
  await checkFaults(t, { name: 'files', runs: RUNS.files, play: playOn(fileMedium) })
})
