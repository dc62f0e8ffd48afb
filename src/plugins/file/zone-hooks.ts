/**
 * The hooks of plugins with zones, besides answering.
 * @module
 */
import type { Plugin } from '../../chain/plugin.ts'
import { wildcardOf } from './serve-zone.ts'
import type { ZoneData } from './zone-data.ts'
import type { ZoneMap } from './zone-map.ts'
import { transferRecords } from './zone-transfer.ts'

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
export function tellPeers(peers: readonly Plugin[], zone: Uint8Array): void {
  for (const { zoneChanged } of peers) zoneChanged?.(zone)
}
