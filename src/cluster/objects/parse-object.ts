/**
 * Parses objects from the API or from files. Applies the API server's defaults (namespace
 * `default`, protocol TCP), so that files work without one.
 * @module
 */

import { finish, type Steps } from '../../dns/bytes/steps.ts'
import { isRecord } from '../../dns/bytes/unknown.ts'
import { annotatedHosts, HOSTS_MAX, itemCount } from './host-bounds.ts'
import { HOST_SOURCES, type HostSourceEntry } from './host-sources.ts'
import { FieldError, Fields } from './object-fields.ts'
import type {
  ClusterObject,
  EndpointSlice,
  Kind,
  Namespace,
  Outside,
  Pod,
  Port,
  SecurePort,
  Service,
  ServiceImport,
} from './objects.ts'
import { type Endpoint, EndpointColumns, PackedEndpoints } from './packed-endpoints.ts'
import { ANNOTATIONS, ingressEntries, parseIngressStatus } from './parse-hosts.ts'

/**
 * An object is invalid; the message has the object, the field, its value and what the API allows.
 */
export type ParseProblem = { readonly kind: 'problem'; readonly message: string }

type Parser = Pick<HostSourceEntry, 'group' | 'parse' | 'labelSelector'>

const GONE_PHASES: ReadonlySet<string> = new Set(['Succeeded', 'Failed', 'Unknown'])
const SERVICE_NAME_LABEL = 'kubernetes.io/service-name'
const IMPORT_NAME_LABEL = 'multicluster.kubernetes.io/service-name'
/** Most addresses of an EndpointSlice: five for each of the 1,000 endpoints that the API allows. */
const ADDRESSES_MAX = 5000
const TRIGGER_ANNOTATION = 'endpoints.kubernetes.io/last-change-trigger-time'

/** The kinds that give names, and their API groups: other groups may have the same kinds. */
const PARSERS: Readonly<Record<Kind, Parser>> = {
  Namespace: { group: '', parse: parseNamespace },
  Service: { group: '', parse: parseService },
  EndpointSlice: { group: 'discovery.k8s.io', parse: parseEndpointSlice },
  Pod: { group: '', parse: parsePod },
  ServiceImport: { group: 'multicluster.x-k8s.io', parse: parseServiceImport },
  ServiceExport: {
    group: 'multicluster.x-k8s.io',
    parse: (fields) => ({ kind: 'ServiceExport', ...fields.meta() }),
  },
  ...HOST_SOURCES,
}
const PARSERS_BY_KIND: ReadonlyMap<string, Parser> = new Map(Object.entries(PARSERS))

/**
 * Parses one object of unknown shape; `undefined` for kinds that give no names. An object without
 * an API group, such as the item of a list, counts as of the right one.
 * @param kind of an object that need not name its own
 * @returns the object, or the error. Never throws.
 */
export function parseObject(value: unknown, kind?: Kind): Parsed {
  return finish(parseInSteps(value, kind))
}

/** What was parsed: an object, what is wrong with it, or nothing for kinds that give no names. */
export type Parsed = ClusterObject | ParseProblem | undefined

/** Does what `parseObject` does in steps, each some lines of a large object. */
export function* parseInSteps(value: unknown, kind?: Kind): Steps<Parsed> {
  try {
    const fields = new Fields(value)
    const parser = PARSERS_BY_KIND.get(kind ?? fields.text('kind'))
    if (parser === undefined || !isOfGroup(fields, parser.group)) return undefined
    const { labelSelector } = parser
    const isSelected = labelSelector === undefined || fields.meta().labels.has(labelSelector)
    if (!isSelected) return undefined
    const parsed = parser.parse(fields)
    return 'next' in parsed ? yield* parsed : parsed
  } catch (error) {
    if (!(error instanceof FieldError)) throw error
    return { kind: 'problem', message: `${describe(value, kind)}: ${error.message}` }
  }
}

/** Describes an invalid object, by its name if it has one. */
function describe(value: unknown, given: Kind | undefined): string {
  const { kind = given, metadata } = isRecord(value) ? value : {}
  const { namespace, name } = isRecord(metadata) ? metadata : {}
  const path = [namespace, name].filter((part) => typeof part === 'string').join('/')
  return `${typeof kind === 'string' ? kind : 'Object'} ${path || 'without a name'}`
}

/** Returns whether `apiVersion`, of the form `group/version` or `v1`, is of a group. */
function isOfGroup(fields: Fields, group: string): boolean {
  const version = fields.text('apiVersion')
  return version === '' || version.slice(0, Math.max(0, version.lastIndexOf('/'))) === group
}

function parseNamespace(fields: Fields): Namespace {
  return { kind: 'Namespace', ...fields.meta(), namespace: '' }
}

function parseService(fields: Fields): Service {
  const spec = fields.child('spec')
  const listed = spec.texts('clusterIPs')
  const single = spec.text('clusterIP')
  const clusterIPs = listed.length > 0 ? listed : [single].filter((text) => text !== '')
  const isExternal = spec.text('type') === 'ExternalName'
  const isHeadless = !isExternal && clusterIPs[0] === 'None'
  return {
    kind: 'Service',
    ...fields.meta(),
    type: isExternal ? 'ExternalName' : 'ClusterIP',
    isHeadless,
    clusterIPs: isExternal || isHeadless ? [] : clusterIPs,
    externalName: isExternal ? spec.text('externalName') : '',
    ports: spec.children('ports').map(parsePort),
    outside: parseOutside(fields, spec),
  }
}

