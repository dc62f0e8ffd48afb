/**
 * Converts OpenShift 4's `dnses.operator.openshift.io` to the Corefile that its DNS operator writes
 * (github.com/openshift/cluster-dns-operator, pkg/operator/controller/controller_dns_configmap.go;
 * github.com/openshift/api, operator/v1/types_dns.go).
 * @module
 */

import { FieldError, Fields } from '../../cluster/objects/object-fields.ts'
import { isRecord, textOf } from '../../dns/bytes/unknown.ts'
import { parseAddress } from '../../dns/names/address.ts'
import { type Conversion, ConversionError, type Settings } from './conversion.ts'
import { type TextLine, type TextServer, writeCorefile } from './corefile-text.ts'
import { otherDocuments, watchObject, withoutEffect } from './watched-reads.ts'

const PORT = '5353'
const POSITIVE_SECONDS = 900
const NEGATIVE_SECONDS = 30
const RESOLV_CONF = '/etc/resolv.conf'
const METRICS: TextLine = ['prometheus', '127.0.0.1:9153']
const BUFSIZE: TextLine = ['bufsize', '1232']
/** Answers hostname.bind, so that clients can identify the server. */
const CHAOS: TextServer = { head: [`hostname.bind:${PORT}`], lines: [['chaos']] }

const POLICIES: Readonly<Record<string, string>> = {
  Random: 'random',
  RoundRobin: 'round_robin',
  Sequential: 'sequential',
}
/** What the CRD of the operator accepts. */
const UPSTREAMS_MAX = 15
const LEVEL = /^(Normal|Debug|Trace)$/
const POLICY = /^(Random|RoundRobin|Sequential)$/
const TRANSPORT = /^(TLS|Cleartext|)$/
const STRATEGY = /^(TCP|)$/
const STATE = /^(Managed|Unmanaged|Force|Removed)$/
const DURATION = /^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+)$/
const LABEL = '[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?'
const HOSTNAME = new RegExp(`^(?=.{1,253}$)${LABEL}(\\.${LABEL})*$`)
const LOG_CLASSES: Readonly<Record<string, readonly string[]>> = {
  Debug: ['denial', 'error'],
  Trace: ['all'],
}
/** Fields for the operator itself, without an effect on responses. */
const OPERATORS_OWN = ['managementState', 'nodePlacement', 'operatorLogLevel']

/** Lines that all blocks share, the values of `--set`, and the notices so far. */
type Context = {
  readonly log: TextLine
  readonly cache: TextLine
  readonly settings: Settings
  readonly notices: string[]
}

/**
 * Converts the object of kind DNS in some documents.
 * @param settings `domain`, and `ca.NAME`: the file with the CA bundle of ConfigMap NAME
 * @throws {ConversionError} if there is none, or the operator would reject it
 */
export function convertOpenshift(documents: readonly unknown[], settings: Settings): Conversion {
  const document = findDns(documents)
  const { value, unread } = watchObject(document)
  try {
    const { notices, ...corefile } = convert(new Fields(value), settings)
    const named = OPERATORS_OWN.map((field) => `spec.${field}`)
    const fields = unread().filter((path) => !named.some((own) => path.startsWith(own)))
    const dropped = [...fields, ...otherDocuments(documents, [document])]
    return { ...corefile, notices: [...notices, ...dropped.map(withoutEffect)] }
  } catch (error) {
    if (error instanceof FieldError) throw new ConversionError(error.message, { cause: error })
    throw error
  }
}

function findDns(documents: readonly unknown[]): unknown {
  for (const document of documents.filter(isRecord)) {
    const { apiVersion, kind } = document
    if (kind === 'DNS' && textOf(apiVersion).startsWith('operator.openshift.io/')) return document
  }
  throw new ConversionError(
    'no object of kind DNS (operator.openshift.io/v1); ' +
      '"oc get dnses.operator.openshift.io default -o yaml" prints it',
  )
}

