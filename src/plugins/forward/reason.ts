/**
 * Why an upstream did not answer, for people and for the expressions of `errors consolidate`: those
 * in Corefiles look for what Go's `net` says, such as `i/o timeout$`, so that is said as well.
 * @module
 */

/** What our runtimes say, and what Go says of the same. */
const GO_WORDS: readonly (readonly [ours: RegExp, go: string])[] = [
  [/\bin time$|\bETIMEDOUT\b/, 'i/o timeout'],
  [/\bECONNREFUSED\b/, 'connection refused'],
  [/\bECONNRESET\b/, 'connection reset by peer'],
  [/\bEHOSTUNREACH\b/, 'no route to host'],
  [/\bENETUNREACH\b/, 'network is unreachable'],
]

/** Says why an upstream did not answer. */
export function reasonOf(upstream: string, error: unknown): string {
  const message = error instanceof Error ? error.message : 'failed'
  const go = GO_WORDS.find(([ours]) => ours.test(message))?.[1]
  return [upstream, message, ...(go === undefined ? [] : [go])].join(': ')
}
