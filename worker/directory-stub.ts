/**
 * The directory of clusters as the Worker reaches it: in the Durable Object with the tokens, so
 * that isolates follow both by one connection.
 * @module
 */
import type { ClusterDirectory } from '../src/gateway/access/cluster-directory.ts'
import type { TokenObject } from './token-object.ts'

type DirectoryCalls = Pick<
  TokenObject,
  'listClusters' | 'addCluster' | 'addClusters' | 'replaceCluster' | 'removeCluster'
>

/** Returns the directory in an object; a stub belongs to one request, so each call gets its own. */
export function directoryIn(
  object: () => {
    readonly [Name in keyof DirectoryCalls]: (
      ...values: Parameters<DirectoryCalls[Name]>
    ) => Promise<ReturnType<DirectoryCalls[Name]>>
  },
): ClusterDirectory {
  return {
    list: async () => object().listClusters(),
    add: async (entry) => object().addCluster(entry),
    addAll: async (entries) => object().addClusters(entries),
    replace: async (before, next) => object().replaceCluster(before, next),
    remove: async (id) => object().removeCluster(id),
  }
}