function convert(dns: Fields, settings: Settings): Conversion {
  const spec = dns.child('spec')
  spec.match('operatorLogLevel', LEVEL, 'Normal, Debug or Trace')
  spec.match('managementState', STATE, 'Managed, Unmanaged, Force or Removed')
  const notices: string[] = []
  const context = { log: logLine(spec), cache: cacheLine(spec), settings, notices }
  const domain =
    settings.take('domain') ?? (dns.child('status').text('clusterDomain') || 'cluster.local')
  const servers = spec.children('servers').map((server, i) => {
    return { ...serverBlock(server, context), field: `spec.servers[${i}]` }
  })
  for (const field of OPERATORS_OWN) {
    if (spec.has(field) && !spec.isEmpty(field))
      notices.push(`spec.${field} is for the operator; ignored`)
  }
  const blocks = [...servers, mainBlock(spec, domain, context), CHAOS]
  return { ...writeCorefile(blocks), notices }
}

/** Returns the server block of zones with their own upstreams. */
function serverBlock(server: Fields, context: Context): TextServer {
  const name = server.text('name')
  const plugin = server.child('forwardPlugin')
  plugin.checkLength('upstreams', UPSTREAMS_MAX)
  const upstreams = plugin.texts('upstreams')
  const transport = transportOf(plugin, name, context)
  if (transport !== undefined && !upstreams.every(hasAddress)) {
    throw new ConversionError(`server "${name}": upstreams over TLS must be addresses`)
  }
  const forward = {
    head: ['forward', '.', ...upstreams.map((text) => `${transport?.scheme ?? ''}${text}`)],
    lines: forwardOptions(plugin, transport, 'random'),
  }
  return {
    comment: name,
    head: server.texts('zones').map((zone) => `${zone}:${PORT}`),
    lines: [METRICS, forward, ['errors'], context.log, BUFSIZE, context.cache],
  }
}

function mainBlock(spec: Fields, domain: string, context: Context): TextServer {
  const resolvers = spec.child('upstreamResolvers')
  resolvers.checkLength('upstreams', UPSTREAMS_MAX)
  const listed = resolvers.children('upstreams')
  const transport = transportOf(resolvers, 'upstreamResolvers', context)
  const nameAt = (i: number) => (field: string) => {
    context.notices.push(withoutEffect(`spec.upstreamResolvers.upstreams[${i}].${field}`))
  }
  const named = listed.map((one, i) => resolverOf(one, nameAt(i)))
  const upstreams = named.length === 0 ? [RESOLV_CONF] : unique(named)
  if (transport !== undefined && upstreams.includes(RESOLV_CONF)) {
    throw new ConversionError(
      'upstreamResolvers: TLS needs addresses of upstreams, not /etc/resolv.conf',
    )
  }
  const kubernetes = {
    head: ['kubernetes', domain, 'in-addr.arpa', 'ip6.arpa'],
    lines: [
      ['pods', 'insecure'],
      ['fallthrough', 'in-addr.arpa', 'ip6.arpa'],
    ],
  }
  const forward = {
    head: ['forward', '.', ...upstreams.map((text) => `${transport?.scheme ?? ''}${text}`)],
    lines: forwardOptions(resolvers, transport, 'sequential'),
  }
  const health = { head: ['health'], lines: [['lameduck', '20s']] }
  return {
    head: [`.:${PORT}`],
    lines: [
      BUFSIZE,
      ['errors'],
      context.log,
      health,
      ['ready'],
      kubernetes,
      METRICS,
      forward,
      context.cache,
      ['reload'],
    ],
  }
}

/** Options of `forward` for TLS. */
type Transport = { readonly scheme: 'tls://'; readonly lines: readonly TextLine[] }

