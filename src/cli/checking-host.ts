/**
 * The host of `kubedoh check`: reads files, opens no sockets or clusters, and remembers which files
 * are missing.
 * @module
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathsBelow, readBlockSettings } from '../chain/block-settings.ts'
import type { SnapshotSource } from '../chain/host.ts'
import type { PluginHost } from '../chain/plugin-entry.ts'
import { CLUSTER_TREE, type ClusterTree } from '../corefile/cluster-tree.ts'
import type { KubernetesOptions } from '../corefile/kubernetes-options.ts'
import { configError, type Problem, problemAt } from '../corefile/problem.ts'
import type { Line, ServerBlock, Word } from '../corefile/server-block.ts'
import { EtcdClient } from '../etcd/etcd-client.ts'
import { namingOptions } from '../exporter/naming.ts'
import { checkWorkerUpstream, publishedCluster } from '../gateway/compile-corefile.ts'
import { ALL_PLUGINS } from '../plugins/all-plugins.ts'
import { EDGE_PLUGINS } from '../plugins/edge-plugins.ts'
import { createNodeHost } from '../server/node-host.ts'
import { Metrics } from '../telemetry/metrics.ts'

/** The program that a Corefile is for: `kubedoh serve`, a gateway on Node, or a Worker. */
export type CheckTarget = 'serve' | 'gateway' | 'worker'

/** A host for checking, and the files that plugins did not find. */
export type CheckingHost = {
  readonly host: PluginHost
  /** Returns a warning for each argument that names a missing file or folder. */
  readonly missing: (blocks: readonly ServerBlock[]) => Problem[]
}

/** Plugins whose arguments are files or other things; they report missing files themselves. */
const FILES_OR_NAMES: ReadonlySet<string> = new Set(['forward', 'import'])

const NO_SNAPSHOT: SnapshotSource = {
  current: () => undefined,
  load: () => Promise.resolve(undefined),
  freshness: () => 'fresh',
}

/** Creates the host. @param folder base of the relative paths in the Corefile */
export function checkingHost(folder: string, target: CheckTarget): CheckingHost {
  const lost = new Set<string>()
  /** Returns what was read; remembers the path if nothing was. */
  const noted = <T>(path: string, found: T | undefined): T | undefined => {
    if (found === undefined) lost.add(resolve(folder, path))
    return found
  }
  const node = createNodeHost({
    folder,
    metrics: new Metrics(),
    log: () => undefined,
    abort: () => undefined,
    openCluster: (options, tree = CLUSTER_TREE) => {
      if (target !== 'serve') publishedCluster(options, tree)
      else noteClusterFiles(options, tree)
      return NO_SNAPSHOT
    },
    ...(target === 'serve' && {
      openKeys: (connection) => {
        new EtcdClient(connection).close()
        return { current: () => undefined, leaseSeconds: () => undefined }
      },
    }),
  })
  const noteClusterFiles = (options: KubernetesOptions, tree: ClusterTree): void => {
    if (options.cluster !== undefined) {
      throw configError(options, '"cluster" is only for gateways; check with --for gateway')
    }
    namingOptions(options, [], tree)
    const { kubeconfig, tls } = options
    const paths = [kubeconfig?.path, tls?.cert, tls?.key, tls?.ca]
    for (const path of paths) {
      if (path !== undefined && !existsSync(resolve(folder, path))) noted(path, undefined)
    }
  }
  const host: PluginHost = {
    ...node,
    readText: (path) => noted(path, node.readText(path)),
    readBytes: (path) => noted(path, node.readBytes?.(path)),
    listFiles: (path) => noted(path, node.listFiles(path)),
  }
  return {
    host: target === 'worker' ? workerHost(host) : host,
    missing: (blocks) => missingFiles(blocks, folder, lost),
  }
}

/** Removes what a Worker lacks (worker/worker-host.ts): files, sockets, plugins that need them. */
function workerHost(host: PluginHost): PluginHost {
  const { readBytes: _, ...rest } = host
  return {
    ...rest,
    plugins: EDGE_PLUGINS,
    isolatesRequests: true,
    readText: () => undefined,
    listFiles: () => undefined,
    modifiedMs: () => undefined,
    openUpstream: (upstream, options) => {
      checkWorkerUpstream(upstream, options)
      return host.openUpstream(upstream, options)
    },
  }
}

function missingFiles(
  blocks: readonly ServerBlock[],
  folder: string,
  lost: ReadonlySet<string>,
): Problem[] {
  return blocks.flatMap(({ directives }) => {
    const pathOf = pathsBelow(readBlockSettings({ directives }, ALL_PLUGINS).folder)
    const words = directives.flatMap(({ name, args, lines }) =>
      FILES_OR_NAMES.has(name) ? [] : [...args, ...wordsOf(lines)],
    )
    return words.flatMap((word) => {
      if (word.text === '') return []
      const path = resolve(folder, pathOf(word.text))
      const found = [path, resolve(folder, word.text)].find((one) => lost.has(one))
      return found === undefined ? [] : [problemAt(word, `"${found}" is missing or unreadable`)]
    })
  })
}

function wordsOf(lines: readonly Line[]): Word[] {
  return lines.flatMap(({ words, lines: inner }) => [...words, ...wordsOf(inner)])
}
