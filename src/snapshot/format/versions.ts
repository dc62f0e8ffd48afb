/**
 * The versions of snapshots. One number covers the manifest, and the shards and tables that it
 * lists: a shard with another layout has another magic, and a manifest of a later version.
 * @module
 */

/**
 * Versions that this build reads. A version stays here for at least one minor after the last that
 * wrote it, so that a newer gateway reads what an older exporter published.
 */
export const VERSIONS_READ: readonly number[] = [1]
/**
 * Versions that this build writes. A new one is added one minor after it was added to
 * {@link VERSIONS_READ}: a gateway that is rolled back then reads what its store has.
 */
export const VERSIONS_WRITTEN: readonly number[] = [1]
/** Response header of a gateway to exporters: the versions that it reads, `1, 2`. */
export const READS_HEADER = 'kubedoh-reads'

/** What gateways without the header read. */
const FIRST_VERSIONS: readonly number[] = [1]
/** Most versions that a header may list. */
const LISTED_MAX = 16

/** Writes the value of the header. */
export function formatVersions(versions: readonly number[]): string {
  return versions.join(', ')
}

/** Parses the value of the header. One that is missing or invalid counts as `1`. */
export function parseVersions(text: string | null): readonly number[] {
  const items = (text ?? '').split(',').map((item) => item.trim())
  if (items.length > LISTED_MAX) return FIRST_VERSIONS
  return items.every((item) => /^[1-9]\d{0,3}$/.test(item)) ? items.map(Number) : FIRST_VERSIONS
}

/** Returns the newest version that an exporter writes and a gateway reads, if one exists. */
export function newestOfBoth(
  written: readonly number[],
  read: readonly number[],
): number | undefined {
  const both = written.filter((version) => read.includes(version))
  return both.length === 0 ? undefined : Math.max(...both)
}

/** Says of versions without a common one which side to upgrade. */
export function describeMismatch(written: readonly number[], read: readonly number[]): string {
  const older = Math.max(...written) < Math.max(...read) ? 'exporter' : 'gateway'
  const reads = `The gateway reads snapshots of version ${formatVersions(read)}`
  const writes = `this exporter writes ${formatVersions(written)}`
  return `${reads}, ${writes}; upgrade the ${older}`
}