function transportOf(
  fields: Fields,
  name: string,
  { settings, notices }: Context,
): Transport | undefined {
  const config = fields.child('transportConfig')
  const tls = config.child('tls')
  const serverName = tls.match('serverName', HOSTNAME, 'a hostname')
  const isTls = config.match('transport', TRANSPORT, 'TLS or Cleartext') === 'TLS'
  if (serverName === '' && (isTls || config.has('tls'))) {
    throw new ConversionError(`${name}: TLS needs a serverName`)
  }
  if (!isTls) {
    if (serverName !== '') notices.push(`${name}: tls is ignored because the transport is not TLS`)
    return undefined
  }
  const bundle = tls.child('caBundle').text('name')
  if (bundle === '' && tls.has('caBundle')) {
    throw new ConversionError(`${name}: caBundle needs the name of a ConfigMap`)
  }
  const path = bundle === '' ? undefined : settings.take(`ca.${bundle}`)
  if (bundle !== '' && path === undefined) {
    notices.push(
      `${name}: write ca-bundle.crt of ConfigMap openshift-config/${bundle} to a file and pass ` +
        `--set ca.${bundle}=FILE; otherwise the system's CAs are trusted`,
    )
  }
  const files = path === undefined ? [] : [path]
  return {
    scheme: 'tls://',
    lines: [
      ['tls_servername', serverName],
      ['tls', ...files],
    ],
  }
}

function forwardOptions(
  fields: Fields,
  transport: Transport | undefined,
  otherwise: string,
): TextLine[] {
  const policy = POLICIES[fields.match('policy', POLICY, Object.keys(POLICIES).join(', '))]
  const strategy = fields.match('protocolStrategy', STRATEGY, 'TCP')
  return [
    ...(transport?.lines ?? []),
    ['policy', policy ?? otherwise],
    ...(strategy === 'TCP' ? [['force_tcp']] : []),
  ]
}

/**
 * Returns an address in upper case, as the operator writes it, to detect duplicates.
 * @param onUnused called with a field that is checked, as OpenShift does, and not used
 */
function resolverOf(upstream: Fields, onUnused: (field: string) => void): string {
  if (!upstream.has('type')) {
    throw new ConversionError('upstreamResolvers: an upstream needs a type')
  }
  const type = upstream.match(
    'type',
    /^(SystemResolvConf|Network|)$/,
    'SystemResolvConf or Network',
  )
  const address = upstream.text('address').toUpperCase()
  if (address !== '' && parseAddress(address) === undefined) {
    throw new ConversionError(`upstreamResolvers: ${address} is not an address`)
  }
  if (type !== 'Network') {
    if (address !== '') onUnused('address')
    return RESOLV_CONF
  }
  if (address === '') {
    throw new ConversionError('upstreamResolvers: an upstream of type Network needs an address')
  }
  const port = upstream.port('port')
  if (port === undefined) return address
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}

/** Removes duplicates, with or without the default port. */
function unique(upstreams: readonly string[]): string[] {
  const plain = (text: string): string => text.replace(/^\[?([^\]]*?)\]?:53$/, '$1')
  return upstreams.filter((one, i) => {
    return upstreams.findIndex((other) => plain(other) === plain(one)) === i
  })
}

function hasAddress(upstream: string): boolean {
  const [, bracketed, host = bracketed ?? upstream] =
    /^(?:\[([^\]]+)\]|([^:]+)):\d+$/.exec(upstream) ?? []
  return parseAddress(host) !== undefined
}

function logLine(spec: Fields): TextLine {
  const classes = LOG_CLASSES[spec.match('logLevel', LEVEL, 'Normal, Debug or Trace')] ?? ['error']
  return { head: ['log', '.'], lines: [['class', ...classes]] }
}

function cacheLine(spec: Fields): TextLine {
  const cache = spec.child('cache')
  const positive = seconds(cache.match('positiveTTL', DURATION, 'a duration')) || POSITIVE_SECONDS
  const negative = seconds(cache.match('negativeTTL', DURATION, 'a duration')) || NEGATIVE_SECONDS
  const denial = ['denial', '9984', String(negative)]
  return { head: ['cache', String(positive)], lines: [denial] }
}

const UNIT_SECONDS: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
}

/** Parses a Go duration and rounds it to seconds; 0 for other text. */
function seconds(text: string): number {
  let total = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|[µμ]s|ms|s|m|h)/g)) {
    total += Number(amount) * (UNIT_SECONDS[unit ?? ''] ?? 0)
  }
  return Math.round(total)
}
