import assert from 'node:assert/strict'
import { test } from 'vitest'
import { askFaultyClusters, askFaultyLabels, askFaultyStores, type Tally } from './faulty-stores.ts'

const RUNS = 500
/** Of what takes longer. */
const FEWER = 250

function seeds(count: number): number[] {
  return [...Array(count).keys()]
}

/** Checks that answers were not all of one kind, which would show little. */
function checkTally({ newest, older, failures, hidden }: Tally, hiddenMin: number): void {
  const total = newest + older + failures
  const text = `${newest} newest, ${older} older, ${failures} failures, ${hidden} hidden`
  assert.ok(newest > total / 4 && older > total / 20 && failures < total / 2, text)
  assert.ok(hidden >= hiddenMin, text)
}

test(`${RUNS} stores that misbehave never make an answer wrong`, async () => {
  checkTally(await askFaultyStores(seeds(RUNS)), 0)
})

test(`${FEWER} stores that misbehave never show what labels hide, nor hide what they show`, async () => {
  checkTally(await askFaultyLabels(seeds(FEWER)), FEWER / 4)
})

test(`${FEWER} pairs of stores that misbehave never make wrong what two clusters have`, async () => {
  checkTally(await askFaultyClusters(seeds(FEWER)), FEWER / 4)
})
