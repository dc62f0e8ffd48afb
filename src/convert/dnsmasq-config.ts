/**
 * Parses dnsmasq's configuration (dnsmasq(8)): names, upstreams and the cache.
 * @module
 */
import { parseAddress } from '../dns/address.ts'
import { ConversionError } from './conversion.ts'

/** The upstreams of a domain: servers, those of all other names, or none. */
export type Upstreams = readonly string[] | 'default' | 'none'

/** A record with its rdata in zone-file format. */
export type DnsmasqRecord = {
  readonly name: string
  readonly type: string
  readonly rdata: string
  readonly ttlSeconds: number | undefined
}

/** The configuration in some files. */
export type DnsmasqConfig = {
  /** Values of the options in `SINGLE`; '' for options without a value. */
  readonly single: Map<string, string>
  /** Upstreams of all names, as arguments of `forward`. */
  readonly servers: string[]
  /** Domains, or CIDR blocks, with their own upstreams. */
  readonly domains: Map<string, Upstreams>
  /** Addresses of all names below a domain; '#' for 0.0.0.0 and ::, none for NXDOMAIN. */
  readonly addresses: Map<string, readonly string[]>
  /** Lines in hosts-file format. */
  readonly hosts: string[]
  readonly hostsFiles: string[]
  readonly resolvFiles: string[]
  /** Addresses and interfaces to listen on. */
  readonly listen: string[]
  readonly records: DnsmasqRecord[]
  readonly notices: string[]
}

/** An option's value, and its file and line. */
type Value = { readonly text: string; readonly words: readonly string[]; readonly place: string }

/** Options with one value or none, which are read where they are needed. */
const SINGLE: ReadonlySet<string> = new Set(
  (
    'port cache-size max-cache-ttl min-cache-ttl max-ttl no-negcache no-resolv no-hosts ' +
    'local-ttl strict-order dns-forward-max domain edns-packet-max log-queries filter-AAAA ' +
    'filter-A domain-needed'
  ).split(' '),
)
/** Numeric options of `SINGLE`, and their maximum. */
const NUMBERS: ReadonlyMap<string, number> = new Map([
  ['port', 65535],
  ['cache-size', 10_000_000],
  ['max-cache-ttl', 2 ** 31 - 1],
  ['min-cache-ttl', 3600],
  ['max-ttl', 2 ** 31 - 1],
  ['local-ttl', 65535],
  ['dns-forward-max', 2 ** 31 - 1],
  ['edns-packet-max', 65535],
])
/** Options that need no equivalent: already the default, or about dnsmasq's own process. */
const GRANTED: ReadonlySet<string> = new Set(
  (
    'bind-dynamic bind-interfaces conf-file-end enable-dbus group keep-in-foreground no-daemon ' +
    'no-poll pid-file user log-facility log-async clear-on-reload localise-queries'
  ).split(' '),
)
/** Options without an equivalent, and what to do instead. */
const WITHOUT_EQUAL: ReadonlyMap<string, string> = new Map([
  ['all-servers', '"forward" queries one upstream at a time'],
  ['bogus-priv', 'add a server block for each private network without a DNS server'],
  ['conf-dir', 'add the files of the folder to the command line'],
  ['conf-file', 'add the file to the command line'],
  ['dnssec', 'kubedoh does not validate signatures; use upstreams that do'],
  ['except-interface', 'list the addresses to listen on with "bind"'],
  ['expand-hosts', 'write the full names into the hosts file'],
  ['min-port', 'the system chooses ports'],
  ['neg-ttl', 'negative responses are cached for the TTL of their SOA record'],
  ['query-port', 'the system chooses ports'],
  ['stop-dns-rebind', 'private addresses in responses are not filtered'],
])

const NO_ZONE = 'a name without a dot or with a star is not a zone; ignored'

/** Parsers of the options by name; each adds to the draft. */
const READERS: Readonly<Record<string, (value: Value, draft: DnsmasqConfig) => void>> = {
  server: readServer,
  local: readServer,
  address: readAddressOption,
  'rev-server': readRevServer,
  'host-record': readHostRecord,
  cname: readCname,
  'txt-record': readTxt,
  'srv-host': readSrv,
  'mx-host': readMx,
  'ptr-record': readPtr,
  'listen-address': ({ words }, draft) => void draft.listen.push(...words),
  interface: ({ words }, draft) => void draft.listen.push(...words),
  'addn-hosts': ({ text }, draft) => void draft.hostsFiles.push(text),
  'resolv-file': ({ text }, draft) => void draft.resolvFiles.push(text),
}

