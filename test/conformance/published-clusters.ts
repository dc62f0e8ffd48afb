/**
 * The clusters of a scenario at a gateway, published by our exporter, and why a gateway answers
 * some of the recorded questions otherwise.
 * @module
 */

import { readObjectFiles } from '../../src/cluster/api/object-files.ts'
import { createObjectSource } from '../../src/cluster/follow/export-source.ts'
import { KeyTree } from '../../src/cluster/follow/key-tree.ts'
import { namingOptions, publishedTrees } from '../../src/cluster/follow/naming.ts'
import type { ExternalTree } from '../../src/corefile/cluster-tree.ts'
import { defaultKubernetes, parseKubernetes } from '../../src/corefile/kubernetes-options.ts'
import { parseCorefile } from '../../src/corefile/parse-corefile.ts'
import type { Directive, ServerBlock } from '../../src/corefile/server-block.ts'
import { nameOf } from '../../src/dns/names/name.ts'
import { type ClusterKeys, createClusterKeys } from '../../src/exporter/cluster-keys.ts'
import { createGatewayClient } from '../../src/exporter/gateway-client.ts'
import { Publisher } from '../../src/exporter/publisher.ts'
import { differenceAt, type GatewayKind } from '../../src/gateway/config/gateway-plugins.ts'
import { readVariableFiles } from '../../src/gateway/config/variable-files.ts'
import { ALL_PLUGINS } from '../../src/resolver/plugins/all-plugins.ts'
import { parseExternal } from '../../src/resolver/plugins/k8s-external/options.ts'
import { KeySources } from '../../src/server/etcd/key-sources.ts'
import { importPrivateKey } from '../../src/snapshot/format/signature.ts'
import type { Case, Scenario } from './scenario.ts'
import type { Place } from './transports.ts'

/** Options that say nothing about the records: for the reader, or the default. */
const NOT_EXPORTED = /^(fallthrough\b.*|pods disabled)$/
/** The Pod from which the scenario of `autopath` was asked. */
const POD = '127.0.8.11'

/** Returns a function with the reason why a gateway cannot have a scenario, if there is one. */
export function whyNotAt(kind: GatewayKind): (scenario: Scenario) => string | undefined {
  return (scenario) => {
    const names = parse(scenario).flatMap(({ directives }) => directives.map(({ name }) => name))
    const refused = [...ALL_PLUGINS.values()].filter(
      (plugin) => names.includes(plugin.name) && differenceAt(plugin, kind)?.is === 'refused',
    )
    if (refused.length === 0) return undefined
    return `a gateway refuses ${refused.map(({ name }) => name).join(', ')}`
  }
}

/** Returns why a gateway answers a case otherwise on purpose; else `undefined`. */
export function whyNotCaseAtGateway({ id, src, qname, expect }: Case): string | undefined {
  if (id.startsWith('autopath-') && src === POD) return 'a gateway knows no Pods and search lists'
  const isInCluster = (name: string): boolean => /\.cluster\.local\.$/i.test(name)
  const leadsInside = expect.answer?.some((line) => / CNAME /.test(line) && isInCluster(line))
  if (leadsInside !== true || isInCluster(qname)) return undefined
  return 'at the edge a CNAME into the cluster stays below the origin that was asked'
}

/** The clusters of a scenario, and the keys of their exporters. */
export type Published = { readonly keys: ClusterKeys; readonly parts: readonly Part[] }

/** Returns the clusters of a scenario, with new keys. */
export async function clustersOf(scenario: Scenario): Promise<Published> {
  return { keys: await createClusterKeys(), parts: partsOf(scenario) }
}

/** Returns the variables of a gateway that answers everybody from these clusters. */
export function gatewayVariables(
  scenario: Scenario,
  { keys, parts }: Published,
): Readonly<Record<string, string>> {
  const { publicKey, tokenSha256 } = keys
  const known = parts.map(({ cluster }) => [cluster, { publicKey, tokenSha256 }])
  return {
    COREFILE: edgeCorefile(scenario, parts),
    CLUSTERS: JSON.stringify(Object.fromEntries(known)),
    PUBLIC: 'true',
    REQUESTS_PER_MINUTE: '0',
  }
}

