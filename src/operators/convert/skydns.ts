/**
 * Converts SkyDNS's configuration (its JSON in etcd, its environment or its flags) to a Corefile
 * with the `etcd` plugin, which reads SkyDNS's keys and values (github.com/skynetservices/skydns,
 * server/config.go and main.go).
 * @module
 */
import { isRecord, parseJson } from '../../dns/bytes/unknown.ts'
import { type Conversion, ConversionError } from './conversion.ts'
import { type TextLine, type TextServer, writeCorefile } from './corefile-text.ts'
import { ReadOptions } from './read-options.ts'
import { withoutEffect } from './watched-reads.ts'

/** Flag names by environment variable and by JSON field. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['SKYDNS_DOMAIN', 'domain'],
  ['SKYDNS_ADDR', 'addr'],
  ['SKYDNS_NAMESERVERS', 'nameservers'],
  ['SKYDNS_PATH_PREFIX', 'path-prefix'],
  ['SKYDNS_NDOTS', 'ndots'],
  ['SKYDNS_SYSTEMD', 'systemd'],
  ['ETCD_MACHINES', 'machines'],
  ['ETCD_TLSKEY', 'tls-key'],
  ['ETCD_TLSPEM', 'tls-pem'],
  ['ETCD_CACERT', 'ca-cert'],
  ['ETCD_USERNAME', 'username'],
  ['ETCD_PASSWORD', 'password'],
  ['dns_addr', 'addr'],
  ['round_robin', 'round-robin'],
  ['ns_rotate', 'ns-rotate'],
  ['nsrotate', 'ns-rotate'],
  ['no_rec', 'no-rec'],
  ['read_timeout', 'rtimeout'],
  ['min_ttl', 'min-ttl'],
  ['rcache_ttl', 'rcache-ttl'],
  ['path_prefix', 'path-prefix'],
  ['ndot', 'ndots'],
])

/** Options without an equivalent, and what happens or what to do instead. */
const WITHOUT_EQUAL: ReadonlyMap<string, string> = new Map([
  ['ttl', 'records without their own TTL have 300 s'],
  ['min-ttl', 'negative responses have a TTL of 30 s'],
  ['priority', 'SRV records without their own priority have 10'],
  ['ndots', 'names with any number of labels are forwarded'],
  ['rtimeout', 'reads of etcd time out after 5 s'],
  ['scache', '"dnssec" has its own cache of signatures'],
  ['local', 'add a key for the name instead'],
  ['hostmaster', 'the SOA record has hostmaster.DOMAIN'],
  ['systemd', 'list the address in "bind"'],
  ['discover', 'list all machines of etcd'],
  ['dnssec', 'add "dnssec { key file BASENAME }" to the block of the domain'],
  ['stubzones', 'add a server block with "forward" for each'],
  ['kubernetes', 'use the "kubernetes" plugin'],
  ['netlookup', 'use "hosts /etc/hosts { fallthrough }"'],
])

/** The program on its command line, or in a unit of systemd. */
const PROGRAM = /(^|[/=])skydns$/

const ETCD = 'http://127.0.0.1:2379'

/**
 * Converts files. If several set the same option, the last one wins.
 * @throws {ConversionError} for a file in another format, or an invalid address
 */
export function convertSkydns(texts: readonly string[]): Conversion {
  const options = new ReadOptions()
  const notices: string[] = [
    `keys are read from etcd's v3 store; move v2 keys with "etcdctl migrate" or by hand`,
  ]
  const loose = texts.flatMap((text) => readOptions(text, options, notices))
  const corefile = writeCorefile([serverBlock(options, notices)])
  for (const { name } of options.unread()) {
    const instead = WITHOUT_EQUAL.get(name)
    const effect = withoutEffect(`"${name}"`)
    notices.push(instead === undefined ? effect : `"${name}" has no equivalent: ${instead}`)
  }
  notices.push(...loose.map((word) => withoutEffect(JSON.stringify(word))))
  return { ...corefile, notices }
}

function serverBlock(options: ReadOptions, notices: string[]): TextServer {
  const isRecursive = options.get('no-rec') !== 'true'
  const { host, port } = readAddress(options.get('addr') ?? '127.0.0.1:53')
  const domain = (options.get('domain') ?? 'skydns.local').replace(/\.$/, '')
  const isBound = host !== '' && host !== '0.0.0.0' && host !== '::'
  const lines: TextLine[] = [
    ...(isBound ? [['bind', host]] : []),
    ['errors'],
    ...(options.get('verbose') === 'true' ? [['log']] : []),
    ...(options.get('round-robin') === 'false' ? [] : [['loadbalance']]),
    ...cacheLines(options),
    etcdLine(domain, options),
    ...(isRecursive ? [forwardLine(options)] : []),
  ]
  if (!isRecursive) notices.push(`"no-rec": names outside "${domain}" get REFUSED`)
  return { comment: 'from SkyDNS', head: [`${isRecursive ? '.' : domain}:${port}`], lines }
}

