/**
 * The `k8s_gateway` directive's options (github.com/k8s-gateway/k8s_gateway, setup.go).
 * @module
 */

import { type ApiOptions, readKubeconfig } from '../../../corefile/api-options.ts'
import {
  argTexts,
  firstWord,
  flag,
  type Option,
  type OptionReaders,
  onlyWord,
  parseChoice,
  parseCount,
  readOptions,
  zonesOf,
} from '../../../corefile/arguments.ts'
import {
  HOST_RESOURCES,
  type HostResource,
  type HostsTree,
  type RecordZones,
  type RouterTarget,
} from '../../../corefile/cluster-tree.ts'
import { configError, type Problem, problemAt } from '../../../corefile/problem.ts'
import type { Directive } from '../../../corefile/server-block.ts'
import { parseAddress } from '../../../dns/names/address.ts'
import { formatName, parseRelativeName, ROOT } from '../../../dns/names/name.ts'
import { parseServerName } from '../../plugin-kit/authority.ts'
import type { Fallthrough } from '../../plugin-kit/zones.ts'

/** The options of one directive. */
export type K8sGatewayOptions = {
  /** Absolute and in lower case. */
  readonly zones: readonly Uint8Array[]
  /** The labels of the name server below each zone. */
  readonly apex: Uint8Array
  /** The labels of the second name server; `undefined` for none. */
  readonly secondary: Uint8Array | undefined
  readonly tree: HostsTree
  readonly kubeconfig: ApiOptions['kubeconfig']
  /** ID of the cluster whose published names are served; `undefined` to watch a cluster. */
  readonly cluster: string | undefined
  readonly fallthrough: Fallthrough
  readonly notices: readonly Problem[]
}

type Draft = HostsTree &
  Omit<K8sGatewayOptions, 'zones' | 'tree' | 'notices'> & { readonly notices: Problem[] }

const RESOURCES_DEFAULT: readonly HostResource[] = ['Ingress', 'Service']
const EXAMPLE = 'dns1.kube-system'
const APEX_DEFAULT = parseRelativeName(EXAMPLE) ?? ROOT
/** The prefixes that external-dns itself has had. */
const PREFIXES = ['external-dns.alpha.kubernetes.io/', 'external-dns.kubernetes.io/']
/** HostRoutes have no names without the option. */
const NO_ROUTER: RouterTarget = { kind: 'addresses', addresses: [] }
const TTL_SECONDS_DEFAULT = 60
const TTL_SECONDS_MAX = 3600
const ROUTER_ADDRESSES_MAX = 16

const READERS: OptionReaders<Draft> = {
  resources: (option, { notices }) => ({ resources: parseResources(option, notices) }),
  ttl: (option, { notices }) => ({
    ttlSeconds: parseCount(firstWord(option, notices), 0, TTL_SECONDS_MAX),
  }),
  apex: (option, { notices }) => ({ apex: parseServerName(option, EXAMPLE, notices) }),
  secondary: (option, { notices }) => ({ secondary: parseServerName(option, EXAMPLE, notices) }),
  kubeconfig: (option) => ({ kubeconfig: readKubeconfig(option) }),
  annotations: (option) => ({ annotations: parsePrefixes(option) }),
  clusterIPs: (option) => ({ hasClusterIPs: flag(option) }),
  serviceBindings: (option) => ({ hasBindings: flag(option) }),
  recordZones: (option, { zones, recordZones }) => ({
    recordZones: [...recordZones, parseRecordZones(option, zones)],
  }),
  router: (option) => ({ router: parseRouter(option) }),
  cluster: (option) => ({ cluster: onlyWord(option).text }),
  ingressClasses: (option) => ({ ingressClasses: argTexts(option, 1, Infinity) }),
  gatewayClasses: (option) => ({ gatewayClasses: argTexts(option, 1, Infinity) }),
  serviceLabelSelectors: (option, { serviceSelectors }) => ({
    serviceSelectors: [...serviceSelectors, ...parseSelectors(option)],
  }),
  nodeAddressType: (option) => ({
    nodeAddressType: parseChoice(onlyWord(option), ['InternalIP', 'ExternalIP']),
  }),
  fallthrough: ({ args }) => ({ fallthrough: zonesOf(args, [ROOT]) }),
}

/** Options that shape the names; for published names, those of the exporter's Corefile count. */
export const K8S_GATEWAY_SHAPING_OPTIONS: ReadonlySet<string> = new Set([
  'resources',
  'ttl',
  'kubeconfig',
  'ingressClasses',
  'gatewayClasses',
  'serviceLabelSelectors',
  'nodeAddressType',
  'annotations',
  'serviceBindings',
  'recordZones',
  'router',
])

