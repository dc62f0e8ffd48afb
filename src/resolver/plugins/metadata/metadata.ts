/**
 * The `metadata` plugin: lets the plugins of its server block share metadata of a query under
 * labels such as `kubernetes/service` (CoreDNS, plugin/metadata).
 * @module
 */

import { onlyArgs, zonesOf } from '../../../corefile/arguments.ts'
import type { Plugin } from '../../contract/plugin.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { ClientQuery } from '../../contract/request.ts'
import { closestZoneIndex } from '../../plugin-kit/zones.ts'

const NAME = 'metadata'

/** Configures `metadata [ZONE…]`. */
export const metadataPlugin: PluginEntry = {
  name: 'metadata',
  setup: (directives, { zones: blockZones, peers }) => {
    const zones = zonesOf(onlyArgs(directives), blockZones)
    return {
      plugin: {
        name: NAME,
        metadata: (label, clientQuery) =>
          closestZoneIndex(zones, clientQuery.query) >= 0
            ? fromPlugins(peers(), label, clientQuery)
            : undefined,
      },
    }
  },
}

/** Returns a lookup of the plugins' metadata, which is empty without `metadata` among them. */
export function metadataOf(
  peers: () => readonly Plugin[],
): (label: string, clientQuery: ClientQuery) => string | undefined {
  return (label, clientQuery) =>
    peers()
      .find(({ name }) => name === NAME)
      ?.metadata?.(label, clientQuery)
}

/** Whether the plugins of a server block share metadata. */
export function hasMetadata(peers: readonly Plugin[]): boolean {
  return peers.some(({ name }) => name === NAME)
}

/** If several plugins provide a label, the last one in the chain wins. */
function fromPlugins(
  peers: readonly Plugin[],
  label: string,
  clientQuery: ClientQuery,
): string | undefined {
  return peers
    .filter(({ name }) => name !== NAME)
    .reduce<string | undefined>(
      (known, one) => one.metadata?.(label, clientQuery) ?? known,
      undefined,
    )
}
