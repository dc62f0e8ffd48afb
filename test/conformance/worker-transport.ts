/**
 * Answers of the gateway in workerd, as it is deployed: our exporter publishes the scenario's cluster
 * to it, and its upstreams are asked over HTTPS.
 * @module
 */
import { hostname } from 'node:os'
import { Response } from 'miniflare'
import { type LocalGatewayOptions, startGateway } from '../../build/local-gateway.ts'
import type { ExternalTree } from '../../src/corefile/cluster-tree.ts'
import { parseKubernetes } from '../../src/corefile/kubernetes-options.ts'
import { parseCorefile } from '../../src/corefile/parse-corefile.ts'
import type { Directive, ServerBlock } from '../../src/corefile/server-block.ts'
import { WIRE_TYPE } from '../../src/doh/negotiate.ts'
import { type ClusterKeys, createClusterKeys } from '../../src/exporter/cluster-keys.ts'
import { createObjectSource } from '../../src/exporter/export-source.ts'
import { createGatewayClient } from '../../src/exporter/gateway-client.ts'
import { namingOptions, publishedTrees } from '../../src/exporter/naming.ts'
import { readObjectFiles } from '../../src/exporter/object-files.ts'
import { Publisher } from '../../src/exporter/publisher.ts'
import { differenceAt } from '../../src/gateway/gateway-plugins.ts'
import { readVariableFiles } from '../../src/gateway/variable-files.ts'
import { ALL_PLUGINS } from '../../src/plugins/all-plugins.ts'
import { parseExternal } from '../../src/plugins/k8s-external/options.ts'
import { importPrivateKey } from '../../src/snapshot/format/signature.ts'
import { sendTo } from '../doh/replies.ts'
import type { Case, Scenario } from './scenario.ts'
import type { Place, Transport } from './transports.ts'
import { answerRecorded, type RecordedAnswers, recordedAnswers } from './upstream.ts'

/** Options that say nothing about the records: for the reader, or the default. */
const NOT_EXPORTED = /^(fallthrough\b.*|pods disabled)$/
/** The Pod from which the scenario of `autopath` was asked. */
const POD = '127.0.8.11'
/** In the answers that name the machine. */
const HOSTNAME = `"${hostname()}"`
/** Returns why the gateway in workerd cannot have a scenario; `undefined` when it can. */
export function whyNotAtTheEdge(scenario: Scenario): string | undefined {
  if (scenario.etcd !== undefined) return 'names from etcd are not published to gateways'
  const names = parse(scenario).flatMap(({ directives }) => directives.map(({ name }) => name))
  if (clustersOf(scenario).some(({ externals }) => externals.length > 1)) {
    return 'a cluster is published with one k8s_external'
  }
  const refused = [...ALL_PLUGINS.values()].filter(
    (plugin) => names.includes(plugin.name) && differenceAt(plugin, 'worker')?.is === 'refused',
  )
  if (refused.length === 0) return undefined
  return `a Worker refuses ${refused.map(({ name }) => name).join(', ')}`
}

/** Returns why the gateway in workerd answers a case otherwise on purpose; else `undefined`. */
export function whyNotCaseAtTheEdge({ id, src, qname, expect }: Case): string | undefined {
  if (id.startsWith('autopath-') && src === POD) return 'a gateway knows no Pods and search lists'
  if (expect.answer?.some((line) => line.includes(HOSTNAME))) return 'a Worker has no hostname'
  if (/(^|\.)stale\.test\.$/i.test(qname)) {
    return 'a Worker refreshes within the request: it asks the upstream before it answers stale'
  }
  const isInCluster = (name: string): boolean => /\.cluster\.local\.$/i.test(name)
  const leadsInside = expect.answer?.some((line) => / CNAME /.test(line) && isInCluster(line))
  if (leadsInside !== true || isInCluster(qname)) return undefined
  return 'at the edge a CNAME into the cluster stays below the origin that was asked'
}

