/**
 * What can become of a query within a zone of a snapshot.
 * @module
 */

/** What became of a query. */
export const VERDICT = {
  /** The answer section is written. */
  DATA: 0,
  /** The name exists, without records of the type; nothing is written. */
  NODATA: 1,
  /** The name does not exist; nothing is written. */
  ABSENT: 2,
  /** The name is an alias that has to be followed; nothing is written. */
  ALIAS: 3,
  /** The shard `missingShard` is needed first; nothing is written. */
  UNLOADED: 4,
} as const
