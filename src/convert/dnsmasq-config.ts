/**
 * Reads dnsmasq's configuration (dnsmasq(8)): what it says of names, upstreams and the cache.
 * @module
 */
import { parseAddress } from '../dns/address.ts'
import { ConversionError } from './conversion.ts'

/** Who is asked for names: servers, those for all other names, or nobody. */
export type Asked = readonly string[] | 'default' | 'nobody'

/** A record as a zone file has it, but for its owner, class and TTL. */
export type DnsmasqRecord = {
  readonly name: string
  readonly type: string
  readonly rdata: string
  readonly ttlSeconds: number | undefined
}

/** What some files say. */
export type DnsmasqConfig = {
  /** Values of options that are given once; '' for those without. */
  readonly single: ReadonlyMap<string, string>
  /** Servers for all names, as `forward` takes them. */
  readonly servers: readonly string[]
  /** Domains, or blocks of addresses, that are asked for elsewhere. */
  readonly domains: ReadonlyMap<string, Asked>
  /** Addresses of all names below a domain; '#' for those that lead nowhere, none for no name. */
  readonly addresses: ReadonlyMap<string, readonly string[]>
  /** Lines of a hosts file. */
  readonly hosts: readonly string[]
  readonly hostsFiles: readonly string[]
  readonly resolvFiles: readonly string[]
  /** Addresses and interfaces to listen on. */
  readonly listen: readonly string[]
  readonly records: readonly DnsmasqRecord[]
  readonly notices: readonly string[]
}

type Draft = {
  readonly single: Map<string, string>
  readonly servers: string[]
  readonly domains: Map<string, Asked>
  readonly addresses: Map<string, readonly string[]>
  readonly hosts: string[]
  readonly hostsFiles: string[]
  readonly resolvFiles: string[]
  readonly listen: string[]
  readonly records: DnsmasqRecord[]
  readonly notices: string[]
}

/** An option's value, and where it stands. */
type Value = { readonly text: string; readonly words: readonly string[]; readonly place: string }

/** Options that count once, or without a value, and are read where they are needed. */
const SINGLE: ReadonlySet<string> = new Set(
  (
    'port cache-size max-cache-ttl min-cache-ttl max-ttl no-negcache no-resolv no-hosts ' +
    'local-ttl strict-order dns-forward-max domain edns-packet-max log-queries filter-AAAA ' +
    'filter-A domain-needed'
  ).split(' '),
)
/** Those of them that are numbers, and the largest. */
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
/** Options that only say what is so anyway, or that are for dnsmasq's own process. */
const GRANTED: ReadonlySet<string> = new Set(
  (
    'bind-dynamic bind-interfaces conf-file-end enable-dbus group keep-in-foreground no-daemon ' +
    'no-poll pid-file user log-facility log-async clear-on-reload localise-queries'
  ).split(' '),
)
/** Options without an equal for which there is something to do. */
const WITHOUT_EQUAL: ReadonlyMap<string, string> = new Map([
  ['all-servers', 'one upstream is asked at a time'],
  ['bogus-priv', 'write a server block for each private network that nobody else knows'],
  ['conf-dir', 'name the files of the folder too'],
  ['conf-file', 'name the file too'],
  ['dnssec', 'signatures are not checked; ask upstreams that check them'],
  ['except-interface', 'name the addresses to listen on with "bind"'],
  ['expand-hosts', 'write the full names into the hosts file'],
  ['min-port', 'the system chooses ports'],
  ['neg-ttl', 'what does not exist is kept for as long as its zone says'],
  ['query-port', 'the system chooses ports'],
  ['stop-dns-rebind', 'answers of upstreams are not looked through for private addresses'],
])

const NO_ZONE = 'names without a dot, or with a star, are no zone; the line is left out for these'

