/**
 * Which ClientTokens of a cluster count, before their Secrets are read. An object gives the names
 * of its own namespace; only those in one namespace, the home, may give others.
 * @module
 */
import type { ClientToken, ClientTokenSpec } from '../cluster/objects/parse-client-token.ts'
import { CLIENT_TOKENS_MAX, type TokenRefusal } from '../snapshot/format/client-tokens.ts'

/**
 * Most objects of a namespace, so that none takes the room of all others; the home may have
 * all.
 */
const NAMESPACE_TOKENS_MAX = 100

/** What a token may see and do. */
export type GivenScope = {
  readonly namespaces: readonly string[]
  readonly origins: readonly string[]
  readonly recurse: boolean
  readonly explain: boolean
}

/** An object that counts, or why it does not. */
export type TokenVerdict = { readonly object: ClientToken } & (
  | { readonly spec: ClientTokenSpec; readonly scope: GivenScope }
  | { readonly refusal: TokenRefusal }
)

/** Judges all objects, the oldest first: these keep their room. */
export function judgeTokens(
  objects: Iterable<ClientToken>,
  { home, nowMs }: { readonly home: string; readonly nowMs: number },
): readonly TokenVerdict[] {
  const counts = new Map<string, number>()
  let total = 0
  return [...objects].sort(byAge).map((object): TokenVerdict => {
    const { namespace, spec } = object
    if ('problem' in spec) return refuse(object, 'InvalidValue', spec.problem)
    const scope = scopeOf(object, spec)
    const beyond =
      namespace === home ? undefined : (beyondOwn(namespace, scope) ?? foreignSubject(object, spec))
    if (beyond !== undefined) return { object, refusal: beyond }
    if (spec.expiresMs !== undefined && spec.expiresMs <= nowMs) {
      return refuse(object, 'Expired', 'its time is over')
    }
    const count = counts.get(namespace) ?? 0
    if (total >= CLIENT_TOKENS_MAX || (namespace !== home && count >= NAMESPACE_TOKENS_MAX)) {
      const bounds = `a namespace may have ${NAMESPACE_TOKENS_MAX}, a cluster ${CLIENT_TOKENS_MAX}`
      return refuse(object, 'TooMany', `too many older ClientTokens: ${bounds}`)
    }
    counts.set(namespace, count + 1)
    total++
    return { object, spec, scope }
  })
}

function scopeOf({ namespace }: ClientToken, spec: ClientTokenSpec): GivenScope {
  const { namespaces = [namespace], origins, recurse, explain } = spec
  return { namespaces, origins, recurse, explain }
}

/** Returns what an object outside of the home may not give. */
function beyondOwn(
  namespace: string,
  { namespaces, recurse, explain }: GivenScope,
): TokenRefusal | undefined {
  // Patterns are compared as texts: one that may fit another namespace is another text.
  if (namespaces.some((pattern) => pattern !== namespace)) {
    const message = `an object in "${namespace}" may give the names of "${namespace}" only`
    return { reason: 'OutsideAllowedNamespaces', message }
  }
  const field = recurse ? 'recurse' : explain ? 'explain' : undefined
  if (field === undefined) return undefined
  const message = `an object in "${namespace}" may not give "${field}"`
  return { reason: 'NotAllowed', message }
}

/** Returns why an object outside of the home may not name its subject. */
function foreignSubject(
  { namespace }: ClientToken,
  spec: ClientTokenSpec,
): TokenRefusal | undefined {
  const prefix = `system:serviceaccount:${namespace}:`
  if (!('subject' in spec) || spec.subject.name.startsWith(prefix)) return undefined
  const message = `an object in "${namespace}" may name "${prefix}NAME" only`
  return { reason: 'NotAllowed', message }
}

function refuse(object: ClientToken, reason: string, message: string): TokenVerdict {
  return { object, refusal: { reason, message } }
}

function byAge(a: ClientToken, b: ClientToken): number {
  if (a.createdMs !== b.createdMs) return a.createdMs - b.createdMs
  const [one, other] = [`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`]
  return one < other ? -1 : 1
}