function etcdLine(domain: string, options: ReadOptions): TextLine {
  const cert = options.get('tls-pem') ?? ''
  const key = cert === '' ? '' : (options.get('tls-key') ?? '')
  const ca = options.get('ca-cert') ?? ''
  const files = cert === '' ? [ca] : [cert, key, ca]
  const tls = ['tls', ...files.filter((file) => file !== '')]
  const username = options.get('username')
  return {
    head: ['etcd', domain],
    lines: [
      ['path', `/${(options.get('path-prefix') ?? 'skydns').replace(/^\/+/, '')}`],
      ['endpoint', ...(options.get('machines') ?? ETCD).split(',')],
      ...(tls.length > 1 ? [tls] : []),
      ...(username === undefined ? [] : [['credentials', username, options.get('password') ?? '']]),
    ],
  }
}

function forwardLine(options: ReadOptions): TextLine {
  const servers = (options.get('nameservers') ?? '').split(',').filter((text) => text !== '')
  const head = ['forward', '.', ...(servers.length === 0 ? ['/etc/resolv.conf'] : servers)]
  const policy = options.get('ns-rotate') === 'false' ? 'sequential' : 'round_robin'
  return { head, lines: [['policy', policy]] }
}

/** SkyDNS caches nothing by default. */
function cacheLines(options: ReadOptions): TextLine[] {
  const capacity = options.get('rcache') ?? '0'
  if (Number(capacity) === 0) return []
  return [{ head: ['cache', options.get('rcache-ttl') ?? '60'], lines: [['success', capacity]] }]
}

function readAddress(text: string): { readonly host: string; readonly port: string } {
  const [, bracketed, host = bracketed ?? '', port] =
    /^(?:\[([^\]]*)\]|([^:]*)):(\d+)$/.exec(text) ?? []
  if (port === undefined) throw new ConversionError(`addr "${text}" is not IP:PORT`)
  return { host, port }
}

/**
 * Parses JSON, environment variables, or a command line; the last value of an option wins. Returns
 * the words that do not belong to an option.
 */
function readOptions(text: string, options: ReadOptions, notices: string[]): string[] {
  const trimmed = text.trim()
  const set = (name: string, value: string): void => {
    const own = NAMES.get(name) ?? name
    if (options.set(own, value) === undefined) return
    notices.push(`"${own}" is set again; the earlier value is ignored`)
  }
  if (trimmed.startsWith('{')) {
    readJson(trimmed, set)
    return []
  }
  const words = trimmed
    .split('\n')
    .map((line) => line.replace(/^\s*(#.*|export\s+)/, ''))
    .flatMap((line) => line.match(/"[^"]*"|'[^']*'|[^\s"']+(?:"[^"]*"|'[^']*')?/g) ?? [])
  const loose: string[] = []
  let count = 0
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? ''
    const flag = /^--?([a-z-]+)(?:=(.*))?$/s.exec(word)
    const variable = /^([A-Z_]+)=(.*)$/s.exec(word)
    const [, name, value] = flag ?? variable ?? []
    if (name === undefined) {
      if (!PROGRAM.test(word)) loose.push(word)
      continue
    }
    const next = words[i + 1] ?? '-'
    const takesNext = value === undefined && !/^(-|[A-Z_]+=)/.test(next)
    set(name, (value ?? (takesNext ? next : 'true')).replace(/^(["'])(.*)\1$/s, '$2'))
    if (takesNext) i++
    count++
  }
  if (count > 0) return loose
  throw new ConversionError(
    'expected JSON such as {"domain":"a.test"}, SKYDNS_DOMAIN=… or flags such as -domain=…',
  )
}

function readJson(text: string, set: (name: string, value: string) => void): void {
  const value = parseJson(text)
  if (value === undefined) throw new ConversionError('the file starts like JSON but is invalid')
  if (!isRecord(value)) throw new ConversionError('the JSON is not an object')
  for (const [name, one] of Object.entries(value)) {
    set(name, Array.isArray(one) ? one.join(',') : String(one))
  }
}
