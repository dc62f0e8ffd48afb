/**
 * Rights by which a client sees some namespaces of a cluster, among those of others.
 * @module
 */
import type { Right } from '../../src/snapshot/format/rights-table.ts'
import { NAMESPACES } from './objects.ts'
import { pickFrom, type Random, someFrom } from './random.ts'

/** The claims of the client. */
export const CLAIMS: { readonly sub: string; readonly groups: readonly string[] } = {
  sub: 'ann',
  groups: ['dev', 'ops'],
}
/** How the API servers name its user and groups. */
export const KUBERNETES = {
  username: { claim: 'sub', prefix: 'oidc:' },
  groups: { claim: 'groups', prefix: 'oidc:' },
} as const

const OWN = ['user oidc:ann', 'group oidc:dev', 'group oidc:ops', 'group system:authenticated']
const OTHERS = ['user oidc:bob', 'group oidc:ann', 'user oidc:dev', 'group system:unauthenticated']

/** What the client sees in a cluster, and the rights by which it does. */
export type DrawnRights = {
  readonly sees: (namespace: string) => boolean
  readonly rights: readonly Right[]
}

/** Draws the rights in a cluster; those of others show all that there is. */
export function drawRights(random: Random): DrawnRights {
  const isAll = random() < 0.05
  const own = OWN.filter(() => random() < 0.5).map((name) => ({
    ...principal(name),
    namespaces: isAll ? ('all' as const) : someFrom(random, NAMESPACES, 2),
  }))
  const others = OTHERS.map((name) => ({
    ...principal(name),
    namespaces: pickFrom(random, ['all' as const, NAMESPACES]),
  }))
  const seen = new Set(own.flatMap(({ namespaces }) => namespaces))
  return {
    sees: (namespace) => seen.has('all') || seen.has(namespace),
    rights: [...own, ...others],
  }
}

function principal(text: string): Pick<Right, 'kind' | 'name'> {
  const [kind, name = ''] = text.split(' ')
  return { kind: kind === 'user' ? 'user' : 'group', name }
}
