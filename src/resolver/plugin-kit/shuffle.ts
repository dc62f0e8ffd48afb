/**
 * Shuffles lists.
 * @module
 */

/** Puts items in random order, in place (Fisher and Yates), and returns them. */
export function permute<T>(items: T[], random16: () => number): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = random16() % (i + 1)
    const [a, b] = [items[i], items[j]]
    if (a !== undefined && b !== undefined) {
      items[i] = b
      items[j] = a
    }
  }
  return items
}
