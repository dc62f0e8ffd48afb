/**
 * Random roles and bindings for an API server, and the users that they may name.
 * @module
 */
import { recordOf } from '../../src/dns/bytes/unknown.ts'
import type { ApiObject } from './api-server.ts'

/** A client as the API server knows it. */
export type Principal = {
  readonly user: string
  readonly groups: readonly string[]
}

type Random = () => number
type Subject = {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly apiGroup?: string
}

const GROUP = 'rbac.authorization.k8s.io'
const NAMESPACES = 40
const ROLES_EACH = 3
const CLUSTER_ROLES = 30
const AGGREGATED = 8
const ROLE_BINDINGS = 900
const CLUSTER_ROLE_BINDINGS = 50
const USERS = 1000
const GROUPS = 500
const ACCOUNTS = 500
/** The label by which roles are aggregated. */
const LABEL = 'kubedoh.test/aggregate'
const BUILT_IN = ['view', 'edit', 'admin', 'cluster-admin', 'system:basic-user']
/** Groups that some bindings name, and some clients have. */
const SYSTEM_GROUPS = ['system:serviceaccounts:ns-3', 'system:masters', 'system:nodes']
/** No client with an identity has it. */
const ANONYMOUS_GROUP = 'system:unauthenticated'

/** Returns the names of the namespaces. */
export function namespaceNames(): string[] {
  return Array.from({ length: NAMESPACES }, (_, i) => `ns-${i}`)
}

/** Returns the label by which a role is aggregated. */
export function labelOf({ metadata }: ApiObject): unknown {
  return 'labels' in metadata ? recordOf(metadata.labels)[LABEL] : undefined
}

/** Makes objects; each has random numbers of its own. */
export class RandomRbac {
  private readonly random: Random

  /** @param random returns numbers from 0 to 1, exclusive */
  constructor(random: Random) {
    this.random = random
  }

  /** Returns one of some. */
  pick<T>(items: readonly [T, ...T[]] | readonly T[]): T {
    const found = items[Math.floor(this.random() * items.length)]
    if (found === undefined) throw new RangeError('there must be an item')
    return found
  }

  private some<T>(items: readonly T[], most: number): T[] {
    const count = 1 + Math.floor(this.random() * most)
    return [...new Set(Array.from({ length: count }, () => this.pick(items)))]
  }

  private chance(share: number): boolean {
    return this.random() < share
  }

  /** Returns roles of all namespaces, and those of the cluster. */
  roles(): ApiObject[] {
    const own = namespaceNames().flatMap((namespace) =>
      Array.from({ length: ROLES_EACH }, (_, i) => this.role(`role-${i}`, namespace)),
    )
    const shared = Array.from({ length: CLUSTER_ROLES }, (_, i) => this.role(`shared-${i}`))
    const aggregated = Array.from({ length: AGGREGATED }, (_, i) => this.aggregatedRole(i))
    return [...own, ...shared, ...aggregated]
  }

  /** Returns a Role, or a ClusterRole without a namespace. */
  role(name: string, namespace?: string): ApiObject {
    const isLabelled = namespace === undefined && this.chance(0.4)
    const labels = { [LABEL]: `a${Math.floor(this.random() * AGGREGATED)}` }
    return {
      apiVersion: `${GROUP}/v1`,
      kind: namespace === undefined ? 'ClusterRole' : 'Role',
      metadata: { name, ...(namespace && { namespace }), ...(isLabelled && { labels }) },
      rules: Array.from({ length: Math.floor(this.random() * 4) }, () => this.rule(namespace)),
    }
  }

