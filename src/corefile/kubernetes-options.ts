/**
 * Options of the `kubernetes` directive (github.com/coredns/coredns, plugin/kubernetes/setup.go)
 * and our own, such as `cluster`. Not part of the plugin, because the snapshot builder needs them
 * too.
 * @module
 */
import { IN_ADDR_ARPA, IP6_ARPA } from '../dns/names/address.ts'
import { formatName, isSubdomain, nameKey, ROOT } from '../dns/names/name.ts'
import { API_DEFAULTS, API_READERS, type ApiOptions, noticeUnused } from './api-options.ts'
import {
  argTexts,
  firstWord,
  flag,
  type Option,
  type OptionReaders,
  onlyWord,
  options,
  parseChoice,
  parseCount,
  readOptions,
  zonesOf,
} from './arguments.ts'
import { configError, type Position, type Problem, problemAt } from './problem.ts'
import type { Directive } from './server-block.ts'
import { EVERY_CLUSTER, wildcardParent } from './wildcard-zone.ts'

/** The options of a `kubernetes` directive. */
export type KubernetesOptions = Position &
  ApiOptions & {
    /** Zones to answer, absolute and in lower case; at least one is not a reverse zone. */
    readonly zones: readonly Uint8Array[]
    /** The zones of `zones` that answer for a clusterset (MCS-API). */
    readonly multiclusterZones: readonly Uint8Array[]
    /**
     * ID of the cluster whose published snapshots are served, `*` for each that publishes;
     * `undefined` to watch the cluster.
     */
    readonly cluster: string | undefined
    /** IDs of all clusters; with more than one, the zones merge the names of these clusters. */
    readonly clusters: readonly string[]
    /**
     * How merged names treat a stale cluster: `union` ignores it if another cluster has the name,
     * `keep` still merges it, `fail` answers SERVFAIL while a cluster is too stale to use.
     */
    readonly stale: 'union' | 'keep' | 'fail'
    /** Whether NXDOMAIN and NODATA follow CoreDNS or the RFCs. */
    readonly rules: 'coredns' | 'rfc'
    /** Naming scheme of Services. */
    readonly naming: 'kubernetes' | 'openshift3'
    readonly pods: 'disabled' | 'insecure' | 'verified'
    readonly ttlSeconds: number
    readonly usesPodNames: boolean
    readonly hasEndpoints: boolean
    /** Whether headless Services have a name for each topology zone. */
    readonly isZonal: boolean
    readonly ignoresEmptyServices: boolean
    readonly namespaces: readonly string[]
    /** Label selectors; '' for none. */
    readonly namespaceLabels: string
    readonly labels: string
    /** Zones whose unknown names the next plugin answers. */
    readonly fallthrough: readonly Uint8Array[] | undefined
    /** Whether the next plugin answers what this one cannot: names of a cluster not read yet. */
    readonly hasFallback: boolean
    /** Warnings about options that have no effect or a surprising one. */
    readonly notices: readonly Problem[]
  }

/** Maximum number of merged clusters: each query looks its name up in all of them. */
const CLUSTERS_MAX = 100
const TTL_SECONDS_DEFAULT = 5
const TTL_SECONDS_MAX = 3600
/** TTL of SkyDNS in OpenShift 3 (openshift/origin, pkg/dns/serviceresolver.go). */
const OPENSHIFT3_TTL_SECONDS = 30

type Draft = {
  -readonly [Key in keyof KubernetesOptions]: KubernetesOptions[Key]
} & { notices: Problem[] }

/** Parsers of the options by name. */
const READERS: OptionReaders<Draft> = {
  cluster: (option) => {
    const clusters = argTexts(option, 1, CLUSTERS_MAX)
    return { clusters, cluster: clusters[0] }
  },
  answers: (option) => ({ rules: parseChoice(onlyWord(option), ['coredns', 'rfc']) }),
  naming: (option) => ({ naming: parseChoice(onlyWord(option), ['kubernetes', 'openshift3']) }),
  pods: (option) => ({
    pods: parseChoice(onlyWord(option), ['disabled', 'insecure', 'verified']),
  }),
  ttl: (option, { notices }) => ({
    ttlSeconds: parseCount(firstWord(option, notices), 0, TTL_SECONDS_MAX),
  }),
  multicluster: ({ args }) => ({ multiclusterZones: zonesOf(args, []) }),
  zonal: (option) => ({ isZonal: flag(option) }),
  endpoint_pod_names: (option) => ({ usesPodNames: flag(option) }),
  noendpoints: (option) => ({ hasEndpoints: !flag(option) }),
  ignore: (option, { notices }) => {
    if (option.args.length === 0) {
      notices.push(problemAt(option, '"ignore" without "empty_service" has no effect'))
      return
    }
    const word = firstWord(option, notices)
    if (word.text === 'empty_service') return { ignoresEmptyServices: true }
    throw configError(word, '"ignore" accepts only "empty_service"')
  },
  namespaces: (option, { namespaces }) => ({
    namespaces: [...namespaces, ...argTexts(option, 1, Infinity)],
  }),
  namespace_labels: (option) => ({ namespaceLabels: argTexts(option, 1, Infinity).join(' ') }),
  labels: (option) => ({ labels: argTexts(option, 1, Infinity).join(' ') }),
  fallthrough: ({ args }) => ({ fallthrough: zonesOf(args, [ROOT]) }),
  fallback: (option) => ({ hasFallback: flag(option) }),
  stale: (option) => ({ stale: parseChoice(onlyWord(option), ['union', 'keep', 'fail']) }),
  ...API_READERS,
}

