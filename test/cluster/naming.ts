/**
 * Naming as tables have it: objects as YAML in, entries as lines of a zone file out.
 *
 * Owners and targets below the zone stand without a final dot, `@` is the apex, the class is left
 * out. What zone files have no words for reads `<name> exists` and `<name> has addresses below`.
 * @module
 */
import { parseDocument } from 'yaml'
import { Cluster } from '../../src/cluster/objects/cluster.ts'
import type { ClusterObject } from '../../src/cluster/objects/objects.ts'
import type { NamingOptions, SelectedHosts } from '../../src/cluster/objects/options.ts'
import { parseObject } from '../../src/cluster/objects/parse-object.ts'
import { isSelected } from '../../src/cluster/objects/selection.ts'
import { parseSelector, type Selector } from '../../src/cluster/objects/selector.ts'
import type { HostClaim } from '../../src/cluster/rules/host-names.ts'
import { concatBytes, EMPTY } from '../../src/dns/bytes/bytes.ts'
import { reverseName } from '../../src/dns/names/address.ts'
import { formatName, nameOf, ROOT } from '../../src/dns/names/name.ts'
import { CLASS } from '../../src/dns/names/rr-class.ts'
import {
  BELOW_TYPE,
  CLAIMS_TYPE,
  MARKS_TYPE,
  readHostKey,
} from '../../src/snapshot/records/host-claims.ts'
import type { Rdata, RRset, ZoneEntry } from '../../src/snapshot/records/zone-entry.ts'
import { formatRecord } from '../../src/snapshot/records/zone-text.ts'
import { clusterRecords } from './cluster-names.ts'

/** A row of a table. */
export type NamingCase = {
  readonly name: string
  /** A YAML list of objects. */
  readonly objects: string
  readonly options?: Partial<NamingOptions>
  /** Expected lines, in any order. */
  readonly lines: string
}

/** The rule under test: what it makes of a cluster. */
export type Rule = (cluster: Cluster, options: NamingOptions) => Iterable<ZoneEntry>

/** The lines, sorted, that a rule makes of objects; without a rule, those of the whole zone. */
export function namesOf(
  { objects, options }: Pick<NamingCase, 'objects' | 'options'>,
  rule: Rule = (cluster, naming) => clusterRecords(cluster, naming).entries,
): string[] {
  const naming = optionsOf(options)
  // Which name servers are whose is not said of any name that can be asked for.
  const lines = formatEntries(rule(clusterOf(objects, naming), naming))
  return lines.filter((line) => !line.startsWith('_ns '))
}

/** Expected lines in the same form. */
export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .sort()
}

/** The options for `cluster.local` that a bare `kubernetes` directive stands for, some replaced. */
export function optionsOf(some: Partial<NamingOptions> = {}): NamingOptions {
  return {
    tree: { kind: 'cluster' },
    origins: [nameOf('cluster.local')],
    scheme: 'kubernetes',
    ttlSeconds: 5,
    pods: 'disabled',
    usesPodNames: false,
    hasEndpoints: true,
    isZonal: false,
    ignoresEmptyServices: false,
    namespaces: new Set(),
    namespaceSelector: [],
    objectSelector: [],
    localAddresses: [],
    ...some,
  }
}

/**
 * The tree of host names that a bare `k8s_gateway a.test` stands for, with all kinds of
 * objects.
 */
export function hostsTree(some: Partial<SelectedHosts> = {}): SelectedHosts {
  return {
    kind: 'hosts',
    zones: ['a.test'],
    resources: ['HTTPRoute', 'TLSRoute', 'GRPCRoute', 'Ingress', 'Service', 'DNSEndpoint', 'Node'],
    ttlSeconds: 60,
    ingressClasses: [],
    gatewayClasses: [],
    serviceSelectors: [],
    nodeAddressType: 'InternalIP',
    annotations: [],
    hasBindings: false,
    hasClusterIPs: false,
    recordZones: [],
    router: { kind: 'addresses', addresses: [] },
    ...some,
  }
}

/** A claim to a hostname that all clients see, some of it replaced. */
export function claimOf(some: Partial<HostClaim>): HostClaim {
  const marks = { isAlias: false, coverage: 'label' } as const
  const none = { hosts: [], texts: [], records: [], bindings: [], ttlSeconds: undefined, ...marks }
  return { ...none, namespace: '', rank: 0, objects: [], ...some }
}

