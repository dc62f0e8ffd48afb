/**
 * The upstreams that a `forward` directive names: addresses, hostnames, URLs, and files that
 * list name servers (github.com/coredns/coredns, plugin/pkg/parse and plugin/forward/resolve.go).
 * @module
 */

import { configError } from '../../../corefile/problem.ts'
import type { Word } from '../../../corefile/server-block.ts'
import { parseAddress } from '../../../dns/names/address.ts'
import type { Upstream } from '../../contract/host.ts'

/** Upstreams of one directive, including those that files list. */
const UPSTREAMS_MAX = 64
const PORTS: Readonly<Record<'dns' | 'tls', number>> = { dns: 53, tls: 853 }
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost'])
/** A path, also of a missing file; a word without a slash at its start may be a hostname. */
const PATH = /^\.{0,2}\//
/** Letters, digits and hyphens (RFC 1123 §2.1), and the underscores that clusters have. */
const HOST_NAME =
  /^(?=.{1,253}\.?$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*\.?$/i

/** A word that names a file, and whether that lists a name server. */
export type UpstreamFile = {
  readonly word: Word
  readonly state: 'listed' | 'empty' | 'missing'
}

/** The upstreams of a directive, each once, in order, and the files that list some. */
export type NamedUpstreams = {
  readonly upstreams: readonly Upstream[]
  readonly files: readonly UpstreamFile[]
}

/**
 * Reads the words that name upstreams. Accepts a file that is missing or lists no upstream: it may
 * still be written.
 * @param readText reads files that list name servers, such as /etc/resolv.conf
 * @throws {ConfigError} with the position of the mistake
 */
export function parseUpstreams(
  words: readonly [Word, ...Word[]],
  readText: (path: string) => string | undefined,
): NamedUpstreams {
  const found = new Map<string, Upstream>()
  const files: UpstreamFile[] = []
  for (const word of words) {
    const { upstreams, file } = parseUpstream(word, readText)
    if (file !== undefined) files.push({ word, state: file })
    for (const upstream of upstreams) {
      const key = upstream.url ?? upstreamName(upstream)
      if (!found.has(key)) found.set(key, upstream)
    }
  }
  if (found.size > UPSTREAMS_MAX) {
    throw configError(words[0], `${found.size} upstreams, at most ${UPSTREAMS_MAX}`)
  }
  return { upstreams: [...found.values()], files }
}

/** Whether the text of a file lists a name server. */
export function listsServers(text: string): boolean {
  return nameServers(text).length > 0
}

/** Normalizes `ADDRESS[:PORT]`; `undefined` for anything else. */
export function parseResolver(text: string): string | undefined {
  const place = parseServer(text)
  return place && upstreamName(place)
}

/** Reads the `ADDRESS[:PORT]` of a DNS server; `undefined` for anything else. */
export function parseServer(
  text: string,
): { readonly address: string; readonly port: number } | undefined {
  const place = readPlace(text, PORTS.dns)
  return place !== undefined && isAddress(place.address) ? place : undefined
}

/** Returns an upstream's name in metrics and messages: `192.0.2.1:53`, without a URL's path. */
export function upstreamName({ address, port }: Pick<Upstream, 'address' | 'port'>): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}

/** Whether an upstream is a hostname. */
export function isHostName({ address }: Upstream): boolean {
  return !isAddress(address)
}

type ParsedWord = {
  readonly upstreams: readonly Upstream[]
  /** Absent for a word that names no file. */
  readonly file?: UpstreamFile['state']
}

