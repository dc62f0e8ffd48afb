/**
 * The entries of a zone: `kubernetes` makes them from objects, and `snapshot` stores them.
 *
 * Names are relative to the zone, so that one snapshot can serve any number of origins.
 * @module
 */

/**
 * Rdata that may end with a name of the zone: `bytes`, followed by the `target`, if any, below the
 * origin of the query. Names within `bytes` are absolute.
 */
export type Rdata = { readonly bytes: Uint8Array; readonly target?: Uint8Array }

/** All records of one type at one name (RFC 2181 §5). */
export type RRset = {
  readonly kind: 'records'
  /** Labels below the zone, lower case, without the root; none for the apex. */
  readonly owner: Uint8Array
  /** The namespace whose viewers may see it; '' for all clients. */
  readonly namespace: string
  readonly type: number
  /** 0 to 16,777,215. */
  readonly ttlSeconds: number
  /** The order of addresses has no meaning; other records are answered in this order. */
  readonly rdata: readonly Rdata[]
  /** Whether it is for the additional section only: no query finds the name. */
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

/** A PTR record, by its address rather than its long reverse name. */
export type Pointer = {
  readonly kind: 'pointer'
  /** 4 or 16 bytes. */
  readonly address: Uint8Array
  readonly namespace: string
  readonly ttlSeconds: number
  /** Labels below the zone, lower case. */
  readonly target: Uint8Array
  /** Whether it yields to pointers of the same address that do not yield. */
  readonly isYielding?: true
}

/** A Pod of the namespace has the address. It gives no records. */
export type PodAddress = {
  readonly kind: 'pod-address'
  /** 4 or 16 bytes. */
  readonly address: Uint8Array
  readonly namespace: string
}

/** An entry with an owner name. */
export type NamedEntry = RRset | ExistingName | AddressNames

/** An entry of an address. */
export type AddressEntry = Pointer | PodAddress

/** An entry of a zone. */
export type ZoneEntry = NamedEntry | AddressEntry

/** Returns whether an entry is of an address; the others have an owner. */
export function isByAddress(entry: ZoneEntry): entry is AddressEntry {
  return entry.kind === 'pointer' || entry.kind === 'pod-address'
}
