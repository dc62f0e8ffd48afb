/**
 * The head of a request over HTTP/2.
 * @module
 */
import type { IncomingHttpHeaders } from 'node:http2'
import type { Socket } from 'node:net'
import {
  type Ends,
  endsOf,
  type Head,
  identitiesOfSocket,
  serverNameOfSocket,
  unmapped,
} from './http-request.ts'

/** The header fields of a request, as an object and as sent. */
export type Fields = {
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
}

/** A request's head for `direct`. */
export class StreamHead implements Head {
  readonly method: string
  readonly path: string
  private readonly rawHeaders: readonly string[]
  private readonly socket: Socket

  constructor({ headers, rawHeaders }: Fields, socket: Socket) {
    this.method = headers[':method'] ?? ''
    this.path = headers[':path'] ?? ''
    this.rawHeaders = rawHeaders
    this.socket = socket
  }

  get address(): string {
    return unmapped(this.socket.remoteAddress ?? '')
  }

  /** Joins fields with the same name, as the app sees them; `node:http2` drops some duplicates. */
  header(name: string): string | undefined {
    const { rawHeaders } = this
    let found: string | undefined
    for (let i = 0; i < rawHeaders.length; i += 2) {
      if (rawHeaders[i] !== name) continue
      const value = rawHeaders[i + 1] ?? ''
      found = found === undefined ? value : `${found}, ${value}`
    }
    // RFC 9113 §8.3.1: HTTP/2 has the host in a pseudo-header.
    return found === undefined && name === 'host' ? this.header(':authority') : found
  }

  identities(): readonly string[] {
    return identitiesOfSocket(this.socket)
  }

  serverName(): string | undefined {
    return serverNameOfSocket(this.socket)
  }

  ends(): Ends {
    return endsOf(this.socket)
  }
}
