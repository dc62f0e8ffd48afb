import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askFaultyStores } from './faulty-stores.ts'

const RUNS = 500

test(`${RUNS} stores that misbehave never make an answer wrong`, async () => {
  const { newest, older, failures } = await askFaultyStores([...Array(RUNS).keys()])
  const total = newest + older + failures
  const text = `${newest} newest, ${older} older, ${failures} failures`
  assert.ok(newest > total / 4 && older > total / 20 && failures < total / 2, text)
})
