/**
 * The directives with which `kubedoh export` names a cluster.
 * @module
 */
import { dirname, resolve } from 'node:path'
import { type ExternalTree, type HostsTree, treeName } from '../../corefile/cluster-tree.ts'
import { type KubernetesOptions, parseKubernetes } from '../../corefile/kubernetes-options.ts'
import { NO_FILES } from '../../corefile/lexeme-stream.ts'
import { readCorefile } from '../../corefile/parse-corefile.ts'
import { configError } from '../../corefile/problem.ts'
import type { Directive, ServerBlock } from '../../corefile/server-block.ts'
import { type EtcdConnection, parseEtcd } from '../../resolver/plugins/etcd/options.ts'
import { parseExternal } from '../../resolver/plugins/k8s-external/options.ts'
import {
  type K8sGatewayOptions,
  parseK8sGateway,
} from '../../resolver/plugins/k8s-gateway/options.ts'
import { connectionKey } from '../../server/etcd/key-sources.ts'
import { type LoadedCorefile, loadCorefile } from '../../server/node/load-corefile.ts'
import { CommandError } from '../../server/node/output.ts'
import { readTextFile } from '../../server/node/read-files.ts'

const BUILT_IN = 'built-in Corefile'
/** Used without a Corefile: the naming options of kubeadm's Corefile. */
const DEFAULT_COREFILE = `. {
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    pods insecure
    ttl 30
  }
}
`

/** Returns the Corefile that stands for none. */
export function builtInCorefile(): LoadedCorefile {
  const text = DEFAULT_COREFILE
  return { text, ...readCorefile(text, BUILT_IN, NO_FILES) }
}

/** What an exporter publishes. */
export type ExportDirectives = {
  /** The cluster's own names. */
  readonly directive: KubernetesOptions
  /** The trees of `k8s_external` and `k8s_gateway`. */
  readonly trees: readonly (ExternalTree | HostsTree)[]
  /** Of one etcd, each with a path of its own; none without an `etcd` directive. */
  readonly etcd: readonly EtcdConnection[]
}

/**
 * Reads the only `kubernetes` directive of a Corefile, at most one `k8s_external` and one
 * `k8s_gateway`, and the `etcd` directives.
 * @param path '' for the default
 * @throws {CommandError} when there is no `kubernetes` directive
 * @throws {ConfigError} when a directive cannot be exported
 */
export function loadExportDirectives(path: string): ExportDirectives {
  const blocks = (path === '' ? builtInCorefile() : loadCorefile(path)).blocks
  const first = onlyOf(blocks, 'kubernetes')
  if (first === undefined) throw new CommandError(`${path}: no "kubernetes" directive to export`)
  const directive = parseKubernetes(first.directive, zonesIn(first.block))
  const external = onlyOf(blocks, 'k8s_external')
  return {
    directive,
    trees: [
      ...(external === undefined ? [] : [externalTree(external)]),
      ...hostsTrees(blocks, directive),
    ],
    etcd: etcdConnections(blocks, dirname(path)),
  }
}

/** Returns where the keys of `etcd` directives are, once for each path. */
function etcdConnections(blocks: readonly ServerBlock[], folder: string): EtcdConnection[] {
  const readText = (path: string): string | undefined => readTextFile(resolve(folder, path))
  const byPath = new Map<string, EtcdConnection>()
  for (const { directive, block } of allOf(blocks, 'etcd')) {
    const { connection } = parseEtcd([directive], zonesIn(block), readText)
    const [first = connection] = byPath.values()
    if (connectionKey({ ...first, path: '' }) !== connectionKey({ ...connection, path: '' })) {
      const message = 'export reads one etcd: "etcd" directives may differ in "path" and zones only'
      throw configError(directive, message)
    }
    byPath.set(connection.path, connection)
  }
  return [...byPath.values()]
}

/** Returns the trees of `k8s_gateway`: at most one of external addresses and one of cluster IPs. */
function hostsTrees(blocks: readonly ServerBlock[], directive: KubernetesOptions): HostsTree[] {
  const trees = new Map<string, HostsTree>()
  for (const found of allOf(blocks, 'k8s_gateway')) {
    const tree = hostsTree(found, directive)
    if (trees.has(treeName(tree))) {
      const message = 'export takes one "k8s_gateway" directive, and one with "clusterIPs"'
      throw configError(found.directive, `${message}; remove this one`)
    }
    trees.set(treeName(tree), tree)
  }
  return [...trees.values()]
}

/**
 * Reads the first `k8s_gateway` directive of a Corefile that has HostRoutes.
 * @throws {CommandError} when there is none
 * @throws {ConfigError} when a directive is invalid
 */
export function loadHostsDirective(path: string): K8sGatewayOptions {
  const all = allOf(loadCorefile(path).blocks, 'k8s_gateway')
  for (const { directive, block } of all) {
    const options = parseK8sGateway(directive, zonesIn(block))
    if (options.tree.resources.includes('HostRoute')) return options
  }
  throw new CommandError(`${path}: no "k8s_gateway" directive with "resources HostRoute"`)
}

type Found = { readonly directive: Directive; readonly block: ServerBlock }

/** Returns the only directive of a name. @throws {ConfigError} when there is more than one */
function onlyOf(blocks: readonly ServerBlock[], wanted: string): Found | undefined {
  const [first, second] = allOf(blocks, wanted)
  if (second === undefined) return first
  const message = `export takes one "${wanted}" directive, and this is the second; remove one`
  throw configError(second.directive, message)
}

function allOf(blocks: readonly ServerBlock[], wanted: string): Found[] {
  return blocks.flatMap((block) =>
    block.directives
      .filter(({ name }) => name === wanted)
      .map((directive) => ({ directive, block })),
  )
}

function zonesIn({ keys }: ServerBlock): Uint8Array[] {
  return keys.map(({ zone }) => zone)
}

function externalTree({ directive, block }: Found): ExternalTree {
  const { ttlSeconds, hasEndpoints } = parseExternal([directive], zonesIn(block))
  return { kind: 'external', ttlSeconds, hasEndpoints }
}

/** Returns the tree of a directive; the exporter reads one API server. */
function hostsTree({ directive, block }: Found, { kubeconfig }: KubernetesOptions): HostsTree {
  const { tree, kubeconfig: own } = parseK8sGateway(directive, zonesIn(block))
  if (own !== undefined && JSON.stringify(own) !== JSON.stringify(kubeconfig)) {
    const message = 'export reads the API server of "kubernetes" only; use the same "kubeconfig"'
    throw configError(directive, message)
  }
  return tree
}