const PRIVATE_TYPES: ReadonlySet<number> = new Set([CLAIMS_TYPE, MARKS_TYPE, BELOW_TYPE])

/**
 * Formats records of hostnames as `formatEntries` does, each as the hostname that it is of. A claim
 * that does not win has its rank in front.
 */
export function formatHosts(entries: Iterable<ZoneEntry>): string[] {
  const shown = [...entries].flatMap((entry) => {
    if (entry.kind !== 'records' || PRIVATE_TYPES.has(entry.type)) return []
    const { labels, rank } = readHostKey(entry.owner)
    const label = rank === 0 ? EMPTY : Uint8Array.of(1, 0x30 + rank)
    return [{ ...entry, owner: concatBytes(label, labels) }]
  })
  return formatEntries(shown)
}

/** A selector from its text. */
export function selectorOf(text: string): Selector {
  const selector = parseSelector(text)
  if (selector === undefined) throw new TypeError(`Not a selector: "${text}"`)
  return selector
}

/** Objects from a YAML list; one that does not parse fails the test that has it. */
export function objectsOf(yaml: string): ClusterObject[] {
  const document = parseDocument(yaml)
  if (document.errors[0] !== undefined) throw document.errors[0]
  const values: unknown = document.toJS() ?? []
  if (!Array.isArray(values)) throw new TypeError('Objects are not a YAML list')
  return values.map((value) => {
    const object = parseObject(value)
    if (object === undefined) throw new TypeError(`No object: ${JSON.stringify(value)}`)
    if (object.kind === 'problem') throw new TypeError(object.message)
    return object
  })
}

/** A cluster of the selected ones. Without a Namespace among them, each that they name exists. */
export function clusterOf(yaml: string, options: NamingOptions = optionsOf()): Cluster {
  const cluster = new Cluster()
  const objects = objectsOf(yaml)
  const isWhole = objects.some(({ kind }) => kind === 'Namespace')
  for (const { namespace: name } of isWhole ? [] : objects) {
    cluster.set({ kind: 'Namespace', namespace: '', name, labels: new Map() })
  }
  for (const object of objects) if (isSelected(object, options)) cluster.set(object)
  return cluster
}

/**
 * Formats entries, sorted. A line that several entries amount to stands once: for a zone that is
 * one and the same record (RFC 2181 §5).
 */
export function formatEntries(entries: Iterable<ZoneEntry>): string[] {
  const all = [...entries]
  const taken = new Set(all.flatMap((entry) => addressOf(entry, false)))
  const shown = all.filter((entry) => !addressOf(entry, true).some((text) => taken.has(text)))
  return [...new Set(shown.flatMap(formatEntry))].sort()
}

/** The address of a pointer that yields, or of one that does not. */
function addressOf(entry: ZoneEntry, isYielding: boolean): string[] {
  if (entry.kind !== 'pointer' || (entry.isYielding === true) !== isYielding) return []
  return [entry.address.join()]
}

function formatEntry(entry: ZoneEntry): string[] {
  switch (entry.kind) {
    case 'name':
      return [`${formatRelative(entry.owner)} exists`]
    case 'address-names':
      return [`${formatRelative(entry.owner)} has addresses below`]
    case 'pod-address':
      return [`${formatName(reverseName(entry.address))} is of a Pod in ${entry.namespace}`]
    case 'pointer': {
      const owner = formatName(reverseName(entry.address))
      return [`${owner} ${entry.ttlSeconds} PTR ${formatRelative(entry.target)}`]
    }
    case 'records':
      return entry.rdata.map((rdata) => formatOne(entry, rdata))
  }
}

function formatOne(set: RRset, { bytes, target }: Rdata): string {
  const { owner, type, ttlSeconds, isGlue } = set
  const line = formatRecord({
    owner: ROOT,
    type,
    class: CLASS.IN,
    ttlSeconds,
    rdata: target === undefined ? bytes : concatBytes(bytes, target, ROOT),
  })
  const rest = line.replace(/^\. (\d+) IN/, '$1')
  const words = target === undefined ? rest : rest.slice(0, -1)
  return `${formatRelative(owner)} ${words}${isGlue === true ? ' ; glue' : ''}`
}

/** Formats a name below the zone, without a final dot. */
function formatRelative(labels: Uint8Array = EMPTY): string {
  return labels.length === 0 ? '@' : formatName(concatBytes(labels, ROOT)).slice(0, -1)
}
