/**
 * The parts of `kubernetes` for `transfer`, `metadata`, `log` and `autopath`. They are a file of
 * their own to keep them out of the Worker's bundle.
 * @module
 */
import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Setup } from '../../chain/setup.ts'
import { parseSearchList } from '../../plugin-kit/search-list.ts'
import { clusterMetadata } from './metadata.ts'
import { SearchPaths } from './search-paths.ts'
import { createKubernetesSetup, kubernetesPlugin } from './setup.ts'
import { clusterTransfer } from './zone-transfer.ts'

const setup: Setup = createKubernetesSetup((parts, { host }) => {
  const { zones, source } = parts
  const machine = parseSearchList(host.readText('/etc/resolv.conf') ?? '')
  const searchPaths = new SearchPaths(zones, source, machine)
  return {
    transfer: (name, serial) => clusterTransfer(parts, name, serial),
    metadata: (label, request) => clusterMetadata(label, request, parts),
    searchPath: (query, client) => searchPaths.of(query, client),
  }
})

/** The entry of `kubernetes` on Node. */
export const kubernetesForPeersPlugin: PluginEntry = { ...kubernetesPlugin, setup }
