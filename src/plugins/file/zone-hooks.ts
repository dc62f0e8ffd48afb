/**
 * Zones by name, and the hooks of plugins with zones, besides answering.
 * @module
 */
import type { Plugin } from '../../chain/plugin.ts'
import type { ResourceRecord } from '../../dns/message.ts'
import { labelOffsets, nameKey } from '../../dns/name.ts'
import { isSerialAfter, soaSerial } from '../../dns/soa.ts'
import { wildcardOf } from './serve-zone.ts'
import type { ZoneData } from './zone-data.ts'

/** Returns hooks that transfer zones, and that publish matching wildcards as metadata. */
export function zoneHooks(
  zones: ZoneMap<{ readonly zone: ZoneData | undefined }>,
): Required<Pick<Plugin, 'metadata' | 'transfer'>> {
  return {
    metadata: (label, { query }) => {
      if (label !== 'zone/wildcard') return undefined
      const question = { lowerName: query.name.subarray(0, query.nameBytes), type: query.type }
      const zone = zones.closest(question.lowerName)?.zone
      return zone && wildcardOf(zone, question)
    },
    transfer: (name, serial) => {
      const zone = zones.get(name)?.zone
      return zone && transferRecords(zone, serial)
    },
  }
}

/** Notifies a block's plugins of a new or changed zone. */
export function notifyPeers(peers: readonly Plugin[], zone: Uint8Array): void {
  for (const { zoneChanged } of peers) zoneChanged?.(zone)
}

/** A value for each of some zones. */
export class ZoneMap<T> {
  private readonly byKey = new Map<string, T>()

  /** Number of zones. */
  get size(): number {
    return this.byKey.size
  }

  /** Sets the value of a zone. */
  set(zone: Uint8Array, value: T): void {
    this.byKey.set(nameKey(zone), value)
  }

  /** Removes a zone. */
  delete(zone: Uint8Array): void {
    this.byKey.delete(nameKey(zone))
  }

  /** Returns the value of a zone itself. */
  get(zone: Uint8Array): T | undefined {
    return this.byKey.get(nameKey(zone))
  }

  /** Returns the value of the longest zone that a name is in. */
  closest(name: Uint8Array): T | undefined {
    const key = nameKey(name)
    for (const at of [...labelOffsets(name), name.length - 1]) {
      const found = this.byKey.get(key.slice(at))
      if (found !== undefined) return found
    }
    return undefined
  }

  /** Lists all values, in the order of insertion. */
  values(): Iterable<T> {
    return this.byKey.values()
  }
}

/**
 * Lists the records of a zone, the SOA record first and last; only one SOA record if `serial` is no
 * older than the zone's (RFC 1995 §2).
 */
export function* transferRecords(
  zone: ZoneData,
  serial: number | undefined,
): Generator<ResourceRecord> {
  const { soa } = zone
  yield soa
  if (serial !== undefined && !isSerialAfter(soaSerial(soa.rdata), serial)) return
  yield* zone.soaSignatures
  yield* zone.nameservers
  yield* zone.nsSignatures
  for (const { sets } of zone.nodes.values()) for (const set of sets.values()) yield* set
  yield soa
}
