/**
 * Turns of the event loop of a thread, for work in slices.
 * @module
 */
import type { Turns } from '../../dns/bytes/steps.ts'
import { elapsed } from './elapsed.ts'

/** Tasks that wait for their turn, the first one first. */
const waiting: (() => void)[] = []

/**
 * The turns of this thread. Each is for one task of those that wait: a hundred of them make no turn
 * longer than one does.
 */
export const NODE_TURNS: Turns = { elapsed, nextTurn }

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(resumeOne)
  })
}

function resumeOne(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(resumeOne)
}
