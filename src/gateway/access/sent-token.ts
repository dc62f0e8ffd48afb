/**
 * The token that a request carries: in its hostname, its path or a header.
 * @module
 */
import { HttpError } from '../doh/http-error.ts'
import { isHostToken } from './token.ts'

/** The credentials of a request. */
export type Credentials = {
  /** Returns a header by its name in lower case. */
  header(name: string): string | null | undefined
  /** Client identities that the runtime has verified: `cert:SHA256`. None when left out. */
  identities?(): readonly string[]
  /**
   * Returns the name in the TLS handshake (SNI); `undefined` where the runtime does not know
   * it.
   */
  serverName?(): string | undefined
}

/**
 * Returns the token of a request: in its hostname, its path or a header. Returns the error for what
 * {@link findHostToken} refuses, and 400 for another token beside that in the hostname.
 * @param pathToken the token in the path, for clients that cannot send headers
 * @param domain as of {@link findHostToken}
 */
export function tokenOf(
  sent: Credentials,
  pathToken: string | undefined,
  domain: string,
): string | undefined | HttpError {
  const token = pathToken ?? sentToken(sent)
  if (domain === '') return token
  const destination = { host: sent.header('host') ?? '', serverName: sent.serverName?.() }
  const hostToken = findHostToken(destination, domain)
  if (hostToken === undefined || hostToken instanceof HttpError) return hostToken ?? token
  if (token === undefined || token === hostToken) return hostToken
  return new HttpError(400, 'two_tokens', 'The hostname has another token than the request')
}

/**
 * Returns the token of a Bearer header (RFC 6750 §2.1), or the password of a Basic one (RFC 7617);
 * the user name when the password is empty.
 */
export function sentToken(sent: Pick<Credentials, 'header'>): string | undefined {
  const authorization = sent.header('authorization') ?? ''
  // The regular expression takes as long as the answer.
  if (authorization.startsWith('Bearer ') && !authorization.includes(' ', 7)) {
    return authorization.slice(7)
  }
  const [, scheme = '', value = ''] = /^(\w+)\s+(\S+)$/.exec(authorization) ?? []
  if (scheme.toLowerCase() === 'bearer') return value
  if (scheme.toLowerCase() !== 'basic') return undefined
  try {
    const text = atob(value)
    const colon = text.indexOf(':')
    const password = text.slice(colon + 1)
    return password === '' ? text.slice(0, Math.max(0, colon)) : password
  } catch {
    return undefined
  }
}

/** An address as a host (RFC 3986 §3.2.2), perhaps with a port. */
const ADDRESS = /^(?:\[.*\]|[\d.]+)(?::\d*)?$/

/** Where a request went to. */
export type Destination = {
  /** The host of the URL, perhaps with a port; '' without one. */
  readonly host: string
  /** The name in the TLS handshake (SNI); `undefined` where the runtime does not know it. */
  readonly serverName: string | undefined
}

/**
 * Finds the token in a hostname. Only names below `domain` have one; `undefined` for all others.
 * Returns the error for a name below it that is no token, 400, and for a connection that was opened
 * to another name than that of the request, 421 (RFC 9110 §7.4).
 * @param domain TOKEN_DOMAIN, in lower case; '' for no such names
 */
export function findHostToken(
  { host, serverName }: Destination,
  domain: string,
): string | HttpError | undefined {
  if (domain === '') return undefined
  // CoreDNS sends the address of its upstream as the host, and the name in the handshake only.
  const name = bareName(serverName !== undefined && ADDRESS.test(host) ? serverName : host)
  const label = labelBelow(name, domain)
  if (serverName !== undefined) {
    const opened = bareName(serverName)
    const isAbout = label !== undefined || labelBelow(opened, domain) !== undefined
    if (isAbout && opened !== name) return misdirected()
  }
  if (label === undefined || isHostToken(label)) return label
  const message = 'The hostname has no token: 26 letters and digits, or one of them is wrong'
  return new HttpError(400, 'bad_host_token', message)
}

/** Returns what is before a domain, one label or several; `undefined` for names not below it. */
function labelBelow(name: string, domain: string): string | undefined {
  const end = name.length - domain.length - 1
  return end > 0 && name[end] === '.' && name.endsWith(domain) ? name.slice(0, end) : undefined
}

/** Returns a host without its port and final dot, in lower case. */
function bareName(host: string): string {
  const colon = host.indexOf(':')
  const name = colon < 0 ? host : host.slice(0, colon)
  return (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase()
}

function misdirected(): HttpError {
  const message = 'The connection was opened to another hostname, so send this request on another'
  return new HttpError(421, 'misdirected', message)
}