  private aggregatedRole(index: number): ApiObject {
    return {
      apiVersion: `${GROUP}/v1`,
      kind: 'ClusterRole',
      metadata: { name: `aggregated-${index}` },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [LABEL]: `a${index}` } }] },
      rules: [],
    }
  }

  private rule(namespace: string | undefined): object {
    if (namespace === undefined && this.chance(0.1)) {
      return { nonResourceURLs: ['*'], verbs: ['*'] }
    }
    const names = this.chance(0.2) && { resourceNames: this.some(['web', 'db', ''], 2) }
    return {
      apiGroups: this.some(['', '', '*', 'apps', 'serving.knative.dev'], 2),
      resources: this.some(['services', 'services', '*', 'pods', 'services/status', '*/status'], 2),
      verbs: this.some(['get', 'get', '*', 'list', 'watch', 'create'], 2),
      ...names,
    }
  }

  /** Returns bindings: some of roles that are missing. */
  bindings(): ApiObject[] {
    return [
      ...Array.from({ length: ROLE_BINDINGS }, (_, i) =>
        this.binding(`binding-${i}`, this.pick(namespaceNames())),
      ),
      ...Array.from({ length: CLUSTER_ROLE_BINDINGS }, (_, i) => this.binding(`shared-${i}`)),
      ...['system:authenticated', 'system:serviceaccounts'].map((name, i) => ({
        ...this.binding('everybody', `ns-${i}`),
        roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: 'view' },
        subjects: [{ kind: 'Group', apiGroup: GROUP, name }],
      })),
    ]
  }

  /** Returns a RoleBinding, or a ClusterRoleBinding without a namespace. */
  binding(name: string, namespace?: string): ApiObject {
    const isOwn = namespace !== undefined && this.chance(0.4)
    const number = this.random()
    const shared = this.chance(0.2)
      ? `aggregated-${Math.floor(number * AGGREGATED)}`
      : this.chance(0.15)
        ? this.pick(BUILT_IN)
        : `shared-${Math.floor(number * (CLUSTER_ROLES + 5))}`
    const own = `role-${Math.floor(number * (ROLES_EACH + 1))}`
    return {
      apiVersion: `${GROUP}/v1`,
      kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
      metadata: { name, ...(namespace && { namespace }) },
      roleRef: {
        apiGroup: GROUP,
        kind: isOwn ? 'Role' : 'ClusterRole',
        name: isOwn ? own : shared,
      },
      subjects: Array.from({ length: Math.floor(this.random() * 6) }, () =>
        this.subject(namespace),
      ),
    }
  }

  private subject(namespace: string | undefined): Subject {
    const kind = this.random()
    if (kind < 0.5) return { kind: 'User', apiGroup: GROUP, name: userName(this.number(USERS)) }
    if (kind < 0.7) return { kind: 'Group', apiGroup: GROUP, name: groupName(this.number(GROUPS)) }
    if (kind < 0.73) return { kind: 'Group', apiGroup: GROUP, name: this.systemGroup() }
    const [own, name] = accountName(this.number(ACCOUNTS))
    const isLocal = namespace !== undefined && this.chance(0.3)
    return { kind: 'ServiceAccount', name, ...(!isLocal && { namespace: own }) }
  }

  private systemGroup(): string {
    return this.pick([...SYSTEM_GROUPS, ANONYMOUS_GROUP])
  }

  private number(count: number): number {
    return Math.floor(this.random() * count)
  }

  /** Returns clients, of which bindings name most: users, members of groups, ServiceAccounts. */
  principals(): Principal[] {
    const users = Array.from({ length: USERS }, (_, i) => {
      const count = this.number(4)
      const groups = Array.from({ length: count }, () => groupName(this.number(GROUPS)))
      return { user: userName(i), groups: ['system:authenticated', ...groups] }
    })
    const members = Array.from({ length: GROUPS }, (_, i) => {
      const also = i < SYSTEM_GROUPS.length ? [SYSTEM_GROUPS[i] ?? ''] : []
      return { user: `member-${i}`, groups: ['system:authenticated', groupName(i), ...also] }
    })
    const accounts = Array.from({ length: ACCOUNTS }, (_, i) => {
      const [namespace, name] = accountName(i)
      const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
      const user = `system:serviceaccount:${namespace}:${name}`
      return { user, groups: [...groups, 'system:authenticated'] }
    })
    return [...users, ...members, ...accounts]
  }
}

/** Names have what identity providers have: prefixes, addresses, spaces, letters of all scripts. */
function userName(i: number): string {
  const forms = [`oidc:user-${i}@example.org`, `user ${i}`, `ユーザー${i}`, `https://sso#${i}`]
  return forms[i % forms.length] ?? ''
}

function groupName(i: number): string {
  return i % 3 === 0 ? userName(i) : `oidc:/teams/${i}`
}

function accountName(i: number): readonly [namespace: string, name: string] {
  return [`ns-${i % NAMESPACES}`, `account-${i % 100}`]
}
