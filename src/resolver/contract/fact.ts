/**
 * What a plugin states about a query, for `kubedoh explain`: JSON values only.
 * @module
 */

/** Why a name or type has no records. */
export type Reason = {
  /** A stable word; docs/explain.md lists them. */
  readonly code: string
  /** One sentence without its full stop. */
  readonly text: string
  /** The part of the query that is missing: a namespace, Service, port, type …; `null` for none. */
  readonly missing: string | null
  /** At most 3 similar names that the client may see, absolute. */
  readonly didYouMean: readonly string[]
}

/** A name that exists in a snapshot. */
export type NodeFact = {
  /** '' for names of no namespace. */
  readonly namespace: string
  /** The object that publishes the name; `null` for names of the zone itself. */
  readonly object: string | null
  /** The kind of name, which decides its records; docs/explain.md lists them. */
  readonly rule: string
  readonly types: readonly string[]
  /** Whether it exists only because of names below it. */
  readonly isImplied: boolean
  /** Other objects that claim the name. */
  readonly rivals?: readonly string[]
  /** The targets of a reverse name, and the object behind each. */
  readonly targets?: readonly { readonly name: string; readonly object: string | null }[]
}

/** What a plugin's snapshot has for a query. */
export type Fact = {
  readonly plugin: string
  /** The query name as the plugin got it. */
  readonly name: string
  readonly zone: string
  readonly cluster?: string
  readonly tree: string
  readonly freshness: string
  readonly generation: number | null
  readonly time: string | null
  /** `null` if the name does not exist; absent if its shard is unavailable. */
  readonly node?: NodeFact | null
  /** Absent if the name has records of the type. */
  readonly reason?: Reason
}
