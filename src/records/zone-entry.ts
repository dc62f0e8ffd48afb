/**
 * The pivot: what a cluster's objects become and what a snapshot stores. Cluster code only makes
 * these, snapshot code only stores them.
 *
 * Names are kept relative to the zone, so that one snapshot can be served under any number of
 * origins.
 * @module
 */

/**
 * Rdata whose last part may be a name of the zone: `bytes`, and then, when there is a `target`,
 * that name below whatever origin is asked. Names within `bytes` are absolute.
 */
export type Rdata = { readonly bytes: Uint8Array; readonly target?: Uint8Array }

/** All records of one type at one name (RFC 2181 §5). */
export type RRset = {
  readonly kind: 'records'
  /** Labels below the zone, lower case, without the root; none for the apex. */
  readonly owner: Uint8Array
  /** The namespace that may see it, or '' for all. */
  readonly namespace: string
  readonly type: number
  /** 0 to 16,777,215. */
  readonly ttlSeconds: number
  /** Addresses are of no order; the rest is answered in this one. */
  readonly rdata: readonly Rdata[]
  /** Whether it only goes along with other records, and is not there when it is asked for. */
  readonly isGlue?: true
}

/** A name that exists, whether or not it has records (RFC 4592 §2.2.2). */
export type ExistingName = {
  readonly kind: 'name'
  readonly owner: Uint8Array
  readonly namespace: string
  /** Whether it exists only because names below it do. */
  readonly isImplied?: true
}

/**
 * Below `owner`, every label that spells an IP address with dashes is a name with that address, at
 * the snapshot's TTL: the Kubernetes pod names of CoreDNS's `pods insecure`.
 */
export type AddressNames = {
  readonly kind: 'address-names'
  readonly owner: Uint8Array
  readonly namespace: string
}

/** Where an address points back to: PTR records, kept by address and not by their long names. */
export type Pointer = {
  readonly kind: 'pointer'
  /** 4 or 16 bytes. */
  readonly address: Uint8Array
  readonly namespace: string
  readonly ttlSeconds: number
  /** Labels below the zone that answers name, lower case. */
  readonly target: Uint8Array
  /** Whether it stands back when the address has a pointer that does not. */
  readonly isYielding?: true
}

/** Whose an address is: a Pod's of the namespace `namespace`. Nobody is answered with it. */
export type PodAddress = {
  readonly kind: 'pod-address'
  /** 4 or 16 bytes. */
  readonly address: Uint8Array
  readonly namespace: string
}

/** What is kept by the name that owns it. */
export type NamedEntry = RRset | ExistingName | AddressNames

/** What is kept by its address. */
export type AddressEntry = Pointer | PodAddress

/** One thing that a zone knows. */
export type ZoneEntry = NamedEntry | AddressEntry

/** Tells whether an entry is kept by its address; the others have an owner. */
export function isByAddress(entry: ZoneEntry): entry is AddressEntry {
  return entry.kind === 'pointer' || entry.kind === 'pod-address'
}
