/**
 * The host of `kubedoh check`: reads files, opens no sockets or clusters, and notes which files are
 * missing.
 * @module
 */
import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { namingOptions } from '../../cluster/follow/naming.ts'
import { CLUSTER_TREE, type ClusterTree } from '../../corefile/cluster-tree.ts'
import type { KubernetesOptions } from '../../corefile/kubernetes-options.ts'
import { configError, type Problem, problemAt } from '../../corefile/problem.ts'
import type { Line, ServerBlock, Word } from '../../corefile/server-block.ts'
import { Metrics } from '../../dns/telemetry/metrics.ts'
import { checkWorkerUpstream, publishedCluster } from '../../gateway/config/compile-corefile.ts'
import { pathsBelow, readBlockSettings } from '../../resolver/chain/block-settings.ts'
import type { PublishedClusters, SnapshotSource } from '../../resolver/contract/host.ts'
import type { PluginHost } from '../../resolver/contract/plugin-entry.ts'
import { ALL_PLUGINS } from '../../resolver/plugins/all-plugins.ts'
import { EtcdClient } from '../../server/etcd/etcd-client.ts'
import { MERGED_AT_GATEWAYS } from '../../server/serve/cluster-sources.ts'
import { createNodeHost } from '../../server/serve/node-host.ts'

/** The program that a Corefile is for: `kubedoh serve`, a gateway on Node, or a Worker. */
export type CheckTarget = 'serve' | 'gateway' | 'worker'

/** The surroundings of a Corefile. */
export type CheckedPlace = {
  /** The folder of relative paths. */
  readonly folder: string
  /** Reads them; absent for those of this machine. */
  readonly host?: Pick<PluginHost, 'readText' | 'readFile' | 'listFiles' | 'fileState'>
  /** Whether each file found has to be copied to where the Corefile is used. */
  readonly isToCopy: boolean
  /** The port of zones without one; 53 by default. */
  readonly dnsPort?: number
  /** Texts of files in the folder, by name, that need not exist yet. */
  readonly files?: Readonly<Record<string, string>>
  /** The clusters that publish to the gateway; absent if unknown. */
  readonly clusters?: readonly string[]
}

/** A host for checking. */
export type CheckingHost = {
  readonly host: PluginHost
  /** Returns the warnings about files and clusters, once the Corefile is compiled. */
  readonly warnings: (blocks: readonly ServerBlock[]) => Problem[]
  /** Returns the words that name files which were not found, once the Corefile is compiled. */
  readonly missing: (blocks: readonly ServerBlock[]) => Word[]
}

/** Plugins whose arguments are files or other things; they report missing files themselves. */
const FILES_OR_NAMES: ReadonlySet<string> = new Set(['forward', 'import'])

const TO_COPY = 'is a file: a Worker has it only if its text is in the variable FILES'
const NO_CLUSTER_IN_SERVE = '"cluster" has no effect in "kubedoh serve", which watches one cluster'

const NO_CLUSTERS: PublishedClusters = { has: () => false, load: () => undefined }
const NO_SNAPSHOT: SnapshotSource = {
  current: () => undefined,
  load: () => Promise.resolve(undefined),
  freshness: () => 'fresh',
}

