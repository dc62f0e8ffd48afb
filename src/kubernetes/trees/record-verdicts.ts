/**
 * What is decided about each DNSRecord, for its status and for warnings.
 * @module
 */
import { objectKey } from '../objects/cluster.ts'
import { describeObject, type HostObject, type Refusal } from '../objects/objects.ts'
import type { Naming } from '../rules/object-hosts.ts'

/** The decision on one DNSRecord. */
export type RecordVerdict = {
  readonly object: HostObject
  /** `undefined` if its records are published. */
  readonly refusal: Refusal | undefined
}

/** The decisions on the present DNSRecords. */
export class RecordVerdicts {
  private readonly byKey = new Map<string, RecordVerdict>()

  /** Sets the decision on an object. Ignores other kinds. */
  set(object: Naming, refusal: Refusal | undefined): void {
    if (object.kind === 'DNSRecord') this.byKey.set(objectKey(object), { object, refusal })
  }

  /** Forgets an object. Ignores other kinds. */
  delete(object: Naming): void {
    if (object.kind === 'DNSRecord') this.byKey.delete(objectKey(object))
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

  /** Returns a line for each record that is refused because of a CNAME. */
  warnings(): string[] {
    return this.all().flatMap(({ object, refusal }) =>
      refusal?.reason === 'CNAMEBesideOtherData'
        ? [`${describeObject(object)}: ${refusal.message}`]
        : [],
    )
  }
}

function refusalOf(object: Naming, name: string, owner: Naming): Refusal {
  const isMixed = object.kind === owner.kind && object.namespace === owner.namespace
  if (isMixed) {
    const message = `${name} has a CNAME or other records in the older ${describeObject(owner)}`
    return { reason: 'CNAMEBesideOtherData', message }
  }
  return { reason: 'Conflict', message: `${name} belongs to ${describeObject(owner)}` }
}

/**
 * Returns the claims to one name that may stand beside each other (RFC 1034 §3.6.2): the first
 * alone if it is a DNSRecord with a CNAME, else all that are none.
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
