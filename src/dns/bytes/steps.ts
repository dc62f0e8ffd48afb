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
export function inSlices<Result>(
  steps: Steps<Result>,
  turns: Turns,
  isUrgent: () => boolean = () => false,
): Promise<Result> {
  const pause = createPause(turns)
  return withPauses(steps, () => (isUrgent() ? undefined : pause()))
}

/** Takes all steps of a task, with pauses that other work has, too. */
export async function withPauses<Result>(steps: Steps<Result>, pause: Pause): Promise<Result> {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    const paused = pause()
    if (paused !== undefined) await paused
  }
}

/** Returns a promise if a task has to wait before it goes on, else `undefined`. */
export type Pause = () => Promise<void> | undefined

/**
 * Returns the pauses of a task that waits for other things as well: it goes on for 4 ms of a turn
 * of the event loop, then waits for a later one.
 */
export function createPause(turns: Turns): Pause {
  return pauseAfter(turns.elapsed(), turns)
}

/** As {@link createPause}, for one of many tasks: it waits for its turn at first, too. */
export function createSharedPause(turns: Turns): Pause {
  return pauseAfter(Number.NEGATIVE_INFINITY, turns)
}

function pauseAfter(taskStartMs: number, { elapsed, nextTurn }: Turns): Pause {
  let startMs = taskStartMs
  const pause = async (): Promise<void> => {
    await nextTurn()
    startMs = elapsed()
  }
  return () => (elapsed() - startMs < SLICE_MS ? undefined : pause())
}

/** Items that are sorted, or merged, in one step. */
const SORTED_AT_ONCE = 1024

/** Sorts items into a new list, stably: runs of them first, then pairs of runs. */
export function* sortSteps<Item>(
  items: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Steps<Item[]> {
  let runs: Item[][] = []
  for (let start = 0; start < items.length; start += SORTED_AT_ONCE) {
    runs.push(items.slice(start, start + SORTED_AT_ONCE).sort(compare))
    yield
  }
  while (runs.length > 1) {
    const merged: Item[][] = []
    for (let i = 0; i < runs.length; i += 2) {
      merged.push(yield* mergeSteps(runs[i] ?? [], runs[i + 1] ?? [], compare))
    }
    runs = merged
  }
  return runs[0] ?? []
}

function* mergeSteps<Item>(
  a: readonly Item[],
  b: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Steps<Item[]> {
  const merged: Item[] = []
  let inA = 0
  let inB = 0
  while (inA < a.length || inB < b.length) {
    const [left, right] = [a[inA], b[inB]]
    const isLeft = right === undefined || (left !== undefined && compare(left, right) <= 0)
    const next = isLeft ? left : right
    if (next !== undefined) merged.push(next)
    if (isLeft) inA++
    else inB++
    if (merged.length % SORTED_AT_ONCE === 0) yield
  }
  return merged
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
