/**
 * When names are read again, and when they are too old.
 * @module
 */

/** Ages from which on names are no longer fresh. */
export type AgeLimits = {
  /** Responses carry an Extended DNS Error "Stale Answer" (RFC 8914 §4.4). */
  readonly staleMs: number
  /** Queries fail with SERVFAIL. */
  readonly expireMs: number
}

/** Times after which a reader acts. */
export type ReaderTimes = AgeLimits & {
  /** Reads the manifest again, where the origin cannot be followed. */
  readonly refreshMs: number
}