/**
 * Parses files in the given order.
 * @throws {ConversionError} with file and line for an invalid value
 */
export function readDnsmasq(
  files: readonly { readonly path: string; readonly text: string }[],
): DnsmasqConfig {
  const draft: DnsmasqConfig = {
    single: new Map(),
    servers: [],
    domains: new Map(),
    addresses: new Map(),
    hosts: [],
    hostsFiles: [],
    resolvFiles: [],
    listen: [],
    records: [],
    notices: [],
  }
  for (const { path, text } of files) {
    for (const [i, line] of text.split('\n').entries()) {
      readLine(line, `${path}:${i + 1}`, draft)
    }
  }
  return draft
}

function readLine(line: string, place: string, draft: DnsmasqConfig): void {
  const bare = line.replace(/(^|\s)#.*$/, '').trim()
  const [, name, given = ''] = /^(?:--)?([A-Za-z0-9-]+)\s*(?:=\s*(.*))?$/s.exec(bare) ?? []
  if (bare === '') return
  if (name === undefined)
    throw new ConversionError(`${place}: "${bare}" is not an option of dnsmasq`)
  const words = splitWords(given)
  const read = Object.hasOwn(READERS, name) ? READERS[name] : undefined
  if (read !== undefined) read({ text: given, words, place }, draft)
  else if (SINGLE.has(name)) draft.single.set(name, checked(name, given, place))
  else if (!GRANTED.has(name)) draft.notices.push(`${place}: ${whyLeftOut(name)}`)
}

/** Validates an option's value: numbers are copied to the Corefile. */
function checked(name: string, text: string, place: string): string {
  const max = NUMBERS.get(name)
  if (name === 'port' && Number(text) === 0) {
    throw new ConversionError(`${place}: port 0 turns DNS off; nothing to convert`)
  }
  if (max === undefined || (/^\d{1,10}$/.test(text) && Number(text) <= max)) return text
  throw new ConversionError(`${place}: "${name}" is "${text}", expected a number up to ${max}`)
}

function whyLeftOut(name: string): string {
  const instead = WITHOUT_EQUAL.get(name)
  if (instead !== undefined) return `"${name}" has no equivalent: ${instead}`
  if (/^(dhcp|tftp|pxe|enable-(tftp|ra)|ra-param|read-ethers|bootp)/.test(name)) {
    return `"${name}" configures DHCP or TFTP; ignored`
  }
  return `"${name}" has no equivalent; ignored`
}

/** Splits at commas outside double quotes. */
function splitWords(text: string): string[] {
  const words = text.match(/("[^"]*"|[^",])+|(?<=,)(?=,|$)|^(?=,)/g) ?? []
  return words.map((word) => word.trim().replace(/^"(.*)"$/s, '$1'))
}

/** `[/DOMAIN/…/][ADDRESS[#PORT][@SOURCE]]` */
function readServer({ text, place }: Value, draft: DnsmasqConfig): void {
  const parts = text.split('/')
  const target = parts.at(-1) ?? ''
  const server = target === '' || target === '#' ? undefined : upstreamOf(target, place, draft)
  if (parts.length < 3) {
    if (server !== undefined) draft.servers.push(server)
    return
  }
  for (const domain of parts.slice(1, -1)) {
    const zone = zoneOf(domain)
    if (zone === undefined) {
      draft.notices.push(`${place}: ${NO_ZONE}`)
    } else if (zone === '.' && server !== undefined) draft.servers.push(server)
    else if (server === undefined) draft.domains.set(zone, target === '#' ? 'default' : 'none')
    else draft.domains.set(zone, [...serversOf(draft.domains.get(zone)), server])
  }
}

function serversOf(upstreams: Upstreams | undefined): readonly string[] {
  return typeof upstreams === 'object' ? upstreams : []
}

/** Returns `undefined` for '' (names without a dot) and for patterns with a star. */
function zoneOf(domain: string): string | undefined {
  if (domain === '#') return '.'
  return domain === '' || domain.includes('*') ? undefined : domain.replace(/^\.|\.$/g, '')
}

