/**
 * The verdict on a query within a zone of a snapshot.
 * @module
 */

/** The verdict on a query. */
export const VERDICT = {
  /** The answer section is written. */
  DATA: 0,
  /** The name exists, without records of the type; nothing is written. */
  NODATA: 1,
  /** The name does not exist; nothing is written. */
  NXDOMAIN: 2,
  /** The name has a CNAME record to follow; nothing is written. */
  FOLLOW: 3,
  /** The shard `missingShard` is needed first; nothing is written. */
  UNLOADED: 4,
} as const