/**
 * Parses one directive.
 * @param blockZones the server block's zones, used when the directive names none
 * @throws {ConfigError} at the invalid word
 */
export function parseK8sGateway(
  directive: Directive,
  blockZones: readonly Uint8Array[],
): K8sGatewayOptions {
  const zones = zonesOf(directive.args, blockZones)
  const draft: Draft = {
    kind: 'hosts',
    zones: zones.map(zoneText),
    resources: RESOURCES_DEFAULT,
    ttlSeconds: TTL_SECONDS_DEFAULT,
    ingressClasses: [],
    gatewayClasses: [],
    serviceSelectors: [],
    nodeAddressType: 'InternalIP',
    annotations: [],
    hasBindings: false,
    hasClusterIPs: false,
    recordZones: [],
    router: NO_ROUTER,
    apex: APEX_DEFAULT,
    secondary: undefined,
    kubeconfig: undefined,
    cluster: undefined,
    fallthrough: undefined,
    notices: [],
  }
  readOptions(directive, READERS, draft)
  const { apex, secondary, kubeconfig, cluster, fallthrough, notices, ...tree } = draft
  for (const kind of ['DNSRecord', 'HostRoute'] as const) {
    if (!tree.resources.includes(kind) || tree.recordZones.length > 0) continue
    const message = `${kind}s have no names without "recordZones NAMESPACE ZONE..."`
    notices.push(problemAt(directive, message))
  }
  if (tree.resources.includes('HostRoute') && tree.router === NO_ROUTER) {
    notices.push(problemAt(directive, `HostRoutes have no names without "${ROUTER_FORMS}"`))
  }
  return { apex, secondary, kubeconfig, cluster, fallthrough, notices, zones, tree }
}

function zoneText(zone: Uint8Array): string {
  return formatName(zone).slice(0, -1)
}

const ROUTER_FORMS = 'router ADDRESS... | router Service|ClusterIP|Gateway NAMESPACE/NAME'

/** @throws {ConfigError} at a word that is neither an address nor a reference */
function parseRouter(option: Option): RouterTarget {
  const [kind = '', key = ''] = argTexts(option, 1, ROUTER_ADDRESSES_MAX)
  const [, namespace, name] = /^([a-z0-9-]{1,63})\/([a-z0-9.-]{1,253})$/.exec(key) ?? []
  if (kind === 'Gateway' || kind === 'Service' || kind === 'ClusterIP') {
    const isReference = namespace !== undefined && name !== undefined && option.args.length === 2
    if (isReference) return { kind, namespace, name }
    throw configError(option.args[0] ?? option, `expected "router ${kind} NAMESPACE/NAME"`)
  }
  const addresses = option.args.map((word) => {
    if (parseAddress(word.text) !== undefined) return word.text
    throw configError(word, `"${word.text}" is no address; expected "${ROUTER_FORMS}"`)
  })
  return { kind: 'addresses', addresses }
}

/** @throws {ConfigError} at a zone outside of the directive's */
function parseRecordZones(option: Option, within: readonly string[]): RecordZones {
  const [namespace = ''] = argTexts(option, 2, Infinity)
  const zones = option.args.slice(1).map((word) => {
    const [zone = ''] = zonesOf([word], []).map(zoneText)
    const isHere = within.some((own) => own === '' || zone === own || zone.endsWith(`.${own}`))
    if (!isHere) throw configError(word, `"${word.text}" is outside of the zones of k8s_gateway`)
    return zone
  })
  return { namespace, zones }
}

/** Returns the known kinds and warns of unknown ones, which k8s_gateway ignores as well. */
function parseResources(option: Option, notices: Problem[]): HostResource[] {
  argTexts(option, 1, Infinity)
  const known = new Set<HostResource>()
  for (const word of option.args) {
    const resource = HOST_RESOURCES.find((one) => one === word.text)
    if (resource !== undefined) known.add(resource)
    else {
      const message = `"${word.text}" is ignored: it is not one of ${HOST_RESOURCES.join(', ')}`
      notices.push(problemAt(word, message))
    }
  }
  return [...known]
}

/** Returns the prefixes of an option, those of external-dns by default, each with its slash. */
function parsePrefixes(option: Option): string[] {
  if (option.args.length === 0) return PREFIXES
  return argTexts(option, 1, Infinity).map((text) => (text.endsWith('/') ? text : `${text}/`))
}

function parseSelectors(option: Option): string[] {
  const texts = argTexts(option, 1, Infinity)
  const empty = option.args.find(({ text }) => text === '')
  if (empty !== undefined) {
    throw configError(empty, '"serviceLabelSelectors" takes label selectors such as "tier=gold"')
  }
  return texts
}
