/**
 * What is known of HTTP requests here, whatever the version of HTTP: heads, answers, and both ends
 * of their connections.
 * @module
 */
import type { Socket } from 'node:net'
import { type PeerCertificate, TLSSocket } from 'node:tls'
import type { Hono } from 'hono'
import { HttpGate } from './http-gate.ts'

/** What answers requests. */
export type App = Pick<Hono, 'fetch'>

/** What is known of a request before its body. */
export type Head = {
  readonly method: string
  /** Path and query, as they were sent. */
  readonly path: string
  header(name: string): string | undefined
  readonly address: string
  /** Identities of the sender by a certificate that was checked; none where none are asked for. */
  identities?(): readonly string[]
  ends(): Ends
}

/** A response that is at hand. */
export type Ready = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Answers a request that was taken, a POST with its body. */
export type Answer = (body?: Uint8Array) => Ready | Promise<Ready>

/**
 * Takes a request by its head, or leaves it to the app (`undefined`); then answers it, a POST with
 * its body.
 */
export type Direct = (head: Head) => Answer | undefined

/** Bytes of a body that is answered without the app. */
export const DIRECT_BODY_BYTES_MAX = 65_535

/** Both ends of a request's connection. */
export type Ends = {
  readonly address: string
  readonly port: number
  readonly localAddress: string
  readonly localPort: number
}

/** What a socket knows of its ends. */
export type SocketEnds = Partial<
  Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>
>

/** Who sent a request, and to which address, from what an app gets as its environment. */
export function remoteOf(env: unknown): Ends {
  return endsOf(hasIncoming(env) ? env.incoming.socket : undefined)
}

/** Tells both ends of a connection. */
export function endsOf(socket: SocketEnds | undefined): Ends {
  return {
    address: socket?.remoteAddress ?? '127.0.0.1',
    port: socket?.remotePort ?? 0,
    localAddress: socket?.localAddress ?? '127.0.0.1',
    localPort: socket?.localPort ?? 0,
  }
}

/** Returns {@link identitiesOfSocket} for what an app gets as its environment. */
export function identitiesOf(env: unknown): readonly string[] {
  return hasIncoming(env) ? identitiesOfSocket(env.incoming.socket) : []
}

/** Identities by connection: parsing a certificate takes longer than an answer. */
const IDENTITIES = new WeakMap<object, readonly string[]>()

/**
 * Returns the identity of a client by its certificate: `cert:` and the SHA-256 in hexadecimal
 * digits. Empty unless the client presented one that one of our authorities signed.
 */
export function identitiesOfSocket(carrier: object): readonly string[] {
  const socket = carrier instanceof HttpGate ? carrier.source : carrier
  if (!(socket instanceof TLSSocket) || !socket.authorized) return []
  const known = IDENTITIES.get(socket)
  if (known !== undefined) return known
  // Deno sets `authorized` for a client without a certificate as well.
  const { fingerprint256 }: Partial<PeerCertificate> = socket.getPeerCertificate()
  const sha256 = fingerprint256?.replaceAll(':', '').toLowerCase()
  const identities = sha256 === undefined ? [] : [`cert:${sha256}`]
  IDENTITIES.set(socket, identities)
  return identities
}

function hasIncoming(env: unknown): env is { readonly incoming: { readonly socket: Socket } } {
  return typeof env === 'object' && env !== null && 'incoming' in env
}
