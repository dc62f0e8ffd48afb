/**
 * What `transfer`, `metadata`, `log` and `autopath` ask of a cluster. No gateway has these plugins,
 * so its bundle does without.
 * @module
 */
import type { Setup } from '../../chain/setup.ts'
import { parseSearchList } from '../../plugin-kit/search-list.ts'
import { clusterMetadata } from './metadata.ts'
import { SearchPaths } from './search-paths.ts'
import { createKubernetesSetup } from './setup.ts'
import { clusterTransfer } from './zone-transfer.ts'

/** Configures `kubernetes [ZONES…] { … }` with all that other plugins ask of it. */
export const setupKubernetesForPeers: Setup = createKubernetesSetup((parts, { host }) => {
  const { zones, source } = parts
  const machine = parseSearchList(host.readText('/etc/resolv.conf') ?? '')
  const searchPaths = new SearchPaths(zones, source, machine)
  return {
    transfer: (name, serial) => clusterTransfer(parts, name, serial),
    metadata: (label, asked) => clusterMetadata(label, asked, parts),
    searchPath: (query, client) => searchPaths.of(query, client),
  }
})
