/**
 * Who may `get` Services in which namespaces, by RBAC: roles and bindings → the rights that the
 * exporter publishes.
 * @module
 */
import { mapInSteps, type Steps, sortSteps } from '../../dns/bytes/steps.ts'
import type { Right } from '../../snapshot/format/rights-table.ts'
import type { RoleBinding } from '../objects/parse-rbac.ts'

/** The group that the API server allows everything, whatever RBAC says. */
const MASTERS = 'g:system:masters'
/** Subjects of a step. */
const STEP_SUBJECTS = 1000

/**
 * Lists each user and group that may `get` Services somewhere, sorted by kind and name; group
 * `system:masters` is one.
 * @param bindings those to roles that allow it
 */
export function* serviceReaders(bindings: Iterable<RoleBinding>): Steps<Right[]> {
  const everywhere = new Set([MASTERS])
  const somewhere = new Map<string, string[]>()
  let steps = 0
  for (const { namespace, subjects } of bindings) {
    if (++steps % STEP_SUBJECTS === 0) yield
    for (const subject of subjects) {
      if (++steps % STEP_SUBJECTS === 0) yield
      if (namespace === '') everywhere.add(subject)
      else {
        const known = somewhere.get(subject)
        if (known === undefined) somewhere.set(subject, [namespace])
        else known.push(namespace)
      }
    }
  }
  for (const subject of everywhere) somewhere.delete(subject)
  const all = yield* sortSteps([...everywhere, ...somewhere.keys()], byText)
  const rights: Right[] = []
  for (const subject of all) {
    if (++steps % STEP_SUBJECTS === 0) yield
    const kind = subject.startsWith('u:') ? 'user' : 'group'
    const own = somewhere.get(subject)
    const namespaces = own && (yield* sortSteps([...new Set(own)], byText))
    rights.push({ kind, name: subject.slice('u:'.length), namespaces: namespaces ?? 'all' })
  }
  return rights
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1
}

/**
 * Returns some of the rights where not all fit. Namespaces take turns: one with
 * bindings of thousands of users takes no room from others.
 * @param rights in a lasting order, so that the same ones stay
 */
export function* firstRights(rights: readonly Right[], count: number): Steps<readonly Right[]> {
  if (rights.length <= count) return rights
  const counts = new Map<string, number>()
  const ranked = yield* mapInSteps(rights, (right) => {
    let rank = right.namespaces === 'all' ? 0 : Number.POSITIVE_INFINITY
    for (const namespace of right.namespaces === 'all' ? [] : right.namespaces) {
      const before = counts.get(namespace) ?? 0
      counts.set(namespace, before + 1)
      rank = Math.min(rank, before)
    }
    return { right, rank }
  })
  const sorted = yield* sortSteps(ranked, (a, b) => a.rank - b.rank)
  return sorted.slice(0, count).map(({ right }) => right)
}