function parseUpstream(word: Word, readText: (path: string) => string | undefined): ParsedWord {
  const { text } = word
  const [, scheme = 'dns', rest = text] = /^([a-z0-9]+):\/\/(.*)$/s.exec(text) ?? []
  if (scheme === 'https' || scheme === 'http') return { upstreams: [parseUrl(word)] }
  if (scheme !== 'dns' && scheme !== 'tls') {
    throw configError(word, `"${text}": upstreams need dns://, tls:// or https://`)
  }
  const { host, serverName } = scheme === 'tls' ? splitServerName(rest) : { host: rest }
  const place = readPlace(host, PORTS[scheme])
  if (place !== undefined && isAddress(place.address)) {
    return { upstreams: [{ transport: scheme, ...place, ...(serverName && { serverName }) }] }
  }
  const file = readText(rest)
  if (file !== undefined) {
    const upstreams = nameServers(file)
    return { upstreams, file: upstreams.length > 0 ? 'listed' : 'empty' }
  }
  if (PATH.test(rest)) return { upstreams: [], file: 'missing' }
  if (place === undefined || !isPlausibleHost(place.address)) {
    const wanted = '[tls://]ADDRESS[:PORT], https://…, a hostname, nor a file'
    throw configError(word, `"${text}" is neither ${wanted}`)
  }
  return { upstreams: [{ transport: scheme, ...place, ...(serverName && { serverName }) }] }
}

/** Reads a URL; accepts plain HTTP on this machine only, for tests (RFC 8484 §5). */
function parseUrl(word: Word): Upstream {
  const { text, token } = splitToken(word)
  const { host, serverName } = splitServerName(text)
  const url = URL.parse(host)
  if (url === null) throw configError(word, `"${text}" is not a URL`)
  if (url.protocol === 'http:' && !LOOPBACK.has(url.hostname)) {
    throw configError(word, `"${text}": DNS over HTTP needs https:// beyond this machine`)
  }
  if (host.endsWith('/')) {
    const message = `"${text}": leave out "/" for the path /dns-query, or name another path`
    throw configError(word, message)
  }
  if (url.pathname === '/') url.pathname = '/dns-query'
  return {
    transport: 'https',
    address: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
    url: url.href,
    ...(serverName && { serverName }),
    ...(token && { token }),
  }
}

/** Splits the token, percent-encoded, from `https://USER:TOKEN@HOST`; messages must not show it. */
function splitToken(word: Word): { readonly text: string; readonly token?: string } {
  const [, scheme, encoded = '', rest] =
    /^(https?:\/\/)[^/@]*?:([^/@]*)@(.*)$/s.exec(word.text) ?? []
  if (scheme === undefined) return { text: word.text }
  try {
    return { text: `${scheme}${rest}`, token: decodeURIComponent(encoded) }
  } catch {
    throw configError(word, `the token of "${scheme}${rest}" is not percent-encoded`)
  }
}

/** Splits the certificate name from `ADDRESS%NAME[:PORT]`, also in brackets. */
function splitServerName(text: string): { host: string; serverName?: string } {
  const [, before, serverName, bracket = '', port = ''] =
    /^([^%]*)%([^%/:\]]+)(\])?(:\d+)?$/.exec(text) ?? []
  if (before === undefined || serverName === undefined) return { host: text }
  return { host: `${before}${bracket}${port}`, serverName }
}

/** Reads `HOST[:PORT]`, `[HOST]:PORT` or an IPv6 address, whatever the host is. */
function readPlace(
  text: string,
  portDefault: number,
): { readonly address: string; readonly port: number } | undefined {
  const [, bracketed, host = bracketed ?? text, digits] =
    /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? []
  const port = Number(digits ?? portDefault)
  return port < 1 || port > 65535 ? undefined : { address: host, port }
}

/** Whether a text is an address; an IPv6 address may have a zone index (RFC 4007 §11). */
function isAddress(text: string): boolean {
  return parseAddress(text.includes(':') ? text.replace(/%[^%]+$/, '') : text) !== undefined
}

/** Whether a text may be a hostname: a last label of digits is an invalid address (RFC 3696 §2). */
function isPlausibleHost(text: string): boolean {
  return HOST_NAME.test(text) && !/(^|\.)\d+\.?$/.test(text)
}

/** Reads the `nameserver` lines of a resolv.conf(5). */
function nameServers(text: string): Upstream[] {
  return text.split('\n').flatMap((line) => {
    const address = /^\s*nameserver\s+([^\s#;]+)/.exec(line)?.[1] ?? ''
    const isKnown = isAddress(address)
    return isKnown ? [{ transport: 'dns' as const, address, port: PORTS.dns }] : []
  })
}
