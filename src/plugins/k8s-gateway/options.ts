/**
 * The `k8s_gateway` directive's options (github.com/k8s-gateway/k8s_gateway, setup.go).
 * @module
 */
import {
  API_DEFAULTS,
  API_READERS,
  type ApiDraft,
  type ApiOptions,
} from '../../corefile/api-options.ts'
import {
  argTexts,
  firstWord,
  type Option,
  parseCount,
  readOptions,
  zonesOf,
} from '../../corefile/arguments.ts'
import type { HostResource, HostsTree } from '../../corefile/cluster-tree.ts'
import { configError, type Problem, problemAt } from '../../corefile/problem.ts'
import type { Directive } from '../../corefile/server-block.ts'
import { formatName, parseRelativeName, ROOT } from '../../dns/name.ts'
import type { Fallthrough } from '../../plugin-kit/zones.ts'

/** The options of one directive. */
export type GatewayOptions = {
  /** Absolute and in lower case. */
  readonly zones: readonly Uint8Array[]
  /** The labels of the name server below each zone. */
  readonly apex: Uint8Array
  /** The labels of the second name server; `undefined` for none. */
  readonly secondary: Uint8Array | undefined
  readonly tree: HostsTree
  readonly kubeconfig: ApiOptions['kubeconfig']
  readonly fallthrough: Fallthrough
  readonly notices: readonly Problem[]
}

type Draft = { -readonly [Key in keyof HostsTree]: HostsTree[Key] } & {
  apex: Uint8Array
  secondary: Uint8Array | undefined
  api: ApiDraft
  fallthrough: Fallthrough
  readonly notices: Problem[]
}

const RESOURCES: readonly HostResource[] = [
  'HTTPRoute',
  'TLSRoute',
  'GRPCRoute',
  'Ingress',
  'Service',
  'DNSEndpoint',
  'Node',
  'VirtualServer',
]
const RESOURCES_DEFAULT: readonly HostResource[] = ['Ingress', 'Service']
const APEX_DEFAULT = parseRelativeName('dns1.kube-system') ?? ROOT
const TTL_SECONDS_DEFAULT = 60
const TTL_SECONDS_MAX = 3600

/** Applies each option to the draft. */
const READERS: Readonly<Record<string, (option: Option, draft: Draft) => void>> = {
  resources: (option, draft) => {
    draft.resources = parseResources(option, draft.notices)
  },
  ttl: (option, draft) => {
    draft.ttlSeconds = parseCount(firstWord(option, draft.notices), 0, TTL_SECONDS_MAX)
  },
  apex: (option, draft) => {
    draft.apex = parseServer(option, draft.notices)
  },
  secondary: (option, draft) => {
    draft.secondary = parseServer(option, draft.notices)
  },
  kubeconfig: (option, draft) => {
    API_READERS.kubeconfig?.(option, draft.api)
  },
  ingressClasses: (option, draft) => {
    draft.ingressClasses = argTexts(option, 1, Infinity)
  },
  gatewayClasses: (option, draft) => {
    draft.gatewayClasses = argTexts(option, 1, Infinity)
  },
  serviceLabelSelectors: (option, draft) => {
    draft.serviceSelectors = [...draft.serviceSelectors, ...parseSelectors(option)]
  },
  nodeAddressType: (option, draft) => {
    const [type = ''] = argTexts(option, 1)
    if (type !== 'InternalIP' && type !== 'ExternalIP') {
      throw configError(option.args[0] ?? option, `"${type}" is not one of InternalIP, ExternalIP`)
    }
    draft.nodeAddressType = type
  },
  fallthrough: (option, draft) => {
    draft.fallthrough = zonesOf(option.args, [ROOT])
  },
}

/**
 * Parses one directive.
 * @param blockZones the server block's zones, used when the directive names none
 * @throws {ConfigError} at the invalid word
 */
export function parseGateway(
  directive: Directive,
  blockZones: readonly Uint8Array[],
): GatewayOptions {
  const notices: Problem[] = []
  const draft: Draft = {
    kind: 'hosts',
    zones: [],
    resources: RESOURCES_DEFAULT,
    ttlSeconds: TTL_SECONDS_DEFAULT,
    ingressClasses: [],
    gatewayClasses: [],
    serviceSelectors: [],
    nodeAddressType: 'InternalIP',
    apex: APEX_DEFAULT,
    secondary: undefined,
    api: { ...API_DEFAULTS, notices },
    fallthrough: undefined,
    notices,
  }
  const zones = zonesOf(directive.args, blockZones)
  readOptions(directive, READERS, draft)
  const { apex, secondary, api, fallthrough, notices: _, ...tree } = draft
  const texts = zones.map((zone) => formatName(zone).slice(0, -1))
  const { kubeconfig } = api
  return {
    zones,
    apex,
    secondary,
    tree: { ...tree, zones: texts },
    kubeconfig,
    fallthrough,
    notices,
  }
}

/** Returns the known kinds and warns of unknown ones, which k8s_gateway ignores as well. */
function parseResources(option: Option, notices: Problem[]): HostResource[] {
  argTexts(option, 1, Infinity)
  const known = new Set<HostResource>()
  for (const word of option.args) {
    const resource = RESOURCES.find((one) => one === word.text)
    if (resource !== undefined) known.add(resource)
    else {
      const message = `"${word.text}" is ignored: it is not one of ${RESOURCES.join(', ')}`
      notices.push(problemAt(word, message))
    }
  }
  return [...known]
}

function parseServer(option: Option, notices: Problem[]): Uint8Array {
  const word = firstWord(option, notices)
  const labels = parseRelativeName(word.text.toLowerCase().replace(/\.$/, ''))
  if (labels !== undefined && labels.length > 0) return labels
  throw configError(word, `"${word.text}" is not a name such as "dns1.kube-system"`)
}

function parseSelectors(option: Option): string[] {
  const texts = argTexts(option, 1, Infinity)
  const empty = option.args.find(({ text }) => text === '')
  if (empty !== undefined) {
    throw configError(empty, '"serviceLabelSelectors" takes label selectors such as "tier=gold"')
  }
  return texts
}
