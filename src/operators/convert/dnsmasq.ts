/**
 * Converts dnsmasq's configuration, also that of OpenShift 3, to a Corefile (dnsmasq(8)).
 *
 * Each domain with its own upstreams becomes a server block. `template` answers dnsmasq's own
 * records, `hosts`, which runs after it, those of hosts files.
 * @module
 */
import { type Conversion, ConversionError } from './conversion.ts'
import { type TextBlock, type TextLine, type TextServer, writeCorefile } from './corefile-text.ts'
import {
  type DnsmasqConfig,
  type DnsmasqRecord,
  readDnsmasq,
  type Upstreams,
} from './dnsmasq-config.ts'
import type { ReadOptions } from './read-options.ts'
import { withoutEffect } from './watched-reads.ts'

const CACHE_SIZE = 150
const HOSTS_FILE = '/etc/hosts'
const RESOLV_CONF = '/etc/resolv.conf'
/** The argument of `hosts` for no file. */
const NO_FILE = '/dev/null'
/** The minimum of `hosts`; dnsmasq uses 0. */
const HOSTS_TTL = '1'

/**
 * Converts files in the given order.
 * @throws {ConversionError} with file and line for an invalid value
 */
export function convertDnsmasq(
  files: readonly { readonly path: string; readonly text: string }[],
): Conversion {
  const config = readDnsmasq(files)
  const notices = [...config.notices]
  const blocks = new Blocks(config, notices)
  const zones: (readonly [string, Upstreams])[] = [['.', 'default'], ...config.domains]
  const servers = zones.map(([zone, upstreams]) => blocks.write(zone, upstreams))
  const corefile = writeCorefile([blocks.snippet(), ...servers])
  for (const { name, place } of config.single.unread()) {
    notices.push(`${place}: ${withoutEffect(`"${name}"`)}`)
  }
  if (config.single.has('no-resolv')) {
    for (const file of config.resolvFiles) {
      notices.push(`${withoutEffect(`resolv-file ${file}`)}: "no-resolv" is set`)
    }
  }
  return { ...corefile, notices }
}

/** Answers NXDOMAIN for all other names. */
const NO_OTHERS: TextLine = { head: ['template', 'ANY', 'ANY'], lines: [['rcode', 'NXDOMAIN']] }

class Blocks {
  private readonly config: DnsmasqConfig
  private readonly notices: string[]
  private readonly zones: readonly string[]
  private readonly upstreams: readonly string[]
  private readonly hostsFiles: readonly string[]

  constructor(config: DnsmasqConfig, notices: string[]) {
    this.config = config
    this.notices = notices
    this.zones = ['.', ...config.domains.keys()]
    this.upstreams = upstreamsOf(config)
    this.hostsFiles = hostsFilesOf(config)
    const [file, ...others] = this.hostsFiles
    if (this.upstreams.length === 0) {
      notices.push('other names have no upstream: their queries fail')
    }
    if (others.length > 0) {
      notices.push(`"hosts" reads one file; copy the lines of ${others.join(', ')} to ${file}`)
    }
    if (config.single.has('domain-needed') && this.hasHosts()) {
      notices.push(
        '"domain-needed" has no equivalent with a hosts file: names without a dot are forwarded',
      )
    }
  }

  /** Returns the snippet that all server blocks import. */
  snippet(): TextServer {
    const { single, listen } = this.config
    return {
      head: ['(common)'],
      lines: [
        ...(listen.length === 0 ? [] : [['bind', ...listen]]),
        ['errors'],
        ...(single.has('log-queries') ? [['log']] : []),
        ...bufsizeLines(single.get('edns-packet-max')),
        ...cacheLines(single),
        ...filterLines(single),
      ],
    }
  }

