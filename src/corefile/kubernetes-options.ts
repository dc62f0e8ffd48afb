/**
 * The `kubernetes` directive's options (github.com/coredns/coredns, plugin/kubernetes/setup.go) and
 * our `cluster`. Read here and not in the plugin, because who builds a snapshot needs most of them.
 * @module
 */
import { IN_ADDR_ARPA, IP6_ARPA } from '../dns/address.ts'
import { formatName, isSubdomain, nameKey, ROOT } from '../dns/name.ts'
import { API_DEFAULTS, API_READERS, type ApiOptions, noticeUnused } from './api-options.ts'
import {
  argTexts,
  firstWord,
  type Option,
  onlyWord,
  parseCount,
  readOptions,
  zonesOf,
} from './arguments.ts'
import { configError, type Position, type Problem, problemAt } from './problem.ts'
import type { Directive } from './server-block.ts'

/** A `kubernetes` directive. */
export type KubernetesOptions = Position &
  ApiOptions & {
    /** Zones to answer, absolute and in lower case, one of them not a reverse zone. */
    readonly zones: readonly Uint8Array[]
    /** Those of them, and what is below, that answer for Services of several clusters (MCS-API). */
    readonly multiclusterZones: readonly Uint8Array[]
    /** Identifier of a cluster whose snapshots are pushed; `undefined` for one that is watched. */
    readonly cluster: string | undefined
    /** All of these; with more than one, the zones have what these clusters have together. */
    readonly clusters: readonly string[]
    /**
     * What becomes of answers that several clusters have together when one is old: the others
     * answer for it as long as they know the name (`union`), it has its part all the same (`keep`),
     * or nothing is answered as long as one is too old to answer from (`fail`).
     */
    readonly stale: 'union' | 'keep' | 'fail'
    /** Whether a name exists by CoreDNS's rules or by the RFCs'. */
    readonly rules: 'coredns' | 'rfc'
    /** By which scheme Services are named. */
    readonly naming: 'kubernetes' | 'openshift3'
    readonly pods: 'disabled' | 'insecure' | 'verified'
    readonly ttlSeconds: number
    readonly usesPodNames: boolean
    readonly hasEndpoints: boolean
    /** Whether headless Services have names for each topology zone. */
    readonly isZonal: boolean
    readonly ignoresEmptyServices: boolean
    readonly namespaces: readonly string[]
    /** Label selectors as text, '' for none. */
    readonly namespaceLabels: string
    readonly labels: string
    /** Zones from which unknown names go on to the next plugin. */
    readonly fallthrough: readonly Uint8Array[] | undefined
    /** Things that work but may surprise, for people. */
    readonly notices: readonly Problem[]
  }

/** Clusters that may have names together; each is asked for each of them. */
const CLUSTERS_MAX = 100
const TTL_SECONDS_DEFAULT = 5
const TTL_SECONDS_MAX = 3600
/** What SkyDNS in OpenShift 3 said of all names (openshift/origin, pkg/dns/serviceresolver.go). */
const OPENSHIFT3_TTL_SECONDS = 30

type Draft = {
  -readonly [Key in keyof KubernetesOptions]: KubernetesOptions[Key]
} & { notices: Problem[] }

