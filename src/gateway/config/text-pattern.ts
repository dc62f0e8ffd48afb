/**
 * Patterns of texts, in which `*` is any text: of claims, clusters, origins and namespaces.
 * @module
 */

/** Returns a function that matches text against patterns. */
export function matcherOf(patterns: readonly string[]): (text: string) => boolean {
  if (patterns.includes('*')) return () => true
  return (text) => patterns.some((pattern) => matches(pattern, text))
}

/**
 * Each `*` takes as little as possible, and only the last one is ever extended. So the time is
 * bounded by the pattern's length times the text's, unlike that of a regular expression.
 */
function matches(pattern: string, text: string): boolean {
  let star = -1
  let resumed = 0
  let at = 0
  for (let i = 0; i < text.length; ) {
    if (pattern[at] === '*') {
      star = at++
      resumed = i
    } else if (pattern[at] === text[i]) {
      at++
      i++
    } else if (star < 0) return false
    else {
      at = star + 1
      i = ++resumed
    }
  }
  while (pattern[at] === '*') at++
  return at === pattern.length
}