/** Annotations with hostnames of a Service; the first one present wins. */
const HOSTNAME_ANNOTATIONS: readonly string[] = [
  'coredns.io/hostname',
  'external-dns.alpha.kubernetes.io/hostname',
  'external-dns.kubernetes.io/hostname',
]
const RESOLVE_ANNOTATION = 'k8s-gateway.dns/resolve-endpoints'

function parseOutside(fields: Fields, spec: Fields): Outside | undefined {
  const annotations = fields.child('metadata').child('annotations')
  const named = HOSTNAME_ANNOTATIONS.find((name) => annotations.has(name))
  const said = named === undefined ? '' : annotations.text(named)
  const isLoadBalancer = spec.text('type') === 'LoadBalancer'
  const externalIPs = spec.texts('externalIPs')
  const ingress = parseIngressStatus(fields)
  const resolvesEndpoints = annotations.text(RESOLVE_ANNOTATION) === 'true'
  const known = fields.annotations(ANNOTATIONS)
  const hasTooMany = itemCount(said) > HOSTS_MAX || annotatedHosts(known) > HOSTS_MAX
  const isOutside =
    isLoadBalancer ||
    resolvesEndpoints ||
    named !== undefined ||
    known.size > 0 ||
    externalIPs.length > 0
  if (!isOutside && ingress.length === 0) return undefined
  return {
    ...fields.created(),
    isLoadBalancer,
    externalIPs,
    ingress,
    isProxied: ingressEntries(fields).some((entry) => entry.text('ipMode') === 'Proxy'),
    hostnames: named === undefined ? undefined : hasTooMany ? [] : splitHostnames(said),
    // The names of the Service itself stay.
    ...(hasTooMany && { problem: `it has more than ${HOSTS_MAX} hostnames` }),
    resolvesEndpoints,
    nodePorts: spec.text('type') === 'NodePort' ? parseNodePorts(spec) : undefined,
    annotations: hasTooMany ? new Map() : known,
    securePorts: spec.children('ports').flatMap(parseSecurePort),
  }
}

/** Values of `appProtocol`: names of IANA's registry, and Kubernetes' own (KEP-3726). */
const SECURE_PROTOCOLS: Readonly<Record<string, SecurePort['service']>> = {
  https: 'https',
  'kubernetes.io/wss': 'https',
  'domain-s': 'dns',
}

function parseSecurePort(fields: Fields): SecurePort[] {
  const service = SECURE_PROTOCOLS[fields.text('appProtocol')]
  const { protocol, port } = parsePort(fields)
  const isKnown = protocol === 'TCP' || protocol === 'UDP'
  return service !== undefined && isKnown && port !== undefined ? [{ service, protocol, port }] : []
}

function parseNodePorts(spec: Fields): NonNullable<Outside['nodePorts']> {
  return spec.children('ports').map((port) => {
    return { protocol: port.text('protocol') || 'TCP', port: port.port('nodePort') }
  })
}

function splitHostnames(text: string): string[] {
  const names = text.toLowerCase().split(',')
  return names.map((name) => name.trim()).filter((name) => name !== '')
}

function parseServiceImport(fields: Fields): ServiceImport {
  const spec = fields.child('spec')
  const isHeadless = spec.text('type') === 'Headless'
  return {
    kind: 'ServiceImport',
    ...fields.meta(),
    isHeadless,
    clusterIPs: isHeadless ? [] : spec.texts('ips'),
    ports: spec.children('ports').map(parsePort),
  }
}

function parsePort(fields: Fields): Port {
  return {
    name: fields.text('name'),
    protocol: fields.text('protocol') || 'TCP',
    port: fields.port('port'),
  }
}

function parseEndpointSlice(fields: Fields): EndpointSlice {
  const meta = fields.meta()
  return {
    kind: 'EndpointSlice',
    ...meta,
    serviceName: meta.labels.get(SERVICE_NAME_LABEL) ?? '',
    importName: meta.labels.get(IMPORT_NAME_LABEL) ?? '',
    endpoints: parseEndpoints(fields),
    ports: fields.children('ports').map(parsePort),
    triggeredMs: fields.child('metadata').child('annotations').time(TRIGGER_ANNOTATION),
  }
}

/** @throws {FieldError} for more addresses than the names of one object may have */
function parseEndpoints(fields: Fields): PackedEndpoints {
  // What comes in Protocol Buffers is in columns already.
  const read = fields.value('endpoints')
  const columns = read instanceof EndpointColumns ? read : columnsOf(fields.children('endpoints'))
  let addresses = 0
  for (const one of columns.addresses) addresses += typeof one === 'string' ? 1 : one.length
  if (addresses <= ADDRESSES_MAX) return new PackedEndpoints(columns)
  throw new FieldError(`it has ${addresses} addresses, at most ${ADDRESSES_MAX} are allowed`)
}

function columnsOf(endpoints: readonly Fields[]): EndpointColumns {
  const columns = new EndpointColumns()
  for (const endpoint of endpoints) columns.add(parseEndpoint(endpoint))
  return columns
}

function parseEndpoint(fields: Fields): Endpoint {
  return {
    addresses: fields.texts('addresses'),
    hostname: fields.text('hostname'),
    targetName: fields.child('targetRef').text('name'),
    zone: fields.text('zone').toLowerCase(),
    isReady: fields.child('conditions').flag('ready') ?? true,
  }
}

function parsePod(fields: Fields): Pod {
  const status = fields.child('status')
  const isDeleted = fields.child('metadata').has('deletionTimestamp')
  return {
    kind: 'Pod',
    ...fields.meta(),
    podIP: status.text('podIP'),
    isGone: isDeleted || GONE_PHASES.has(status.text('phase')),
  }
}