  /** Returns the server block of a zone. */
  write(zone: string, upstreams: Upstreams): TextServer {
    const { single, addresses, records } = this.config
    const own = [...addresses].filter(([domain]) => this.zoneFor(domain) === zone)
    const isClosed = upstreams === 'none' && this.hostsFiles.length === 0
    const hosts = this.hostRecords().filter(({ name }) => {
      return isClosed || own.some(([domain]) => isBelow(name, domain))
    })
    const near = [...records, ...hosts].filter(({ name }) => this.zoneFor(name) === zone)
    const sets = [...Map.groupBy(near, ({ name, type }) => `${type} ${name}`).values()]
    const names = isClosed ? new Set(near.map(({ name }) => name)) : []
    return {
      head: [`${zone}:${single.get('port') ?? '53'}`],
      lines: [
        ['import', 'common'],
        ...sets.flatMap((set) => this.records(set)),
        ...[...names].map((name) => this.template(name, 'ANY', [['rcode', 'NOERROR']])),
        ...own
          .toSorted(([one], [other]) => other.length - one.length)
          .flatMap(([domain, values]) => addressTemplates(domain, values, this.ttl())),
        ...(zone === '.' ? this.plainNames() : []),
        ...(isClosed ? [NO_OTHERS] : this.rest(zone, upstreams)),
      ],
    }
  }

  /** Returns the plugins for names without a template: `hosts`, and `forward` with upstreams. */
  private rest(zone: string, upstreams: Upstreams): TextLine[] {
    const servers = upstreams === 'default' ? this.upstreams : upstreams
    const isOpen = servers !== 'none' && servers.length > 0
    const hosts = this.hasHosts() ? [this.hosts(isOpen)] : []
    if (isOpen) {
      if (servers.every((server) => /^(127\.|::1$|\[::1\])/.test(server))) {
        this.notices.push(
          `"${zone}" is forwarded to this machine; if that was SkyDNS of OpenShift 3, replace ` +
            '"forward" by "kubernetes cluster.local { naming openshift3 }"',
        )
      }
      return [...hosts, this.forward(servers)]
    }
    if (upstreams === 'none') {
      const message = 'that are not in the hosts file get SERVFAIL instead of NXDOMAIN'
      this.notices.push(`names below "${zone}" ${message}`)
    }
    return hosts
  }

  private hosts(isOpen: boolean): TextBlock {
    const [file = NO_FILE] = this.hostsFiles
    const lines = [
      ...this.config.hosts.map((line) => line.split(' ')),
      ['ttl', this.ttl() === '0' ? HOSTS_TTL : this.ttl()],
      ...(isOpen ? [['fallthrough']] : []),
    ]
    return { head: ['hosts', file], lines }
  }

  private hasHosts(): boolean {
    return this.config.hosts.length > 0 || this.hostsFiles.length > 0
  }

  private forward(servers: readonly string[]): TextLine {
    const { single } = this.config
    const concurrent = single.get('dns-forward-max')
    const lines = [
      ...(single.has('strict-order') ? [['policy', 'sequential']] : []),
      ...(concurrent === undefined ? [] : [['max_concurrent', concurrent]]),
    ]
    const head = ['forward', '.', ...servers]
    return lines.length === 0 ? head : { head, lines }
  }

  /** Returns templates that answer NXDOMAIN for names without a dot. */
  private plainNames(): TextLine[] {
    if (!this.config.single.has('domain-needed') || this.hasHosts()) return []
    return ['A', 'AAAA'].map((type) => ({
      head: ['template', 'IN', type],
      lines: [['match', '^[^.]+\\.$'], ['rcode', 'NXDOMAIN'], ['fallthrough']],
    }))
  }

  /** Returns the hosts as records, for templates that run before `hosts`. */
  private hostRecords(): DnsmasqRecord[] {
    return this.config.hosts.flatMap((line) => {
      const [address = '', ...names] = line.split(' ')
      const type = address.includes(':') ? 'AAAA' : 'A'
      return names.map((name) => ({ name, type, rdata: address, ttlSeconds: undefined }))
    })
  }

  /** Returns one template for all records of a name and type. */
  private records(records: readonly DnsmasqRecord[]): TextLine[] {
    const [first] = records
    if (first === undefined) return []
    const { name, type } = first
    const answers = records.map(({ rdata, ttlSeconds }) => {
      if (rdata.includes('{{')) throw new ConversionError(`"${rdata}" of "${name}" has braces`)
      return ['answer', `{{ .Name }} ${ttlSeconds ?? this.ttl()} IN ${type} ${rdata}`]
    })
    return [this.template(name, type === 'CNAME' ? 'ANY' : type, answers)]
  }