/** Creates the host for a target. */
export function checkingHost(place: CheckedPlace, target: CheckTarget): CheckingHost {
  const notes = new Map<string, string>()
  const warnings: Problem[] = []
  const { folder, clusters, files = {} } = place
  /** Returns what was read; notes the path if nothing was, or if a Worker may lack the file. */
  const noted = <T>(path: string, found: T | undefined): T | undefined => {
    if (found === undefined) notes.set(resolve(folder, path), 'is missing or unreadable')
    else if (place.isToCopy) notes.set(resolve(folder, path), TO_COPY)
    return found
  }
  const node = createNodeHost({
    folder,
    metrics: new Metrics(),
    log: () => undefined,
    abort: () => undefined,
    openCluster: (options, tree = CLUSTER_TREE) => {
      if (target === 'serve') noteClusterFiles(options, tree)
      else warnings.push(...checkPublished(options, clusters))
      return NO_SNAPSHOT
    },
    ...(target !== 'serve' && { openClusters: () => NO_CLUSTERS }),
    ...(target === 'serve' && {
      openKeys: (connection) => {
        new EtcdClient(connection).close()
        return { current: () => undefined, leaseSeconds: () => undefined }
      },
    }),
  })
  const noteClusterFiles = (options: KubernetesOptions, tree: ClusterTree): void => {
    if (options.clusters.length > 1) throw configError(options, MERGED_AT_GATEWAYS)
    if (options.cluster !== undefined) warnings.push(problemAt(options, NO_CLUSTER_IN_SERVE))
    namingOptions(options, [], tree)
    const { kubeconfig, tls } = options
    const paths = [kubeconfig?.path, tls?.cert, tls?.key, tls?.ca]
    for (const path of paths) {
      if (path !== undefined && !existsSync(resolve(folder, path))) noted(path, undefined)
    }
  }
  const host: PluginHost = {
    ...node,
    ...place.host,
    readText: (path) => {
      const own = Object.hasOwn(files, path) ? files[path] : undefined
      return noted(path, own ?? (place.host ?? node).readText(path))
    },
    readBytes: (path) => noted(path, node.readBytes?.(path)),
    readFile: async (path) => {
      const reading = (place.host ?? node).readFile(path)
      noted(path, await reading.catch(() => undefined))
      return reading
    },
    listFiles: async (path) => noted(path, await (place.host ?? node).listFiles(path)),
  }
  return {
    host: target === 'worker' ? workerHost(host) : host,
    warnings: (blocks) => {
      const found = notedWords(blocks, folder, notes)
        .filter(({ isFile }) => isFile)
        .map(({ word, path }) => problemAt(word, `"${path}" ${notes.get(path)}`))
      return [...warnings, ...found]
    },
    missing: (blocks) =>
      notedWords(blocks, folder, notes)
        .filter(({ isFile, word }) => isFile || isAbsolute(word.text))
        .map(({ word }) => word),
  }
}

/** Checks what a gateway needs of a directive. @throws {ConfigError} */
function checkPublished(
  options: KubernetesOptions,
  clusters: readonly string[] | undefined,
): Problem[] {
  if (options.cluster === undefined && clusters === undefined) {
    const message = 'without "cluster ID", the gateway takes the only cluster in CLUSTERS'
    return [problemAt(options, `${message}, and fails if there are several`)]
  }
  const cluster = publishedCluster(options, clusters)
  if (clusters?.includes(cluster) !== false) return []
  throw configError(options, `CLUSTERS has no cluster "${cluster}"`)
}

/** Removes what a Worker lacks (src/library/web-host.ts): sockets, and plain DNS. */
function workerHost(host: PluginHost): PluginHost {
  const { readBytes: _, ...rest } = host
  return {
    ...rest,
    isolatesRequests: true,
    openUpstream: (upstream, options) => {
      checkWorkerUpstream(upstream, options)
      return host.openUpstream(upstream, options)
    },
  }
}

/** A word that names a noted file, and the file's path. */
type NotedWord = {
  readonly word: Word
  readonly path: string
  /** False where the argument may also be something else than a file. */
  readonly isFile: boolean
}

function notedWords(
  blocks: readonly ServerBlock[],
  folder: string,
  notes: ReadonlyMap<string, string>,
): NotedWord[] {
  return blocks.flatMap(({ directives }) => {
    const pathOf = pathsBelow(readBlockSettings({ directives }, ALL_PLUGINS).folder)
    return directives.flatMap(({ name, args, lines }) => {
      const isFile = !FILES_OR_NAMES.has(name)
      return [...args, ...wordsOf(lines)].flatMap((word) => {
        if (word.text === '') return []
        const places = [resolve(folder, pathOf(word.text)), resolve(folder, word.text)]
        const path = places.find((one) => notes.has(one))
        return path === undefined ? [] : [{ word, path, isFile }]
      })
    })
  })
}

function wordsOf(lines: readonly Line[]): Word[] {
  return lines.flatMap(({ words, lines: inner }) => [...words, ...wordsOf(inner)])
}
