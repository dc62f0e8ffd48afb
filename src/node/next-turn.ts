/**
 * Turns of the event loop for work in slices.
 * @module
 */

/** Tasks that wait for their turn, the first one first. */
const waiting: (() => void)[] = []

/**
 * Resolves in a later turn of the event loop, for one task in each turn: a hundred of them make no
 * turn longer than one does.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(resumeOne)
  })
}

function resumeOne(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(resumeOne)
}