  /** Returns a template for one name; a star matches any labels. */
  private template(name: string, type: string, lines: readonly TextLine[]): TextLine {
    const domain = this.config.single.get('domain')
    const owner = name.includes('.') || domain === undefined ? name : `${name}.${domain}`
    const zone = owner.replace(/^\*\./, '')
    const labels = owner === zone ? '' : '([^.]+\\.)+'
    const match = ['match', `^${labels}${zone.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\.$`]
    return { head: ['template', 'IN', type, zone], lines: [match, ...lines, ['fallthrough']] }
  }

  private ttl(): string {
    return this.config.single.get('local-ttl') ?? '0'
  }

  /** Returns the most specific zone with a server block that contains a name. */
  private zoneFor(name: string): string {
    const above = this.zones.filter((zone) => isBelow(name, zone))
    return above.toSorted((a, b) => b.length - a.length)[0] ?? '.'
  }
}

function isBelow(name: string, domain: string): boolean {
  const lower = name.toLowerCase()
  return lower === domain || lower.endsWith(`.${domain}`)
}

/** Returns the hosts files, configured ones before /etc/hosts. */
function hostsFilesOf({ hostsFiles, single }: DnsmasqConfig): string[] {
  return single.has('no-hosts') ? [...hostsFiles] : [...hostsFiles, HOSTS_FILE]
}

function upstreamsOf({ servers, single, resolvFiles }: DnsmasqConfig): string[] {
  if (single.has('no-resolv')) return [...servers]
  return [...servers, ...(resolvFiles.length === 0 ? [RESOLV_CONF] : resolvFiles)]
}

/** Returns templates for all names below a domain; the other address family gets NODATA. */
function addressTemplates(domain: string, values: readonly string[], ttl: string): TextLine[] {
  if (values.length === 0) {
    return [{ head: ['template', 'ANY', 'ANY', domain], lines: [['rcode', 'NXDOMAIN']] }]
  }
  const all = values.flatMap((value) => (value === '#' ? ['0.0.0.0', '::'] : [value]))
  const template = (type: string, addresses: readonly string[]): TextLine => ({
    head: ['template', 'IN', type, domain],
    lines:
      addresses.length === 0
        ? [['rcode', 'NOERROR']]
        : addresses.map((address) => ['answer', `{{ .Name }} ${ttl} IN ${type} ${address}`]),
  })
  return [
    template(
      'A',
      all.filter((address) => !address.includes(':')),
    ),
    template(
      'AAAA',
      all.filter((address) => address.includes(':')),
    ),
  ]
}

/** `cache` has one size for positive and one for negative responses, dnsmasq one for both. */
function cacheLines(single: ReadOptions): TextLine[] {
  const size = single.get('cache-size') ?? String(CACHE_SIZE)
  if (Number(size) === 0) return []
  const most = single.get('max-cache-ttl') ?? single.get('max-ttl')
  const least = single.get('min-cache-ttl')
  const bounds = most === undefined && least === undefined ? [] : [most ?? '3600', least ?? '0']
  const isPositive = single.has('no-negcache')
  const denial = isPositive ? ['disable', 'denial'] : ['denial', size, ...bounds]
  return [{ head: ['cache'], lines: [['success', size, ...bounds], denial] }]
}

function bufsizeLines(bytes: string | undefined): TextLine[] {
  if (bytes === undefined) return []
  return [['bufsize', String(Math.min(4096, Math.max(512, Number(bytes))))]]
}

/** Returns templates that answer NODATA for filtered address types. */
function filterLines(single: ReadOptions): TextLine[] {
  const types = ['A', 'AAAA'].filter((type) => single.has(`filter-${type}`))
  return types.map((type) => ({ head: ['template', 'IN', type], lines: [['rcode', 'NOERROR']] }))
}