function upstreamOf(text: string, place: string, draft: DnsmasqConfig): string {
  const [, address = '', port] = /^([^#@]+)(?:#(\d+))?/.exec(text) ?? []
  const [, source] = /@(.*)$/.exec(text) ?? []
  if (source !== undefined) {
    draft.notices.push(
      `${place}: "@${source}" has no equivalent: the system chooses the source address`,
    )
  }
  const bytes = parseAddress(address.replace(/%.*$/, ''))
  if (bytes === undefined) {
    throw new ConversionError(`${place}: "${text}" is not ADDRESS[#PORT]`)
  }
  if (port === undefined) return address
  return bytes.length === 4 ? `${address}:${port}` : `[${address}]:${port}`
}

/** `/DOMAIN/…/[ADDRESS|#]` */
function readAddressOption({ text, place }: Value, draft: DnsmasqConfig): void {
  const parts = text.split('/')
  const target = parts.at(-1) ?? ''
  if (target !== '' && target !== '#' && parseAddress(target) === undefined) {
    throw new ConversionError(`${place}: "${target}" is not an address`)
  }
  for (const domain of parts.slice(1, -1)) {
    const zone = zoneOf(domain)
    if (zone === undefined) {
      draft.notices.push(`${place}: ${NO_ZONE}`)
      continue
    }
    const before = draft.addresses.get(zone) ?? []
    draft.addresses.set(zone, target === '' ? before : [...before, target])
  }
}

/** `ADDRESS[/BITS],SERVER` */
function readRevServer({ words, place }: Value, draft: DnsmasqConfig): void {
  const [network = '', ...servers] = words
  const zone = network.includes('/') ? network : `${network}/${network.includes(':') ? 128 : 32}`
  if (parseAddress(zone.split('/')[0] ?? '') === undefined || servers.length === 0) {
    throw new ConversionError(`${place}: "rev-server" is not ADDRESS[/BITS],SERVER`)
  }
  draft.domains.set(
    zone,
    servers.map((server) => upstreamOf(server, place, draft)),
  )
}

/** `NAME[,NAME…],[ADDRESS],[ADDRESS][,TTL]` */
function readHostRecord({ words, place }: Value, draft: DnsmasqConfig): void {
  const addresses = words.filter((word) => parseAddress(word) !== undefined)
  const names = words.filter((word) => /[a-z]/i.test(word) && !addresses.includes(word))
  if (names.length === 0 || addresses.length === 0) {
    throw new ConversionError(`${place}: "host-record" is not NAME,ADDRESS`)
  }
  draft.hosts.push(...addresses.map((address) => `${address} ${names.join(' ')}`))
}

/** `ALIAS[,ALIAS…],TARGET[,TTL]` */
function readCname({ words, place }: Value, draft: DnsmasqConfig): void {
  const ttl = /^\d+$/.test(words.at(-1) ?? '') ? Number(words.at(-1)) : undefined
  const names = ttl === undefined ? words : words.slice(0, -1)
  const target = names.at(-1)
  if (target === undefined || names.length < 2) {
    throw new ConversionError(`${place}: "cname" is not ALIAS,TARGET`)
  }
  for (const name of names.slice(0, -1)) {
    draft.records.push({ name, type: 'CNAME', rdata: absolute(target), ttlSeconds: ttl })
  }
}

/** `NAME[,TEXT…]` */
function readTxt({ words: [name = '', ...texts] }: Value, draft: DnsmasqConfig): void {
  const rdata = (texts.length === 0 ? [''] : texts).map((text) => `"${text}"`).join(' ')
  draft.records.push({ name, type: 'TXT', rdata, ttlSeconds: undefined })
}

/** `NAME[,TARGET[,PORT[,PRIORITY[,WEIGHT]]]]` */
function readSrv({ words, place }: Value, draft: DnsmasqConfig): void {
  const [name = '', target = '', port = '1', priority = '0', weight = '0'] = words
  if (target === '') {
    draft.notices.push(`${place}: an SRV record without a target has no equivalent; ignored`)
    return
  }
  const rdata = `${priority} ${weight} ${port} ${absolute(target)}`
  draft.records.push({ name, type: 'SRV', rdata, ttlSeconds: undefined })
}

/** `NAME[,HOST[,PREFERENCE]]` */
function readMx(
  { words: [name = '', host = '', preference = '1'], place }: Value,
  draft: DnsmasqConfig,
): void {
  if (host === '') {
    draft.notices.push(`${place}: an MX record without a host has no equivalent; ignored`)
    return
  }
  const rdata = `${preference} ${absolute(host)}`
  draft.records.push({ name, type: 'MX', rdata, ttlSeconds: undefined })
}

/** `NAME[,TARGET]` */
function readPtr({ words: [name = '', target = '.'] }: Value, draft: DnsmasqConfig): void {
  draft.records.push({ name, type: 'PTR', rdata: absolute(target), ttlSeconds: undefined })
}

function absolute(name: string): string {
  return name.endsWith('.') ? name : `${name}.`
}
