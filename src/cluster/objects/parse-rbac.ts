/**
 * Objects of RBAC (rbac.authorization.k8s.io/v1), cut down to who may `get` Services: whether a
 * role allows it, and whom a binding gives which role.
 * @module
 */
import { listOf, recordOf, textOf } from '../../dns/bytes/unknown.ts'

/** The kinds of RBAC. */
export type RbacKind = 'Role' | 'ClusterRole' | 'RoleBinding' | 'ClusterRoleBinding'

/** A RoleBinding, or a ClusterRoleBinding. */
export type RoleBinding = {
  /** '' for a ClusterRoleBinding, which counts in all namespaces. */
  readonly namespace: string
  /** Key of its role: `NAMESPACE/NAME`, of a ClusterRole `/NAME`. */
  readonly role: string
  /** Users as `u:NAME`, groups as `g:NAME`. */
  readonly subjects: readonly string[]
}

/** Before the namespace and the name of a ServiceAccount, which is a user by this name. */
const SERVICE_ACCOUNT = 'system:serviceaccount'
/** The group of clients without an identity, which no client of a gateway with a token is. */
const ANONYMOUS_GROUP = 'g:system:unauthenticated'
/** Longest name of a namespace (RFC 1123 label). */
const NAMESPACE_MAX = 63

/**
 * Returns whether a Role or ClusterRole allows `get` on Services without a name, as kube-apiserver
 * decides it (`RuleAllows`, plugin/pkg/auth/authorizer/rbac/rbac.go). What is no list of texts
 * allows nothing.
 */
export function allowsServices(role: unknown): boolean {
  return listOf(recordOf(role).rules).some((rule) => {
    const { verbs, apiGroups, resources, resourceNames } = recordOf(rule)
    const names = listOf(resourceNames)
    return (
      hasOrAll(verbs, 'get') &&
      hasOrAll(apiGroups, '') &&
      hasOrAll(resources, 'services') &&
      // The name of a request without one is ''.
      (names.length === 0 || names.includes(''))
    )
  })
}

function hasOrAll(list: unknown, value: string): boolean {
  const values = listOf(list)
  return values.includes('*') || values.includes(value)
}

/**
 * Reads a binding; subjects of other kinds are left out.
 * @returns `undefined` if it gives nobody anything
 */
export function parseBinding(kind: RbacKind, object: unknown): RoleBinding | undefined {
  const { metadata, roleRef, subjects } = recordOf(object)
  const namespace = kind === 'RoleBinding' ? textOf(recordOf(metadata).namespace) : ''
  if (kind === 'RoleBinding' && namespace === '') return undefined
  if (namespace.length > NAMESPACE_MAX) return undefined
  const ref = recordOf(roleRef)
  // A ClusterRoleBinding finds no Role: it has no namespace to look in.
  const isFound = ref.kind === 'ClusterRole' || (ref.kind === 'Role' && namespace !== '')
  const keys = listOf(subjects).map((subject) => subjectKey(subject, namespace))
  const known = keys.filter((key) => key !== undefined)
  if (!isFound || known.length === 0) return undefined
  const roleNamespace = ref.kind === 'Role' ? namespace : ''
  return { namespace, role: `${roleNamespace}/${textOf(ref.name)}`, subjects: known }
}

/** @see appliesToUser, pkg/registry/rbac/validation/rule.go */
function subjectKey(subject: unknown, bindingNamespace: string): string | undefined {
  const { kind, name, namespace } = recordOf(subject)
  if (typeof name !== 'string' || name === '') return undefined
  switch (kind) {
    case 'User':
      return `u:${name}`
    case 'Group':
      return `g:${name}` === ANONYMOUS_GROUP ? undefined : `g:${name}`
    case 'ServiceAccount': {
      const own = textOf(namespace) || bindingNamespace
      return own === '' ? undefined : `u:${SERVICE_ACCOUNT}:${own}:${name}`
    }
    default:
      return undefined
  }
}