/** Options that shape the records; for published clusters the exporter's Corefile sets them. */
export const KUBERNETES_SHAPING_OPTIONS: ReadonlySet<string> = new Set([
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
 * Parses a `kubernetes` directive.
 * @param blockZones the server block's zones, used if the directive has none
 * @throws {ConfigError} at the first error
 */
export function parseKubernetes(
  directive: Directive,
  blockZones: readonly Uint8Array[],
): KubernetesOptions {
  const draft = defaults(directive, zonesOf(directive.args, blockZones))
  readOptions(directive, READERS, draft)
  const given = options(directive)
  applyNaming(draft, given)
  checkClusters(draft, given)
  checkTogether(draft, given)
  noticeUnused(draft)
  return draft
}

/** Returns the default options, for a cluster that no `kubernetes` directive configures. */
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
    hasFallback: false,
    ...API_DEFAULTS,
    notices: [],
  }
}

/** Applies the defaults of `naming openshift3`. */
function applyNaming(draft: Draft, given: readonly Option[]): void {
  if (draft.naming !== 'openshift3') return
  const isGiven = (name: string): boolean => given.some((option) => option.name === name)
  if (!isGiven('ttl')) draft.ttlSeconds = OPENSHIFT3_TTL_SECONDS
  if (!isGiven('pods')) draft.pods = 'insecure'
}

/** Returns whether a zone is in in-addr.arpa or ip6.arpa. */
export function isReverseZone(zone: Uint8Array): boolean {
  return isSubdomain(zone, IN_ADDR_ARPA) || isSubdomain(zone, IP6_ARPA)
}

/** Checks options of merged clusters, whose zones cannot be reverse zones. */
function checkClusters(draft: Draft, given: readonly Option[]): void {
  const { clusters, zones } = draft
  const stale = given.find(({ name }) => name === 'stale')
  if (stale !== undefined && clusters.length < 2) {
    throw configError(stale, '"stale" needs several clusters; list them after "cluster"')
  }
  if (clusters.includes(EVERY_CLUSTER)) checkEvery(draft)
  if (clusters.length < 2) return
  const fallback = given.find(({ name }) => name === 'fallback')
  if (fallback !== undefined) {
    throw configError(fallback, '"fallback" works with one cluster only; remove it')
  }
  const reverse = zones.find(isReverseZone)
  if (reverse !== undefined) {
    const text = formatName(reverse)
    throw configError(draft, `reverse zone "${text}" cannot have several clusters; remove it here`)
  }
  if (new Set(clusters).size < clusters.length) {
    throw configError(draft, '"cluster" lists a cluster twice; remove one')
  }
  draft.multiclusterZones = zones
  const cluster = given.find(({ name }) => name === 'cluster')
  const texts = zones.map((zone) => formatName(zone)).join(' ')
  const message =
    `${clusters.length} clusters form a clusterset: in ${texts}, Services with the same name and ` +
    'namespace share their endpoints; to keep clusters apart, give each its own zones'
  draft.notices.push(problemAt(cluster ?? draft, message))
}

/** Checks a directive that answers for each cluster, in zones with the cluster's identifier. */
function checkEvery(draft: Draft): void {
  const { clusters, zones, multiclusterZones } = draft
  if (clusters.length > 1) throw configError(draft, '"cluster *" stands alone; list no others')
  const parents = zones.map((zone) => {
    const parent = wildcardParent(zone)
    if (parent !== undefined) return parent
    const message = '"cluster *" needs zones such as *.k8s.example.org, and has'
    throw configError(draft, `${message} "${formatName(zone)}"`)
  })
  const inner = parents.find((one) =>
    parents.some((other) => other !== one && isSubdomain(one, other)),
  )
  if (inner !== undefined) {
    const text = formatName(inner)
    throw configError(draft, `zones of "cluster *" overlap at "${text}"; remove one of them`)
  }
  if (multiclusterZones.length > 0) {
    throw configError(draft, '"cluster *" works without "multicluster"; remove it')
  }
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
    throw configError(multicluster, `"${text}" is not a zone of this "kubernetes"; add it there`)
  }
  const zonal = given.find(({ name }) => name === 'zonal')
  if (zonal !== undefined && !draft.hasEndpoints) {
    throw configError(zonal, '"zonal" needs endpoints; remove "noendpoints"')
  }
  if (zonal !== undefined && draft.naming === 'openshift3') {
    throw configError(zonal, '"zonal" does not work with "naming openshift3"; remove one of them')
  }
}
