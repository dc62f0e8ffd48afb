/**
 * The warning about `pods insecure` for clients outside of the cluster.
 * @module
 */
import type { DirectiveSurroundings } from '../../chain/plugin-entry.ts'
import { type Problem, problemAt } from '../../corefile/problem.ts'
import type { Directive } from '../../corefile/server-block.ts'

/** Clients outside of the cluster use TLS and HTTPS, and could get a name for any address. */
export function adviseOnPods(
  { lines }: Directive,
  { block: { keys } }: DirectiveSurroundings,
): Problem[] {
  const key = keys.find(({ transport }) => transport !== 'dns')
  if (key === undefined) return []
  return lines.flatMap(({ words: [option, mode] }) => {
    if (option?.text !== 'pods' || mode?.text !== 'insecure') return []
    const message =
      `"pods insecure" makes a name for any address that a client of "${key.transport}://" ` +
      'thinks of; "pods verified" has those of pods only'
    return [problemAt(mode, message)]
  })
}
