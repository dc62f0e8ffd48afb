/**
 * The reason for an upstream's failure, for people and for the expressions of `errors consolidate`.
 * Corefiles match messages of Go's `net`, such as `i/o timeout$`; the reason includes these.
 * @module
 */

/** Messages of our runtimes, and Go's messages for the same errors. */
const GO_WORDS: readonly (readonly [ours: RegExp, go: string])[] = [
  [/\bin time$|\bETIMEDOUT\b/, 'i/o timeout'],
  [/\bECONNREFUSED\b/, 'connection refused'],
  [/\bECONNRESET\b/, 'connection reset by peer'],
  [/\bEHOSTUNREACH\b/, 'no route to host'],
  [/\bENETUNREACH\b/, 'network is unreachable'],
]

/** Returns the reason for an upstream's failure. */
export function reasonOf(upstream: string, error: unknown): string {
  const message = error instanceof Error ? error.message : 'failed'
  const go = GO_WORDS.find(([ours]) => ours.test(message))?.[1]
  return [upstream, message, ...(go === undefined ? [] : [go])].join(': ')
}
