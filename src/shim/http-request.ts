/**
 * What is known of HTTP requests here, whatever the version of HTTP: heads, answers, and both ends
 * of their connections.
 * @module
 */
import type { Socket } from 'node:net'
import { type PeerCertificate, TLSSocket } from 'node:tls'
import type { Hono } from 'hono'

/** What answers requests. */
export type App = Pick<Hono, 'fetch'>

/** What is known of a request before its body. */
export type Head = {
  readonly method: string
  /** Path and query, as they were sent. */
  readonly path: string
  header(name: string): string | undefined
  readonly address: string
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

/** Octets of a body that is answered without the app. */
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

/**
 * SHA-256 of the certificate that a client has shown and one of our authorities has signed, in
 * hexadecimal digits; `undefined` without one.
 */
export function certificateOf(env: unknown): string | undefined {
  const socket = hasIncoming(env) ? env.incoming.socket : undefined
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined
  // On Deno, who has shown none is authorized as well.
  const shown: Partial<PeerCertificate> = socket.getPeerCertificate()
  return shown.fingerprint256?.replaceAll(':', '').toLowerCase()
}

function hasIncoming(env: unknown): env is { readonly incoming: { readonly socket: Socket } } {
  return typeof env === 'object' && env !== null && 'incoming' in env
}
