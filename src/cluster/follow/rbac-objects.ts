/**
 * The objects of RBAC in a cluster, as far as rights on Services follow from them.
 * @module
 */
import { recordOf } from '../../dns/bytes/unknown.ts'
import { identify } from '../api/mirrored-objects.ts'
import type { Intake } from '../api/object-intake.ts'
import {
  allowsServices,
  parseBinding,
  type RbacKind,
  type RoleBinding,
} from '../objects/parse-rbac.ts'

/** A role that allows it, or a binding. */
type Held = {
  readonly namespace: string
  readonly size: number
  readonly binding?: RoleBinding | undefined
}

/** Bounds of what is kept, in characters and {@link ITEM_SIZE} for each role, binding, subject. */
export type RbacBounds = {
  readonly namespaceMax: number
  readonly wholeMax: number
}

const ITEM_SIZE = 64
/** Some 10,000 and 200,000 subjects. */
const BOUNDS: RbacBounds = { namespaceMax: 1024 * 1024, wholeMax: 20 * 1024 * 1024 }

/** The objects. */
export class RbacObjects {
  /** Whether anything changed since this was last set to `false`. */
  isChanged = true
  private readonly held: Readonly<Record<RbacKind, Map<string, Held>>> = {
    Role: new Map(),
    ClusterRole: new Map(),
    RoleBinding: new Map(),
    ClusterRoleBinding: new Map(),
  }
  private readonly sizes = new Map<string, number>()
  private size = 0
  private readonly bounds: RbacBounds
  private readonly onWarning: (message: string) => void
  /** Namespaces whose objects are left out, as far as a warning named them. */
  private readonly warned = new Set<string>()

  /** @param onWarning called when objects of a namespace are left out, once for each */
  constructor(onWarning: (message: string) => void, bounds: RbacBounds = BOUNDS) {
    this.onWarning = onWarning
    this.bounds = bounds
  }

  /** Returns the number of objects of a kind that are kept: bindings, and roles that allow it. */
  count(kind: RbacKind): number {
    return this.held[kind].size
  }

  /**
   * Lists the bindings to roles that allow it, all as they are now: bindings of before with roles
   * of today could allow what never was allowed. A missing role allows nothing.
   */
  effectiveBindings(): readonly RoleBinding[] {
    const { Role, ClusterRole, RoleBinding, ClusterRoleBinding } = this.held
    return [...ClusterRoleBinding.values(), ...RoleBinding.values()].flatMap(({ binding }) => {
      if (binding === undefined) return []
      const roles = binding.role.startsWith('/') ? ClusterRole : Role
      return roles.has(binding.role) ? [binding] : []
    })
  }

  /** Returns what takes the objects of one kind from lists and watches. */
  intake(kind: RbacKind): Intake {
    let listed: Set<string> | undefined
    return {
      startList: () => {
        listed = new Set()
      },
      endList: () => {
        for (const key of this.held[kind].keys()) if (!listed?.has(key)) this.remove(kind, key)
        listed = undefined
      },
      take: (item) => {
        const { key, namespace } = identify(item)
        listed?.add(key)
        this.replace(kind, key, read(kind, { item, key, namespace }))
        return undefined
      },
      drop: (item) => this.remove(kind, identify(item).key),
      settled: () => undefined,
      stop: () => undefined,
    }
  }

  private replace(kind: RbacKind, key: string, next: Held | undefined): void {
    const known = this.held[kind].get(key)
    if (isSame(known, next)) return
    // What does not fit must not leave its older version, which may allow more.
    this.remove(kind, key)
    if (next === undefined || !this.hasRoom(next)) return
    this.held[kind].set(key, next)
    this.add(next.namespace, next.size)
  }

  private remove(kind: RbacKind, key: string): void {
    const known = this.held[kind].get(key)
    if (known === undefined) return
    this.held[kind].delete(key)
    this.add(known.namespace, -known.size)
  }

  private add(namespace: string, size: number): void {
    this.isChanged = true
    this.size += size
    const own = (this.sizes.get(namespace) ?? 0) + size
    if (own === 0) this.sizes.delete(namespace)
    else this.sizes.set(namespace, own)
  }

  private hasRoom({ namespace, size }: Held): boolean {
    const { namespaceMax, wholeMax } = this.bounds
    const own = (this.sizes.get(namespace) ?? 0) + size
    // Those of the whole cluster are its administrators' own.
    const isFull = namespace !== '' && own > namespaceMax
    if (!isFull && this.size + size <= wholeMax) return true
    if (this.warned.size < WARNINGS_MAX && !this.warned.has(namespace)) {
      this.warned.add(namespace)
      const place = namespace === '' ? 'the cluster' : `namespace ${namespace}`
      this.onWarning(`roles and bindings of ${place} are more than are read: some count for nobody`)
    }
    return false
  }
}

const WARNINGS_MAX = 100

type Item = { readonly item: unknown; readonly key: string; readonly namespace: string }

function read(kind: RbacKind, { item, key, namespace }: Item): Held | undefined {
  const size = ITEM_SIZE + key.length
  if (kind === 'Role' || kind === 'ClusterRole') {
    return allowsServices(recordOf(item)) ? { namespace, size } : undefined
  }
  const binding = parseBinding(kind, item)
  if (binding === undefined) return undefined
  const sizes = binding.subjects.map((subject) => ITEM_SIZE + subject.length)
  return { namespace, size: sizes.reduce((sum, one) => sum + one, size), binding }
}

function isSame(known: Held | undefined, next: Held | undefined): boolean {
  if (known === undefined || next === undefined) return known === next
  const [a, b] = [known.binding, next.binding]
  if (a === undefined || b === undefined) return a === b
  const isAlike = a.role === b.role && a.subjects.length === b.subjects.length
  return isAlike && a.subjects.every((subject, i) => subject === b.subjects[i])
}