/** Starts the gateway, publishes the scenario's cluster, and answers from it. */
export async function openWorker({ scenario, ...place }: Place): Promise<Transport> {
  const keys = await createClusterKeys()
  const { publicKey, tokenSha256 } = keys
  const clusters = clustersOf(scenario)
  const known = clusters.map(({ cluster }) => [cluster, { publicKey, tokenSha256 }])
  const gateway = await startGateway({
    outbound: dohUpstreams(scenario),
    variables: {
      ...scenario.environment,
      ...upstreamVariables(scenario),
      COREFILE: edgeCorefile(scenario, clusters),
      FILES: JSON.stringify({ ...scenario.imports, ...scenario.files }),
      CLUSTERS: JSON.stringify(Object.fromEntries(known)),
      PUBLIC: 'true',
      REQUESTS_PER_MINUTE: '0',
    },
  })
  const port = Number(new URL(gateway.url).port)
  if (scenario.cluster !== '') {
    for (const one of clusters) await publish(gateway.url, keys, { ...place, scenario, ...one })
  }
  return {
    ask: async ({ src }: Case, body) => {
      const from = src === undefined ? {} : { 'cf-connecting-ip': src }
      const headers = { 'content-type': WIRE_TYPE, accept: WIRE_TYPE, ...from }
      const got = await sendTo(port, { method: 'POST', path: '/dns-query', body, headers })
      return got.status === 200 ? [got.body] : []
    },
    close: gateway.stop,
  }
}

/** Publishes the scenario's objects as `kubedoh export` does. */
async function publish(url: string, keys: ClusterKeys, place: Place & Published): Promise<void> {
  const { cluster, kubernetes, externals, zones } = place
  const { localAddresses } = place.scenario
  const [first] = kubernetes
  const key = await importPrivateKey(keys.signingKey)
  if (first === undefined || key === undefined) throw new TypeError('nothing to publish')
  const options = parseKubernetes({ ...first, args: [] }, zones)
  const trees = externals.map((directive): ExternalTree => {
    const { ttlSeconds, hasEndpoints } = parseExternal([directive], zones)
    return { kind: 'external', ttlSeconds, hasEndpoints }
  })
  const source = createObjectSource(readObjectFiles(place.objects).objects, {
    naming: namingOptions(options, localAddresses),
    trees: publishedTrees(options, { localAddresses, cluster, trees }),
    onWarning: () => undefined,
    now: Date.now,
  })
  const gateway = createGatewayClient({ url, cluster, token: keys.token })
  const publisher = new Publisher({ cluster, gateway, key, now: Date.now })
  await publisher.publish(source.build(), { sources: {}, confirmedMs: Date.now() })
}

/** The directives of one exporter, which takes one set of options: more are more clusters. */
type Published = {
  readonly cluster: string
  readonly kubernetes: Directive[]
  readonly externals: Directive[]
  /** The zones of all its `kubernetes` directives. */
  readonly zones: Uint8Array[]
}

function clustersOf(scenario: Scenario): readonly Published[] {
  const clusters = new Map<string, Published>()
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
  return [...clusters.values()]
}

function newCluster(index: number): Published {
  return { cluster: `test-${index}`, kubernetes: [], externals: [], zones: [] }
}

function parse({ corefile, imports, environment }: Scenario): readonly ServerBlock[] {
  const { source } = readVariableFiles({ FILES: imports ?? {}, ...environment })
  return parseCorefile(corefile, 'Corefile', source)
}

/** The Corefile as it is, but for the names of clusters where there are several. */
function edgeCorefile({ corefile }: Scenario, clusters: readonly Published[]): string {
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

/** The upstreams, as a Worker can query them. */
function upstreamVariables({ upstreams }: Scenario): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.keys(upstreams).map((name) => [name, `https://${hostOf(name)}/dns-query`]),
  )
}

function hostOf(variable: string): string {
  return `${variable.toLowerCase().replaceAll('_', '-')}.test`
}

/** Answers for all upstreams of a scenario, by the host that a request names. */
function dohUpstreams({ upstreams }: Scenario): NonNullable<LocalGatewayOptions['outbound']> {
  const byHost = new Map<string, RecordedAnswers>()
  for (const [variable, fixtures] of Object.entries(upstreams)) {
    if (fixtures !== null) byHost.set(hostOf(variable), recordedAnswers(fixtures))
  }
  return async (request) => {
    const known = byHost.get(new URL(request.url).hostname)
    const message = Buffer.from(await request.arrayBuffer())
    const reply = known && answerRecorded(known, message, 65_535)
    if (reply === undefined) return new Response(null, { status: 502 })
    return new Response(reply, { headers: { 'content-type': WIRE_TYPE } })
  }
}
