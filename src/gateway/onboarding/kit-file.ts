/**
 * The files of a kit, and what it is for.
 * @module
 */

/** What a kit is for, checked: its texts need no escaping in any of the files. */
export type Kit = {
  /** Origin of the gateway, `https://HOST`. */
  readonly origin: string
  /** Name or address of the gateway, without a port. */
  readonly host: string
  /** URL of the gateway's DNS over HTTPS, with the token in its path. */
  readonly dohUrl: string
  /** Domains to resolve by the gateway, without a final dot. */
  readonly domains: readonly string[]
  /** The client token; '' for a public gateway. */
  readonly token: string
}

/** A file of the kit. */
export type KitFile = {
  /** Never contains the token. */
  readonly name: string
  /** Media type. */
  readonly type: string
  readonly text: string
}
