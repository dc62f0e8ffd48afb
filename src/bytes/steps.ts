/**
 * Work in steps, so that a thread that answers queries can leave time for them in between.
 * @module
 */

/** A task that yields where it may pause. Its input must not change until it has returned. */
export type Steps<Result> = Generator<void, Result>

/** The clock and the event loop, as far as work in slices needs them. */
export type Turns = {
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number
  /** Resolves in a later turn of the event loop: sockets are read in between. */
  readonly nextTurn: () => Promise<unknown>
}

/** Time that a task takes of each turn of the event loop; its last step may exceed it. */
const SLICE_MS = 4

/** Takes all steps of a task at once. Returns its result. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/**
 * Takes the steps of a task, 4 ms of them in each turn of the event loop. Returns its result.
 * @param isUrgent returns whether the task may no longer pause; asked after each step
 * @throws what the task throws, and what `nextTurn` does
 */
export async function inSlices<Result>(
  steps: Steps<Result>,
  turns: Turns,
  isUrgent: () => boolean = () => false,
): Promise<Result> {
  const pause = createPause(turns)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    const paused = isUrgent() ? undefined : pause()
    if (paused !== undefined) await paused
  }
}

/**
 * Returns a function for loops of a task that waits for other things as well: it returns a promise
 * of the next turn of the event loop once the task has taken 4 ms of this one, else `undefined`.
 */
export function createPause({ elapsed, nextTurn }: Turns): () => Promise<void> | undefined {
  let startMs = elapsed()
  const pause = async (): Promise<void> => {
    await nextTurn()
    startMs = elapsed()
  }
  return () => (elapsed() - startMs < SLICE_MS ? undefined : pause())
}

/** Items that a step of `mapInSteps` handles. */
const STEP_ITEMS = 100

/** Maps items in steps, each some of them. */
export function* mapInSteps<T, Result>(
  items: readonly T[],
  map: (item: T) => Result,
): Steps<Result[]> {
  const results: Result[] = []
  for (const item of items) {
    if (results.length % STEP_ITEMS === 0) yield
    results.push(map(item))
  }
  return results
}
