/**
 * Reverse proxies whose headers name the client: `X-Forwarded-For` with `X-Forwarded-Proto` and
 * `X-Forwarded-Host`, or `Forwarded` (RFC 7239), or `CF-Connecting-IP`. Each proxy appends the
 * address of its own peer, so a list is read from its end: what is left of the first address that
 * is not a proxy's may be the client's invention.
 * @module
 */
import { formatAddress, parseAddress, unmapped } from '../../dns/names/address.ts'
import {
  isInNetwork,
  type Network,
  parseClientAddress,
  parseNetwork,
} from '../../dns/names/network.ts'
import type { ConnectionEnds } from '../../resolver/contract/client.ts'
import type { MessageHead } from './direct-message.ts'

/** Characters that are read of a list, from its end. */
const LIST_CHARS_MAX = 4096
/** Addresses that are read of a list, from its end. */
const HOPS_MAX = 32
/** The longest name in a URL, and a port. */
const HOST_CHARS_MAX = 259
/** Networks of one list. */
const NETWORKS_MAX = 256
/** `192.0.2.1:80`, `[2001:db8::1]` or `[2001:db8::1]:_hidden` (RFC 7239 §6). */
const WITH_PORT = /^(?:\[([0-9a-f:.]+)\]|([\d.]+))(?::(?:\d{1,5}|_[\w.-]+))?$/i
/** A pair of `Forwarded`; no value that is needed has an escape, so none is resolved. */
const PAIR = /^\s*([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",;]+))\s*$/
/** `uri-host [ ":" port ]` (RFC 9110 §7.2). */
const HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i

/** The client, and the URL that it used, as far as the proxies say. */
export type Forwarded = {
  readonly address: string
  readonly scheme: 'http' | 'https' | undefined
  readonly host: string | undefined
}

/** Headers by their names in lower case. */
type Headers = { header(name: string): string | null | undefined }

/** The networks of trusted proxies. */
export class TrustedProxies {
  private readonly networks: readonly Network[]

  private constructor(networks: readonly Network[]) {
    this.networks = networks
  }

  /**
   * Parses networks and addresses, separated by spaces; `undefined` for none.
   * @throws {RangeError} with the word that is neither, or for more than 256
   */
  static parse(text: string): TrustedProxies | undefined {
    const words = text.split(/\s+/).filter((word) => word !== '')
    if (words.length > NETWORKS_MAX) throw new RangeError(`has over ${NETWORKS_MAX} networks`)
    const networks = words.map((word) => {
      const network = parseNetwork(word) ?? parseSingle(word)
      if (network !== undefined) return network
      throw new RangeError(`has "${word}", expected a network such as 192.0.2.0/24 or an address`)
    })
    return networks.length === 0 ? undefined : new TrustedProxies(networks)
  }

  /** Returns whether an address is that of a proxy; false for other text. */
  has(address: string): boolean {
    const bytes = parseClientAddress(address)
    return bytes !== undefined && this.hasBytes(bytes)
  }

  /**
   * Returns what the headers of a proxy say; `undefined` if the peer is no proxy. Of several lists,
   * only the first counts, because a proxy may pass on those that it does not write.
   */
  find(peer: string, headers: Headers): Forwarded | undefined {
    if (!this.has(peer)) return undefined
    const list = headers.header('x-forwarded-for')
    const forwarded = list == null ? headers.header('forwarded') : undefined
    const elements = forwarded == null ? undefined : partsFromEnd(forwarded).map(parseElement)
    const hops =
      elements?.map((one) => one?.get('for')) ??
      partsFromEnd(list ?? headers.header('cf-connecting-ip') ?? '')
    const { address = peer, index } = this.walk(hops)
    const element = elements?.[index]
    return {
      address,
      scheme: schemeOf(element?.get('proto') ?? lastOf(headers.header('x-forwarded-proto'))),
      host: hostOf(element?.get('host') ?? lastOf(headers.header('x-forwarded-host'))),
    }
  }

  /** Returns the last address before the first one that is no proxy's, or is no address. */
  private walk(hops: readonly (string | undefined)[]): {
    readonly address?: string
    readonly index: number
  } {
    let found: { readonly address?: string; readonly index: number } = { index: -1 }
    for (const [index, hop = ''] of hops.entries()) {
      const bytes = parseHop(hop)
      if (bytes === undefined) return found
      found = { address: formatAddress(bytes), index }
      if (!this.hasBytes(bytes)) return found
    }
    return found
  }

  private hasBytes(address: Uint8Array): boolean {
    return this.networks.some((network) => isInNetwork(address, network))
  }
}

/** A request's head; its address is that of the peer. */
type Head = MessageHead & {
  readonly address: string
  readonly request?: Request
  ends?(): ConnectionEnds
  identities?(): readonly string[]
  serverName?(): string | undefined
}

/** A request's head as the client sent it, if a trusted proxy passed it on. */
export class ForwardedHead implements Head {
  readonly method: string
  readonly path: string
  readonly request?: Request
  private readonly head: Head
  private readonly proxies: TrustedProxies
  private found: Forwarded | 'nothing' | undefined

  constructor(head: Head, proxies: TrustedProxies) {
    this.head = head
    this.proxies = proxies
    this.method = head.method
    this.path = head.path
    if (head.request !== undefined) this.request = head.request
  }

  get address(): string {
    return this.forwarded?.address ?? this.head.address
  }

  /** Returns a header; `host` and `x-forwarded-proto` as a trusted proxy has them, or nobody. */
  header(name: string): string | null | undefined {
    if (name === 'x-forwarded-proto') return this.forwarded?.scheme
    const own = name === 'host' ? this.forwarded?.host : undefined
    return own ?? this.head.header(name)
  }

  /** Returns the ends of the connection; proxies do not name the client's port. */
  ends(): ConnectionEnds {
    const ends = this.head.ends?.() ?? { port: 0 }
    return this.forwarded === undefined ? ends : { ...ends, port: 0 }
  }

  identities(): readonly string[] {
    return this.head.identities?.() ?? []
  }

  /** Returns the name in the handshake (SNI); that of a proxy's handshake does not count. */
  serverName(): string | undefined {
    return this.forwarded === undefined ? this.head.serverName?.() : undefined
  }

  private get forwarded(): Forwarded | undefined {
    const { head } = this
    this.found ??= this.proxies.find(head.address, head) ?? 'nothing'
    return this.found === 'nothing' ? undefined : this.found
  }
}

function parseSingle(text: string): Network | undefined {
  const address = parseAddress(text)
  const own = address && unmapped(address)
  return own && { address: own, prefixBits: 8 * own.length }
}

function parseHop(text: string): Uint8Array | undefined {
  const [, bracketed, plain = text] = WITH_PORT.exec(text) ?? []
  const address = parseAddress(bracketed ?? plain)
  return address && unmapped(address)
}

/** Splits a list, the last part first. Drops the part that the bound cuts. */
function partsFromEnd(list: string): string[] {
  const isCut = list.length > LIST_CHARS_MAX
  const parts = splitFromEnd(list.slice(-LIST_CHARS_MAX), ',')
  if (isCut) parts.pop()
  return parts.slice(0, HOPS_MAX).map((part) => part.trim())
}

/**
 * Splits a text, the last part first. A separator in a quoted string is a part of it; a quote that
 * a client left open changes nothing in what comes after it.
 */
function splitFromEnd(text: string, separator: ',' | ';'): string[] {
  const parts: string[] = []
  let end = text.length
  let isQuoted = false
  for (let i = end - 1; i >= 0; i--) {
    const isEscaped = isQuoted && text[i - 1] === '\\'
    if (text[i] === '"' && !isEscaped) isQuoted = !isQuoted
    else if (text[i] === separator && !isQuoted) {
      parts.push(text.slice(i + 1, end))
      end = i
    }
  }
  return [...parts, text.slice(0, end)]
}

/** Parses an element of `Forwarded` (RFC 7239 §4); `undefined` for one that is malformed. */
function parseElement(text: string): ReadonlyMap<string, string> | undefined {
  const pairs = new Map<string, string>()
  for (const part of splitFromEnd(text, ';')) {
    // Pairs may be left out (RFC 7239 §4).
    if (part.trim() === '') continue
    const [, name = '', quoted, plain = ''] = PAIR.exec(part) ?? []
    const key = name.toLowerCase()
    if (key === '' || pairs.has(key)) return undefined
    pairs.set(key, quoted ?? plain)
  }
  return pairs
}

/** Returns the last value of a list: the one that the peer itself wrote. */
function lastOf(list: string | null | undefined): string | undefined {
  return list?.slice(list.lastIndexOf(',') + 1).trim()
}

function schemeOf(text: string | undefined): Forwarded['scheme'] {
  const scheme = text?.toLowerCase()
  return scheme === 'http' || scheme === 'https' ? scheme : undefined
}

function hostOf(text = ''): string | undefined {
  return text.length <= HOST_CHARS_MAX && HOST.test(text) ? text : undefined
}
