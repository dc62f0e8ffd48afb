/**
 * Verdicts on a query within a zone of a snapshot.
 * @module
 */

/** The verdicts. */
export const VERDICT = {
  /** The answer section is written. */
  DATA: 0,
  /** The name exists, but has no records of the type; nothing is written. */
  NODATA: 1,
  /** The name does not exist; nothing is written. */
  NXDOMAIN: 2,
  /** The caller must follow the name's CNAME; nothing is written. */
  FOLLOW: 3,
  /** The caller must load the shard `missingShard` first; nothing is written. */
  UNLOADED: 4,
} as const
