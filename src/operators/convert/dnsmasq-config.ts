/**
 * Parses dnsmasq's configuration (dnsmasq(8)): names, upstreams and the cache.
 * @module
 */
import { parseAddress } from '../../dns/names/address.ts'
import { ROOT } from '../../dns/names/name.ts'
import { readZoneFile } from '../../snapshot/records/zone-file.ts'
import { ZoneFileError } from '../../snapshot/records/zone-scanner.ts'
import { ConversionError } from './conversion.ts'
import { ReadOptions } from './read-options.ts'
import { withoutEffect } from './watched-reads.ts'

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
  readonly single: ReadOptions
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

/** An option, its value, and its file and line. */
type Value = {
  readonly name: string
  readonly text: string
  readonly words: readonly string[]
  readonly place: string
}

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
/** Options for dnsmasq's own process. */
const FOR_ITSELF: ReadonlySet<string> = new Set(
  (
    'bind-dynamic bind-interfaces conf-file-end enable-dbus group keep-in-foreground no-daemon ' +
    'no-poll pid-file user log-facility log-async clear-on-reload'
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
  ['localise-queries', 'responses have all addresses'],
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
  'listen-address': (value, draft) => addNamed(value, draft.listen, draft),
  interface: (value, draft) => addNamed(value, draft.listen, draft),
  'addn-hosts': (value, draft) => addNamed(value, draft.hostsFiles, draft),
  'resolv-file': (value, draft) => addNamed(value, draft.resolvFiles, draft),
}

/**
 * Parses files in the given order.
 * @throws {ConversionError} with file and line for an invalid value
 */
export function readDnsmasq(
  files: readonly { readonly path: string; readonly text: string }[],
): DnsmasqConfig {
  const draft: DnsmasqConfig = {
    single: new ReadOptions(),
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
  if (read !== undefined) read({ name, text: given, words, place }, draft)
  else if (!SINGLE.has(name)) draft.notices.push(`${place}: ${whyLeftOut(name)}`)
  else {
    const before = draft.single.set(name, checked(name, given, place), place)
    if (before !== undefined) {
      draft.notices.push(`${before}: "${name}" is set again by ${place}; ignored`)
    }
  }
}

function addNamed({ name, words, place }: Value, to: string[], { notices }: DnsmasqConfig): void {
  const named = words.filter((word) => word !== '')
  to.push(...named)
  if (named.length === 0) notices.push(`${place}: "${name}" names nothing; ignored`)
}

/** Adds a notice for the words after the last one that counts. */
function noteSurplus({ name, words, place }: Value, count: number, draft: DnsmasqConfig): void {
  for (const word of words.slice(count)) {
    if (word !== '') draft.notices.push(`${place}: ${withoutEffect(`"${word}" of "${name}"`)}`)
  }
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
  if (FOR_ITSELF.has(name)) return `${withoutEffect(`"${name}"`)}: it is for dnsmasq itself`
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
function readServer({ name, text, place }: Value, draft: DnsmasqConfig): void {
  const parts = text.split('/')
  const target = parts.at(-1) ?? ''
  const server = target === '' || target === '#' ? undefined : upstreamOf(target, place, draft)
  if (parts.length < 3) {
    if (server !== undefined) draft.servers.push(server)
    else draft.notices.push(`${place}: "${name}" names no server; ignored`)
    return
  }
  for (const domain of parts.slice(1, -1)) {
    const zone = zoneOf(domain)
    if (zone === undefined) {
      draft.notices.push(`${place}: ${NO_ZONE}`)
    } else if (zone === '.' && server !== undefined) draft.servers.push(server)
    else setUpstreams(zone, server ?? (target === '#' ? 'default' : 'none'), { place, draft })
  }
}

/** Adds a server of a domain; notes what replaces an earlier line. */
function setUpstreams(
  zone: string,
  upstream: string,
  { place, draft }: { readonly place: string; readonly draft: DnsmasqConfig },
): void {
  const before = draft.domains.get(zone)
  const isList = upstream !== 'default' && upstream !== 'none'
  if (isList && typeof before !== 'string') {
    draft.domains.set(zone, [...(before ?? []), upstream])
    return
  }
  const replaced = typeof before === 'string' ? `what "${zone}" has` : `the servers of "${zone}"`
  if (before !== undefined && before !== upstream) {
    draft.notices.push(`${place}: replaces ${replaced} above`)
  }
  draft.domains.set(zone, isList ? [upstream] : upstream)
}

/** Returns `undefined` for '' (names without a dot) and for patterns with a star. */
function zoneOf(domain: string): string | undefined {
  if (domain === '#') return '.'
  return domain === '' || domain.includes('*') ? undefined : domain.replace(/^\.|\.$/g, '')
}

function upstreamOf(text: string, place: string, draft: DnsmasqConfig): string {
  const [, address = '', port, source] = /^([^#@]+)(?:#(\d+))?(?:@(.*))?$/.exec(text) ?? []
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
  if (parts.length < 3) draft.notices.push(`${place}: "address" names no domain; ignored`)
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
  for (const server of servers) {
    setUpstreams(zone, upstreamOf(server, place, draft), { place, draft })
  }
}

/** `NAME[,NAME…],[ADDRESS],[ADDRESS][,TTL]` */
function readHostRecord(value: Value, draft: DnsmasqConfig): void {
  const { words, place } = value
  const addresses = words.filter((word) => parseAddress(word) !== undefined)
  const names = words.filter((word) => /[a-z]/i.test(word) && !addresses.includes(word))
  if (names.length === 0 || addresses.length === 0) {
    throw new ConversionError(`${place}: "host-record" is not NAME,ADDRESS`)
  }
  draft.hosts.push(...addresses.map((address) => `${address} ${names.join(' ')}`))
  const others = words.filter((word) => !addresses.includes(word) && !names.includes(word))
  noteSurplus({ ...value, words: others }, 0, draft)
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
    addRecord({ name, type: 'CNAME', rdata: absolute(target), ttlSeconds: ttl }, place, draft)
  }
}

/** `NAME[,TEXT…]` */
function readTxt({ words, place }: Value, draft: DnsmasqConfig): void {
  const [name = '', ...texts] = words
  const rdata = (texts.length === 0 ? [''] : texts)
    .map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`)
    .join(' ')
  addRecord({ name, type: 'TXT', rdata, ttlSeconds: undefined }, place, draft)
}

/** `NAME[,TARGET[,PORT[,PRIORITY[,WEIGHT]]]]` */
function readSrv(value: Value, draft: DnsmasqConfig): void {
  const [name = '', target = '', port = '1', priority = '0', weight = '0'] = value.words
  const { place } = value
  if (target === '') {
    draft.notices.push(`${place}: an SRV record without a target has no equivalent; ignored`)
    return
  }
  noteSurplus(value, 5, draft)
  const rdata = `${priority} ${weight} ${port} ${absolute(target)}`
  addRecord({ name, type: 'SRV', rdata, ttlSeconds: undefined }, place, draft)
}

/** `NAME[,HOST[,PREFERENCE]]` */
function readMx(value: Value, draft: DnsmasqConfig): void {
  const [name = '', host = '', preference = '1'] = value.words
  const { place } = value
  if (host === '') {
    draft.notices.push(`${place}: an MX record without a host has no equivalent; ignored`)
    return
  }
  noteSurplus(value, 3, draft)
  const rdata = `${preference} ${absolute(host)}`
  addRecord({ name, type: 'MX', rdata, ttlSeconds: undefined }, place, draft)
}

/** `NAME[,TARGET]` */
function readPtr(value: Value, draft: DnsmasqConfig): void {
  const [name = '', target = '.'] = value.words
  noteSurplus(value, 2, draft)
  const record = { name, type: 'PTR', rdata: absolute(target), ttlSeconds: undefined }
  addRecord(record, value.place, draft)
}

/** Adds a record. @throws {ConversionError} if a zone file could not have it */
function addRecord(record: DnsmasqRecord, place: string, { records }: DnsmasqConfig): void {
  const { name, type, rdata, ttlSeconds = 0 } = record
  const text = `${name} ${ttlSeconds} IN ${type} ${rdata}`
  const zone = { file: place, text, origin: ROOT, readText: () => undefined }
  try {
    if ([...readZoneFile(zone)].length !== 1) throw new ConversionError(`${place}: no record`)
  } catch (error) {
    if (!(error instanceof ZoneFileError)) throw error
    throw new ConversionError(`${place}: ${error.reason}`, { cause: error })
  }
  records.push(record)
}

function absolute(name: string): string {
  return name.endsWith('.') ? name : `${name}.`
}
