/**
 * What is decided about each DNSRecord and HostRoute, for its status and for warnings.
 * @module
 */
import { objectKey } from '../objects/cluster.ts'
import { describeObject, type HostObject, type HostRefusal } from '../objects/objects.ts'
import type { Naming } from '../rules/object-hosts.ts'

/** The decision on one DNSRecord or HostRoute. */
export type RecordVerdict = {
  readonly object: HostObject
  /** `undefined` if its name is published. */
  readonly refusal: HostRefusal | undefined
}

/** The decisions on the present DNSRecords and HostRoutes. */
export class RecordVerdicts {
  private readonly byKey = new Map<string, RecordVerdict>()

  /** Sets the decision on an object. Ignores other kinds. */
  set(object: Naming, refusal: HostRefusal | undefined): void {
    if (isDecided(object)) this.byKey.set(keyOf(object), { object, refusal })
  }

  /** Forgets an object. Ignores other kinds. */
  delete(object: Naming): void {
    this.byKey.delete(keyOf(object))
  }

  /**
   * Decides on the objects that claim one hostname.
   * @param claims all of them, the owner first
   * @param kept those whose records are published to all clients
   */
  decide(name: string, claims: readonly Naming[], kept: ReadonlySet<Naming>): void {
    const [owner] = claims
    if (owner === undefined) return
    for (const object of claims) {
      this.set(object, kept.has(object) ? undefined : refusalOf(object, name, owner))
    }
  }

  /** Returns all decisions. */
  all(): readonly RecordVerdict[] {
    return [...this.byKey.values()]
  }

  /** Returns a line for each refusal that depends on other objects and is not a conflict. */
  warnings(): string[] {
    return this.all().flatMap(({ object, refusal }) =>
      refusal !== undefined && WARNED.has(refusal.reason)
        ? [`${describeObject(object)}: ${refusal.message}`]
        : [],
    )
  }
}

/** Conflicts have warnings of their own, as have refusals that depend on the object alone. */
const WARNED: ReadonlySet<HostRefusal['reason']> = new Set([
  'CNAMEBesideOtherData',
  'RouterHasNoAddress',
])

function isDecided(object: Naming): object is HostObject {
  return 'record' in object && object.record !== undefined
}

function keyOf(object: Naming): string {
  return `${object.kind} ${objectKey(object)}`
}

function refusalOf(object: Naming, name: string, owner: Naming): HostRefusal {
  const isMixed = object.kind === owner.kind && object.namespace === owner.namespace
  if (isMixed) {
    const message = `${name} has a CNAME or other records in the older ${describeObject(owner)}`
    return { reason: 'CNAMEBesideOtherData', message }
  }
  return { reason: 'Conflict', message: `${name} belongs to ${describeObject(owner)}` }
}

/**
 * Returns the claims to one name that may stand beside each other (RFC 1034 §3.6.2): only the
 * oldest if it is a CNAME of a DNSRecord, otherwise all that are not such CNAMEs.
 * @param claims the oldest first
 */
export function withoutCnameMix<T extends { readonly object: Naming }>(
  claims: readonly T[],
): readonly T[] {
  const isCname = ({ object }: T): boolean =>
    object.kind === 'DNSRecord' && object.record?.isCname === true
  const [first] = claims
  if (first !== undefined && isCname(first)) return [first]
  return claims.filter((claim) => !isCname(claim))
}
