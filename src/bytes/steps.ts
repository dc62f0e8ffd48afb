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

/** When a task in slices ends early, and when it no longer pauses. */
type SliceOptions = {
  /** Ends the task at its next pause. */
  readonly signal?: AbortSignal
  /** Returns whether the task may no longer pause. */
  readonly isUrgent?: () => boolean
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
 * Takes the steps of a task, 4 ms of them in each turn of the event loop.
 * @returns its result; `undefined` if `signal` has ended it
 * @throws what the task throws
 */
export async function inSlices<Result>(
  steps: Steps<Result>,
  turns: Turns,
  { signal, isUrgent = () => false }: SliceOptions = {},
): Promise<Result | undefined> {
  const pause = createPause(turns)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    const paused = isUrgent() ? undefined : pause()
    if (paused === undefined) continue
    await paused
    if (signal?.aborted === true) return undefined
  }
}

/** Takes all steps of a task, with pauses of {@link createPause} or {@link createSharedPause}. */
export async function withPauses<Result>(
  steps: Steps<Result>,
  pause: () => Promise<void> | undefined,
): Promise<Result> {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    const paused = pause()
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

/** Turns, and whether a promise of one request may never settle for another, as on Workers. */
export type SharedTurns = Turns & { readonly isolatesRequests: boolean }

/** The tasks that wait for their turn, by the loop that they share. */
const QUEUES = new WeakMap<Turns['nextTurn'], (() => void)[]>()

/**
 * As {@link createPause}, for tasks that clients start, of which there may be many: one of all that
 * share an event loop runs in each of its turns, one after the other. The first call waits as well.
 * Where requests are isolated, each task pauses by itself.
 */
export function createSharedPause(turns: SharedTurns): () => Promise<void> | undefined {
  if (turns.isolatesRequests) return createPause(turns)
  const { elapsed } = turns
  let startMs = Number.NEGATIVE_INFINITY
  const pause = async (): Promise<void> => {
    await turnOf(turns)
    startMs = elapsed()
  }
  return () => (elapsed() - startMs < SLICE_MS ? undefined : pause())
}

function turnOf({ nextTurn }: Turns): Promise<void> {
  const known = QUEUES.get(nextTurn)
  const queue = known ?? []
  const turn = new Promise<void>((resolve) => void queue.push(resolve))
  if (known === undefined) {
    QUEUES.set(nextTurn, queue)
    void letRun(queue, nextTurn)
  }
  return turn
}

async function letRun(queue: (() => void)[], nextTurn: Turns['nextTurn']): Promise<void> {
  while (queue.length > 0) {
    await nextTurn()
    queue.shift()?.()
  }
  QUEUES.delete(nextTurn)
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
