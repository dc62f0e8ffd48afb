/**
 * The warning about `pods insecure` for clients outside of the cluster.
 * @module
 */
import type { DirectiveSurroundings } from '../../chain/plugin-entry.ts'
import { type Problem, problemAt } from '../../corefile/problem.ts'
import type { Directive } from '../../corefile/server-block.ts'

/** Warns because clients over TLS and HTTPS are outside and could name any address. */
export function adviseOnPods(
  { lines }: Directive,
  { block: { keys } }: DirectiveSurroundings,
): Problem[] {
  const key = keys.find(({ transport }) => transport !== 'dns')
  if (key === undefined) return []
  return lines.flatMap(({ words: [option, mode] }) => {
    if (option?.text !== 'pods' || mode?.text !== 'insecure') return []
    const message =
      `"pods insecure" lets any client of "${key.transport}://" ` +
      'get a name for any address; "pods verified" has names of existing pods only'
    return [problemAt(mode, message)]
  })
}
