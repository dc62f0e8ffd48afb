/**
 * Drops names that are too long below the origins of a cluster.
 * @module
 */
import { NAME_BYTES_MAX } from '../../dns/limits.ts'
import type { ZoneEntry } from '../../records/zone-entry.ts'
import type { NamingOptions } from '../objects/options.ts'

/** Returns the entries whose names fit below every origin (RFC 1035 §3.1). */
export function keepFitting<Entry extends ZoneEntry>(
  entries: readonly Entry[],
  { origins }: NamingOptions,
): readonly Entry[] {
  let longest = 0
  for (const { length } of origins) longest = Math.max(longest, length)
  const room = NAME_BYTES_MAX - longest
  for (const entry of entries) {
    if (!isFitting(entry, room)) return entries.filter((one) => isFitting(one, room))
  }
  return entries
}

function isFitting(entry: ZoneEntry, room: number): boolean {
  if (entry.kind === 'pointer') return entry.target.length <= room
  if (entry.kind === 'pod-address') return true
  if (entry.owner.length > room) return false
  if (entry.kind !== 'records') return true
  for (const { target } of entry.rdata) {
    if (target !== undefined && target.length > room) return false
  }
  return true
}
