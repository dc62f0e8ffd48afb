/**
 * Steps that wait for something else, some at a time.
 * @module
 */

/**
 * Runs a step for each item, `countMax` at a time; resolves with the results in order. Rejects with
 * the first failure once no step runs any more; items that then wait have no step.
 */
export async function mapConcurrently<T, Result>(
  items: readonly T[],
  countMax: number,
  step: (item: T) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  const waiting = items.entries()
  const failures: unknown[] = []
  const work = async (): Promise<void> => {
    for (const [index, item] of waiting) {
      if (failures.length > 0) return
      try {
        results[index] = await step(item)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(countMax, items.length) }, work))
  if (failures.length > 0) throw failures[0]
  return results
}
