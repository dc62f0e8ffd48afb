/**
 * What plugins with zones have in common beside answering.
 * @module
 */
import type { Plugin } from '../../chain/plugin.ts'
import { wildcardOf } from './serve-zone.ts'
import type { ZoneData } from './zone-data.ts'
import type { ZoneMap } from './zone-map.ts'
import { transferRecords } from './zone-transfer.ts'

/** Makes the parts of a plugin by which its zones are transferred, and wildcards told of. */
export function zoneHooks(
  zones: ZoneMap<{ readonly zone: ZoneData | undefined }>,
): Required<Pick<Plugin, 'metadata' | 'transfer'>> {
  return {
    metadata: (label, { query }) => {
      if (label !== 'zone/wildcard') return undefined
      const asked = { lowerName: query.name.subarray(0, query.nameBytes), type: query.type }
      const zone = zones.closest(asked.lowerName)?.zone
      return zone && wildcardOf(zone, asked)
    },
    transfer: (name, serial) => {
      const zone = zones.get(name)?.zone
      return zone && transferRecords(zone, serial)
    },
  }
}

/** Tells a block's plugins that a zone has come or changed. */
export function tellPeers(peers: readonly Plugin[], zone: Uint8Array): void {
  for (const { zoneChanged } of peers) zoneChanged?.(zone)
}
