/**
 * The `kubernetes` directive's options (github.com/coredns/coredns, plugin/kubernetes/setup.go) and
 * our `cluster`. Read here and not in the plugin, because who builds a snapshot needs most of them.
 * @module
 */
import { IN_ADDR_ARPA, IP6_ARPA } from '../dns/address.ts'
import { isSubdomain, ROOT } from '../dns/name.ts'
import { argTexts, type Option, options, parseCount, unknownOption, zonesOf } from './arguments.ts'
import { configError, type Position } from './problem.ts'
import type { Directive, Word } from './server-block.ts'

/** A `kubernetes` directive. */
export type KubernetesOptions = Position & {
  /** Zones to answer, absolute and in lower case, one of them not a reverse zone. */
  readonly zones: readonly Uint8Array[]
  /** Identifier of a cluster whose snapshots are pushed; `undefined` for one that is watched. */
  readonly cluster: string | undefined
  /** Whether a name exists by CoreDNS's rules or by the RFCs'. */
  readonly rules: 'coredns' | 'rfc'
  readonly pods: 'disabled' | 'insecure' | 'verified'
  readonly ttlSeconds: number
  readonly usesPodNames: boolean
  readonly hasEndpoints: boolean
  readonly ignoresEmptyServices: boolean
  readonly namespaces: readonly string[]
  /** Label selectors as text, '' for none. */
  readonly namespaceLabels: string
  readonly labels: string
  /** Zones from which unknown names go on to the next plugin. */
  readonly fallthrough: readonly Uint8Array[] | undefined
  readonly kubeconfig: { readonly path: string; readonly context: string | undefined } | undefined
  /** URL of the API server. */
  readonly endpoint: string | undefined
  /** Files that authenticate us to `endpoint`, and it to us. */
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string } | undefined
}

const TTL_SECONDS_DEFAULT = 5
const TTL_SECONDS_MAX = 3600

type Draft = { -readonly [Key in keyof KubernetesOptions]: KubernetesOptions[Key] }

/** What each option does to the draft. */
const READERS: Readonly<Record<string, (option: Option, draft: Draft) => void>> = {
  cluster: (option, draft) => {
    draft.cluster = argTexts(option, 1)[0]
  },
  answers: (option, draft) => {
    draft.rules = parseRules(option)
  },
  pods: (option, draft) => {
    draft.pods = parsePods(option)
  },
  ttl: (option, draft) => {
    draft.ttlSeconds = parseCount(wordOf(option), 0, TTL_SECONDS_MAX)
  },
  endpoint_pod_names: (option, draft) => {
    argTexts(option, 0)
    draft.usesPodNames = true
  },
  noendpoints: (option, draft) => {
    argTexts(option, 0)
    draft.hasEndpoints = false
  },
  ignore: (option, draft) => {
    if (argTexts(option, 1)[0] !== 'empty_service') {
      throw configError(wordOf(option), '"ignore" knows only "empty_service"')
    }
    draft.ignoresEmptyServices = true
  },
  namespaces: (option, draft) => {
    draft.namespaces = [...draft.namespaces, ...argTexts(option, 1, Infinity)]
  },
  namespace_labels: (option, draft) => {
    draft.namespaceLabels = argTexts(option, 1, Infinity).join(' ')
  },
  labels: (option, draft) => {
    draft.labels = argTexts(option, 1, Infinity).join(' ')
  },
  fallthrough: (option, draft) => {
    draft.fallthrough = zonesOf(option.args, [ROOT])
  },
  kubeconfig: (option, draft) => {
    const [path = '', context] = argTexts(option, 1, 2)
    draft.kubeconfig = { path, context }
  },
  endpoint: (option, draft) => {
    draft.endpoint = argTexts(option, 1)[0]
  },
  tls: (option, draft) => {
    const [cert = '', key = '', ca = ''] = argTexts(option, 3)
    draft.tls = { cert, key, ca }
  },
}

/** Options that shape records, which whoever pushes a cluster's snapshots decides. */
const SHAPING: ReadonlySet<string> = new Set([
  'pods',
  'ttl',
  'endpoint_pod_names',
  'noendpoints',
  'ignore',
  'namespaces',
  'namespace_labels',
  'labels',
  'kubeconfig',
  'endpoint',
  'tls',
])

/**
 * Reads a `kubernetes` directive.
 * @param blockZones the server block's zones, which count when the directive names none
 * @throws {ConfigError} with the place of what is wrong
 */
export function parseKubernetes(
  directive: Directive,
  blockZones: readonly Uint8Array[],
): KubernetesOptions {
  const { file, line, column } = directive
  const draft: Draft = {
    file,
    line,
    column,
    zones: zonesOf(directive.args, blockZones),
    cluster: undefined,
    rules: 'coredns',
    pods: 'disabled',
    ttlSeconds: TTL_SECONDS_DEFAULT,
    usesPodNames: false,
    hasEndpoints: true,
    ignoresEmptyServices: false,
    namespaces: [],
    namespaceLabels: '',
    labels: '',
    fallthrough: undefined,
    kubeconfig: undefined,
    endpoint: undefined,
    tls: undefined,
  }
  const given = options(directive)
  for (const option of given) {
    const read = Object.hasOwn(READERS, option.name) ? READERS[option.name] : undefined
    if (read === undefined) throw unknownOption('kubernetes', option, Object.keys(READERS))
    read(option, draft)
  }
  checkTogether(draft, given)
  return draft
}

/** Tells whether a zone belongs to the reverse trees. */
export function isReverseZone(zone: Uint8Array): boolean {
  return isSubdomain(zone, IN_ADDR_ARPA) || isSubdomain(zone, IP6_ARPA)
}

function checkTogether(draft: Draft, given: readonly Option[]): void {
  if (draft.zones.every(isReverseZone)) {
    throw configError(draft, '"kubernetes" needs a zone that is not a reverse zone')
  }
  const labels = given.find(({ name }) => name === 'namespace_labels')
  if (labels !== undefined && draft.namespaces.length > 0) {
    throw configError(labels, '"namespaces" and "namespace_labels" cannot both be set')
  }
  const shaping = given.find(({ name }) => SHAPING.has(name))
  if (draft.cluster !== undefined && shaping !== undefined) {
    throw configError(
      shaping,
      `"${shaping.name}" belongs in the Corefile of the exporter that pushes cluster ` +
        `"${draft.cluster}"; here its snapshots are only read`,
    )
  }
}

function parseRules(option: Option): KubernetesOptions['rules'] {
  const [rules = ''] = argTexts(option, 1)
  if (rules === 'coredns' || rules === 'rfc') return rules
  throw configError(wordOf(option), `"${rules}" is not one of coredns, rfc`)
}

function parsePods(option: Option): KubernetesOptions['pods'] {
  const [mode = ''] = argTexts(option, 1)
  if (mode === 'disabled' || mode === 'insecure' || mode === 'verified') return mode
  throw configError(wordOf(option), `"${mode}" is not one of disabled, insecure, verified`)
}

function wordOf(option: Option): Word {
  argTexts(option, 1)
  const [word] = option.args
  return word ?? { ...option, text: '' }
}
