/**
 * Types of HTTP requests and responses that all servers share, and the ends of a connection.
 * @module
 */
import type { Socket } from 'node:net'
import { type PeerCertificate, TLSSocket } from 'node:tls'
import type { Hono } from 'hono'
import { clientNetwork } from '../../dns/names/network.ts'
import type { TrustedProxies } from '../../gateway/doh/trusted-proxies.ts'
import { HttpGate } from './http-gate.ts'

/** Answers requests. */
export type App = Pick<Hono, 'fetch'>

/** A request without its body. */
export type Head = {
  readonly method: string
  /** Path and query, as sent. */
  readonly path: string
  header(name: string): string | undefined
  readonly address: string
  /** Identities of a verified client certificate; empty without one. */
  identities?(): readonly string[]
  /** The name in the TLS handshake (SNI), where the runtime knows it. */
  serverName?(): string | undefined
  ends(): Ends
}

/** A complete response. */
export type Ready = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Fields after the body, for gRPC; over HTTP/2 only. */
  readonly trailers?: Readonly<Record<string, string>>
}

/** Answers a request that a {@link Direct} accepted; a POST needs its body. */
export type Answer = (body?: Uint8Array) => Ready | Promise<Ready>

/**
 * Accepts a request by its head and returns a function that answers it, or returns `undefined` to
 * leave it to the app.
 */
export type Direct = (head: Head) => Answer | undefined

/** The longest body that is answered without the app, in bytes. */
export const DIRECT_BODY_BYTES_MAX = 65_535

/** `uri-host [ ":" port ]` (RFC 9110 §7.2), without user information; empty is valid. */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]*|\[[0-9a-f:.]+\])(?::\d*)?$/i

/**
 * Returns whether a request names at most one host, and that one validly: a proxy and a server that
 * choose different ones would disagree about whose request it is (RFC 9112 §3.2, RFC 9113 §8.3.1).
 */
export function hasValidHost(rawHeaders: readonly string[]): boolean {
  let host: string | undefined
  let authority: string | undefined
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    if (name === ':authority') authority = rawHeaders[i + 1]
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue
    if (host !== undefined) return false
    host = rawHeaders[i + 1] ?? ''
  }
  if (host === undefined) return true
  const isSame = authority === undefined || authority.toLowerCase() === host.toLowerCase()
  return isSame && HOST.test(host)
}

/** Both ends of a request's connection. */
export type Ends = {
  readonly address: string
  readonly port: number
  readonly localAddress: string
  readonly localPort: number
}

/** The ends of a connection as a socket reports them; undefined after it has closed. */
export type SocketEnds = Partial<
  Pick<Socket, 'remoteAddress' | 'remotePort' | 'remoteFamily' | 'localAddress' | 'localPort'>
>

/** Returns both ends of a request's connection from the environment that an app gets. */
export function remoteOf(env: unknown): Ends {
  return endsOf(hasIncoming(env) ? env.incoming.socket : undefined)
}

/** Returns both ends of a connection. */
export function endsOf(socket: SocketEnds | undefined): Ends {
  return {
    address: unmapped(socket?.remoteAddress ?? '127.0.0.1'),
    port: socket?.remotePort ?? 0,
    localAddress: unmapped(socket?.localAddress ?? '127.0.0.1'),
    localPort: socket?.localPort ?? 0,
  }
}

/**
 * Returns the key by which limits count a connection: the client's network. Each connection of a
 * proxy counts for itself, because many clients share it.
 */
export function limitKey(
  { remoteAddress = '', remotePort = 0 }: SocketEnds,
  proxies: TrustedProxies | undefined,
): string {
  return proxies?.has(remoteAddress) === true
    ? `${remoteAddress} ${remotePort}`
    : clientNetwork(remoteAddress)
}

/**
 * Returns an address as its own family writes it: a socket for both families has IPv4 addresses as
 * `::ffff:192.0.2.1` (RFC 4291 §2.5.5.2), and plugins such as `dns64` answer by the family.
 */
export function unmapped(address: string): string {
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
}

/** Returns {@link identitiesOfSocket} for the environment that an app gets. */
export function identitiesOf(env: unknown): readonly string[] {
  return hasIncoming(env) ? identitiesOfSocket(env.incoming.socket) : []
}

/** Identities by connection: parsing a certificate takes longer than answering. */
const IDENTITIES = new WeakMap<object, readonly string[]>()

/**
 * Returns the identity of a client certificate: `cert:` and its SHA-256 in hexadecimal. Empty
 * unless a configured authority signed the certificate.
 */
export function identitiesOfSocket(carrier: object): readonly string[] {
  const socket = socketOf(carrier)
  if (!(socket instanceof TLSSocket) || !socket.authorized) return []
  const known = IDENTITIES.get(socket)
  if (known !== undefined) return known
  // Deno also sets `authorized` for a client without a certificate.
  const { fingerprint256 }: Partial<PeerCertificate> = socket.getPeerCertificate()
  const sha256 = fingerprint256?.replaceAll(':', '').toLowerCase()
  const identities = sha256 === undefined ? [] : [`cert:${sha256}`]
  IDENTITIES.set(socket, identities)
  return identities
}

/** Returns {@link serverNameOfSocket} for the environment that an app gets. */
export function serverNameOf(env: unknown): string | undefined {
  return hasIncoming(env) ? serverNameOfSocket(env.incoming.socket) : undefined
}

/** Returns the name in the handshake of a TLS connection (SNI); `undefined` without one. */
export function serverNameOfSocket(carrier: object): string | undefined {
  const socket = socketOf(carrier)
  const { servername }: { servername?: unknown } = socket instanceof TLSSocket ? socket : {}
  return typeof servername === 'string' && servername !== '' ? servername : undefined
}

function socketOf(carrier: object): object {
  return carrier instanceof HttpGate ? carrier.source : carrier
}

function hasIncoming(env: unknown): env is { readonly incoming: { readonly socket: Socket } } {
  return typeof env === 'object' && env !== null && 'incoming' in env
}