/** Publishes the scenario's objects as `kubedoh export` does. */
export async function publish(
  url: string,
  { keys, parts }: Published,
  { scenario, objects, etcd }: Place,
): Promise<void> {
  if (scenario.cluster === '' && etcd === '') return
  const { localAddresses } = scenario
  const key = await importPrivateKey(keys.signingKey)
  for (const { cluster, kubernetes, externals, zones } of parts) {
    const [first] = kubernetes
    if (key === undefined) throw new TypeError('no key to sign with')
    const options =
      first === undefined
        ? defaultKubernetes({ file: '', line: 1, column: 1 }, [nameOf('cluster.local.')])
        : parseKubernetes({ ...first, args: [] }, zones)
    const trees = externals.map((directive): ExternalTree => {
      const { ttlSeconds, hasEndpoints } = parseExternal([directive], zones)
      return { kind: 'external', ttlSeconds, hasEndpoints }
    })
    const source = createObjectSource(readObjectFiles(objects).objects, {
      naming: namingOptions(options, localAddresses),
      trees: publishedTrees(options, { localAddresses, cluster, trees }),
      keys: keysOf(etcd),
      onWarning: () => undefined,
      now: Date.now,
    })
    const gateway = createGatewayClient({ url, cluster, token: keys.token })
    const publisher = new Publisher({ cluster, gateway, key, now: Date.now })
    await publisher.publish(source.build(), { sources: {}, confirmedMs: Date.now() })
  }
}

/** Returns the keys of a file, as `kubedoh export --etcd FILE` reads them. */
function keysOf(file: string): KeyTree | undefined {
  if (file === '') return undefined
  const tree = new KeyTree(() => undefined)
  const sources = new KeySources({
    file,
    log: () => undefined,
    onChange: (change) => {
      if (change.kind === 'put') tree.set(change.stored)
    },
  })
  const nowhere = { endpoints: [], tls: {}, credentials: undefined }
  sources.open({ file, line: 1, column: 1, path: '', ...nowhere })
  tree.complete()
  return tree
}

/** The directives of one exporter, which takes one set of options: more are more clusters. */
type Part = {
  readonly cluster: string
  readonly kubernetes: Directive[]
  readonly externals: Directive[]
  /** The zones of all its `kubernetes` directives. */
  readonly zones: Uint8Array[]
}

function partsOf(scenario: Scenario): readonly Part[] {
  const clusters = new Map<string, Part>()
  for (const { keys, directives } of parse(scenario)) {
    const directive = directives.find(({ name }) => name === 'kubernetes')
    if (directive === undefined) continue
    const lines = directive.lines.map(({ words }) => words.map(({ text }) => text).join(' '))
    const id = lines.filter((line) => !NOT_EXPORTED.test(line)).join('\n')
    const one = clusters.get(id) ?? newCluster(clusters.size)
    clusters.set(id, one)
    one.kubernetes.push(directive)
    one.externals.push(...directives.filter(({ name }) => name === 'k8s_external'))
    const own = keys.map(({ zone }) => zone)
    one.zones.push(...parseKubernetes(directive, own).zones)
  }
  return clusters.size === 0 && scenario.etcd !== undefined
    ? [newCluster(0)]
    : [...clusters.values()]
}

function newCluster(index: number): Part {
  return { cluster: `test-${index}`, kubernetes: [], externals: [], zones: [] }
}

function parse({ corefile, imports, environment }: Scenario): readonly ServerBlock[] {
  const { source } = readVariableFiles({ FILES: imports ?? {}, ...environment })
  return parseCorefile(corefile, 'Corefile', source)
}

/** The Corefile as it is, but for the names of clusters where there are several. */
function edgeCorefile({ corefile }: Scenario, clusters: readonly Part[]): string {
  if (clusters.length < 2) return corefile
  const lines = corefile.split('\n')
  for (const { cluster, kubernetes } of clusters) {
    for (const { line } of kubernetes) {
      const text = lines[line - 1] ?? ''
      const isOpen = text.trimEnd().endsWith('{')
      lines[line - 1] = isOpen ? `${text}\ncluster ${cluster}` : `${text} {\ncluster ${cluster}\n}`
    }
  }
  return lines.join('\n')
}
