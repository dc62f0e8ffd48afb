/**
 * Clients of an issuer to which ClientTokens give a scope by name, without a secret. Which objects
 * count for a token is decided by the keys that have verified it, because many clusters call their
 * issuers alike.
 * @module
 */
import type { KeysPlace } from '../config/issuers.ts'
import { namedSubject, objectCluster } from './object-tokens.ts'
import type { TokenRecord } from './token.ts'

/** Whose objects count for the tokens that an issuer verifies. */
export type Reach = {
  /** The one cluster whose objects count; `undefined` for all. */
  readonly cluster: string | undefined
  /** Whether this cluster's API server signs the tokens: objects of its tenants count, too. */
  readonly isOfApiServer: boolean
}

/** A client that issuers have verified, and that no rule fits. */
export type UnruledSubject = {
  /** The issuer and its name for the client, `ISSUER SUB`. */
  readonly subject: string
  /** One for each issuer that has verified the token. */
  readonly reaches: readonly Reach[]
}

/**
 * Returns whose objects count for the tokens of an issuer.
 * @param listedBy the cluster of the directory that names the issuer; `undefined` for ISSUERS
 */
export function reachOf(keys: KeysPlace, listedBy: string | undefined): Reach {
  if (typeof keys === 'object' && 'cluster' in keys) {
    return { cluster: keys.cluster, isOfApiServer: true }
  }
  return { cluster: listedBy, isOfApiServer: false }
}

type Named = {
  readonly cluster: string
  readonly keys: 'any' | 'cluster'
  readonly record: TokenRecord
}

/** The records of objects that name subjects. */
export class ObjectSubjects {
  private readonly bySubject = new Map<string, Named[]>()

  /** @param records of objects that count; of one cluster, no two name one subject */
  constructor(records: readonly TokenRecord[]) {
    for (const record of records) {
      const [cluster, named] = [objectCluster(record), namedSubject(record)]
      if (cluster === undefined || named === undefined) continue
      const { subject, keys } = named
      const all = this.bySubject.get(subject) ?? []
      all.push({ cluster, keys, record })
      this.bySubject.set(subject, all)
    }
    for (const all of this.bySubject.values()) all.sort((a, b) => (a.cluster < b.cluster ? -1 : 1))
  }

  /**
   * Returns what `take` makes of the first record, by the identifier of its cluster, that counts
   * for a client and of which `take` makes something.
   */
  find<T>(
    { subject, reaches }: UnruledSubject,
    take: (record: TokenRecord) => T | undefined,
  ): T | undefined {
    for (const { cluster, keys, record } of this.bySubject.get(subject) ?? []) {
      const counts = reaches.some(
        (reach) =>
          (reach.cluster === undefined || reach.cluster === cluster) &&
          (reach.isOfApiServer || keys === 'any'),
      )
      const taken = counts ? take(record) : undefined
      if (taken !== undefined) return taken
    }
    return undefined
  }
}