/** What each option does to the draft. */
const READERS: Readonly<Record<string, (value: Value, draft: Draft) => void>> = {
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
 * Reads files, one behind the other.
 * @throws {ConversionError} with file and line, when a value cannot be read
 */
export function readDnsmasq(
  files: readonly { readonly path: string; readonly text: string }[],
): DnsmasqConfig {
  const draft: Draft = {
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

function readLine(line: string, place: string, draft: Draft): void {
  const bare = line.replace(/(^|\s)#.*$/, '').trim()
  const [, name, given = ''] = /^(?:--)?([A-Za-z0-9-]+)\s*(?:=\s*(.*))?$/s.exec(bare) ?? []
  if (bare === '') return
  if (name === undefined) throw new ConversionError(`${place}: "${bare}" is no option of dnsmasq`)
  const words = splitWords(given)
  const read = Object.hasOwn(READERS, name) ? READERS[name] : undefined
  if (read !== undefined) read({ text: given, words, place }, draft)
  else if (SINGLE.has(name)) draft.single.set(name, checked(name, given, place))
  else if (!GRANTED.has(name)) draft.notices.push(`${place}: ${whyLeftOut(name)}`)
}

/** Numbers are put into the Corefile as they are. */
function checked(name: string, text: string, place: string): string {
  const max = NUMBERS.get(name)
  if (name === 'port' && Number(text) === 0) {
    throw new ConversionError(`${place}: port 0 turns DNS off, so there is nothing to convert`)
  }
  if (max === undefined || (/^\d{1,10}$/.test(text) && Number(text) <= max)) return text
  throw new ConversionError(`${place}: "${name}" is "${text}", expected a number up to ${max}`)
}

function whyLeftOut(name: string): string {
  const instead = WITHOUT_EQUAL.get(name)
  if (instead !== undefined) return `"${name}" has no equal: ${instead}`
  if (/^(dhcp|tftp|pxe|enable-(tftp|ra)|ra-param|read-ethers|bootp)/.test(name)) {
    return `"${name}" is about DHCP or TFTP, and is left out`
  }
  return `"${name}" has no equal, and is left out`
}

/** Splits at commas outside of double quotes. */
function splitWords(text: string): string[] {
  const words = text.match(/("[^"]*"|[^",])+|(?<=,)(?=,|$)|^(?=,)/g) ?? []
  return words.map((word) => word.trim().replace(/^"(.*)"$/s, '$1'))
}

/** `[/DOMAIN/…/][ADDRESS[#PORT][@SOURCE]]` */
function readServer({ text, place }: Value, draft: Draft): void {
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
    else if (server === undefined) draft.domains.set(zone, target === '#' ? 'default' : 'nobody')
    else draft.domains.set(zone, [...serversOf(draft.domains.get(zone)), server])
  }
}

function serversOf(asked: Asked | undefined): readonly string[] {
  return asked === undefined || asked === 'default' || asked === 'nobody' ? [] : asked
}

/** '' stands for names without a dot, a star for parts of names: neither is a zone. */
function zoneOf(domain: string): string | undefined {
  if (domain === '#') return '.'
  return domain === '' || domain.includes('*') ? undefined : domain.replace(/^\.|\.$/g, '')
}

function upstreamOf(text: string, place: string, draft: Draft): string {
  const [, address = '', port] = /^([^#@]+)(?:#(\d+))?/.exec(text) ?? []
  const [, source] = /@(.*)$/.exec(text) ?? []
  if (source !== undefined) {
    draft.notices.push(`${place}: "@${source}" has no equal: the system chooses where to ask from`)
  }
  const bytes = parseAddress(address.replace(/%.*$/, ''))
  if (bytes === undefined) {
    throw new ConversionError(`${place}: "${text}" is not ADDRESS[#PORT]`)
  }
  if (port === undefined) return address
  return bytes.length === 4 ? `${address}:${port}` : `[${address}]:${port}`
}

/** `/DOMAIN/…/[ADDRESS|#]` */
function readAddressOption({ text, place }: Value, draft: Draft): void {
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
function readRevServer({ words, place }: Value, draft: Draft): void {
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
function readHostRecord({ words, place }: Value, draft: Draft): void {
  const addresses = words.filter((word) => parseAddress(word) !== undefined)
  const names = words.filter((word) => /[a-z]/i.test(word) && !addresses.includes(word))
  if (names.length === 0 || addresses.length === 0) {
    throw new ConversionError(`${place}: "host-record" is not NAME,ADDRESS`)
  }
  draft.hosts.push(...addresses.map((address) => `${address} ${names.join(' ')}`))
}

/** `ALIAS[,ALIAS…],TARGET[,TTL]` */
function readCname({ words, place }: Value, draft: Draft): void {
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
function readTxt({ words: [name = '', ...texts] }: Value, draft: Draft): void {
  const rdata = (texts.length === 0 ? [''] : texts).map((text) => `"${text}"`).join(' ')
  draft.records.push({ name, type: 'TXT', rdata, ttlSeconds: undefined })
}

/** `NAME[,TARGET[,PORT[,PRIORITY[,WEIGHT]]]]` */
function readSrv({ words, place }: Value, draft: Draft): void {
  const [name = '', target = '', port = '1', priority = '0', weight = '0'] = words
  if (target === '') {
    draft.notices.push(`${place}: a service without a host has no equal; it is left out`)
    return
  }
  const rdata = `${priority} ${weight} ${port} ${absolute(target)}`
  draft.records.push({ name, type: 'SRV', rdata, ttlSeconds: undefined })
}

/** `NAME[,HOST[,PREFERENCE]]` */
function readMx(
  { words: [name = '', host = '', preference = '1'], place }: Value,
  draft: Draft,
): void {
  if (host === '') {
    draft.notices.push(`${place}: a mail host without a name has no equal; it is left out`)
    return
  }
  const rdata = `${preference} ${absolute(host)}`
  draft.records.push({ name, type: 'MX', rdata, ttlSeconds: undefined })
}

/** `NAME[,TARGET]` */
function readPtr({ words: [name = '', target = '.'] }: Value, draft: Draft): void {
  draft.records.push({ name, type: 'PTR', rdata: absolute(target), ttlSeconds: undefined })
}

function absolute(name: string): string {
  return name.endsWith('.') ? name : `${name}.`
}