/** What each option does to the draft. */
const READERS: Readonly<Record<string, (option: Option, draft: Draft) => void>> = {
  cluster: (option, draft) => {
    draft.clusters = argTexts(option, 1, CLUSTERS_MAX)
    draft.cluster = draft.clusters[0]
  },
  answers: (option, draft) => {
    draft.rules = parseRules(option)
  },
  naming: (option, draft) => {
    draft.naming = parseNaming(option)
  },
  pods: (option, draft) => {
    draft.pods = parsePods(option)
  },
  ttl: (option, draft) => {
    draft.ttlSeconds = parseCount(firstWord(option, draft.notices), 0, TTL_SECONDS_MAX)
  },
  multicluster: (option, draft) => {
    draft.multiclusterZones = zonesOf(option.args, [])
  },
  zonal: (option, draft) => {
    argTexts(option, 0)
    draft.isZonal = true
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
    if (option.args.length === 0) {
      const message = '"ignore" without "empty_service" ignores nothing'
      draft.notices.push(problemAt(option, message))
      return
    }
    const word = firstWord(option, draft.notices)
    if (word.text !== 'empty_service') {
      throw configError(word, '"ignore" knows only "empty_service"')
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
  stale: (option, draft) => {
    draft.stale = parseStale(option)
  },
  ...API_READERS,
}

/** Options that shape records, which whoever pushes a cluster's snapshots decides. */
const SHAPING: ReadonlySet<string> = new Set([
  'pods',
  'ttl',
  'zonal',
  'endpoint_pod_names',
  'noendpoints',
  'ignore',
  'namespaces',
  'namespace_labels',
  'labels',
  ...Object.keys(API_READERS),
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
  const draft = defaults(directive, zonesOf(directive.args, blockZones))
  const given = readOptions(directive, READERS, draft)
  applyNaming(draft, given)
  checkClusters(draft, given)
  checkTogether(draft, given)
  noticeUnused(draft)
  return draft
}

/** What a cluster is read with that no `kubernetes` directive names: all options as by default. */
export function defaultKubernetes(
  directive: Position,
  zones: readonly Uint8Array[],
): KubernetesOptions {
  return defaults(directive, zones)
}

function defaults({ file, line, column }: Position, zones: readonly Uint8Array[]): Draft {
  return {
    file,
    line,
    column,
    zones,
    multiclusterZones: [],
    cluster: undefined,
    clusters: [],
    stale: 'union',
    rules: 'coredns',
    naming: 'kubernetes',
    pods: 'disabled',
    ttlSeconds: TTL_SECONDS_DEFAULT,
    usesPodNames: false,
    hasEndpoints: true,
    isZonal: false,
    ignoresEmptyServices: false,
    namespaces: [],
    namespaceLabels: '',
    labels: '',
    fallthrough: undefined,
    ...API_DEFAULTS,
    notices: [],
  }
}

/** A scheme of names has defaults of its own. */
function applyNaming(draft: Draft, given: readonly Option[]): void {
  if (draft.naming !== 'openshift3') return
  const isGiven = (name: string): boolean => given.some((option) => option.name === name)
  if (!isGiven('ttl')) draft.ttlSeconds = OPENSHIFT3_TTL_SECONDS
  if (!isGiven('pods')) draft.pods = 'insecure'
}

/** Tells whether a zone belongs to the reverse trees. */
export function isReverseZone(zone: Uint8Array): boolean {
  return isSubdomain(zone, IN_ADDR_ARPA) || isSubdomain(zone, IP6_ARPA)
}

/** All zones of several clusters have what these have together, and no names from addresses. */
function checkClusters(draft: Draft, given: readonly Option[]): void {
  const { clusters, zones } = draft
  const stale = given.find(({ name }) => name === 'stale')
  if (stale !== undefined && clusters.length < 2) {
    throw configError(stale, '"stale" is about several clusters; name them behind "cluster"')
  }
  if (clusters.length < 2) return
  const reverse = zones.find(isReverseZone)
  if (reverse !== undefined) {
    const text = formatName(reverse)
    throw configError(draft, `"${text}" can only be of one cluster; leave it out here`)
  }
  if (new Set(clusters).size < clusters.length) {
    throw configError(draft, '"cluster" names one more than once')
  }
  draft.multiclusterZones = zones
  const cluster = given.find(({ name }) => name === 'cluster')
  const texts = zones.map((zone) => formatName(zone)).join(' ')
  const message =
    `${clusters.length} clusters make a clusterset: Services of one name and namespace in ` +
    `${texts} have the endpoints of all; for names of one cluster, give each zones of its own`
  draft.notices.push(problemAt(cluster ?? draft, message))
}

function checkTogether(draft: Draft, given: readonly Option[]): void {
  if (draft.zones.every(isReverseZone)) {
    throw configError(draft, '"kubernetes" needs a zone that is not a reverse zone')
  }
  const labels = given.find(({ name }) => name === 'namespace_labels')
  if (labels !== undefined && draft.namespaces.length > 0) {
    throw configError(labels, '"namespaces" and "namespace_labels" cannot both be set')
  }
  const multicluster = given.find(({ name }) => name === 'multicluster')
  const own = new Set(draft.zones.map(nameKey))
  const foreign = draft.multiclusterZones.find((zone) => !own.has(nameKey(zone)))
  if (multicluster !== undefined && foreign !== undefined) {
    const text = formatName(foreign)
    throw configError(multicluster, `"${text}" is none of the zones of this "kubernetes"; add it`)
  }
  const zonal = given.find(({ name }) => name === 'zonal')
  if (zonal !== undefined && !draft.hasEndpoints) {
    throw configError(zonal, '"zonal" names endpoints; leave out "noendpoints"')
  }
  if (zonal !== undefined && draft.naming === 'openshift3') {
    throw configError(zonal, '"zonal" is not of "naming openshift3"; leave one of them out')
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

function parseStale(option: Option): KubernetesOptions['stale'] {
  const [stale = ''] = argTexts(option, 1)
  if (stale === 'union' || stale === 'keep' || stale === 'fail') return stale
  throw configError(onlyWord(option), `"${stale}" is not one of union, keep, fail`)
}

function parseRules(option: Option): KubernetesOptions['rules'] {
  const [rules = ''] = argTexts(option, 1)
  if (rules === 'coredns' || rules === 'rfc') return rules
  throw configError(onlyWord(option), `"${rules}" is not one of coredns, rfc`)
}

function parseNaming(option: Option): KubernetesOptions['naming'] {
  const [naming = ''] = argTexts(option, 1)
  if (naming === 'kubernetes' || naming === 'openshift3') return naming
  throw configError(onlyWord(option), `"${naming}" is not one of kubernetes, openshift3`)
}

function parsePods(option: Option): KubernetesOptions['pods'] {
  const [mode = ''] = argTexts(option, 1)
  if (mode === 'disabled' || mode === 'insecure' || mode === 'verified') return mode
  throw configError(onlyWord(option), `"${mode}" is not one of disabled, insecure, verified`)
}
