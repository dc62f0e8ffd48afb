/**
 * DNS over plain HTTP for local tests (`--doh.listen`): the first server block answers.
 * @module
 */

import { createHash, timingSafeEqual } from 'node:crypto'
import type { Hono } from 'hono'
import { ReplyWriter } from '../../dns/wire/reply-writer.ts'
import { createDohApp } from '../../gateway/doh/app.ts'
import { createExplainRoute } from '../../gateway/doh/explain-route.ts'
import { HttpError } from '../../gateway/doh/http-error.ts'
import { explainMessage } from '../../resolver/chain/explain.ts'
import { Incoming, ownResponse } from '../../resolver/chain/incoming.ts'
import type { Resolver } from '../../resolver/chain/resolver.ts'
import { CommandError, listenMessage } from '../node/output.ts'
import { parseListenAddress } from '../sockets/listen-address.ts'
import { remoteOf } from './http-request.ts'
import { HttpServer } from './http-server.ts'

/** Hosts that only this machine can reach. */
export const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', '[::1]', 'localhost'])

/**
 * Listens at `HOST:PORT`.
 * @param resolver returns the current resolver; called for each query
 * @throws {CommandError} when the host is not loopback and `isInsecure` is false, or when it cannot
 * listen on the address
 */
export async function listenDoh(
  address: string,
  {
    resolver,
    isInsecure,
    reusePort,
    explainToken = '',
  }: {
    readonly resolver: () => Resolver | undefined
    readonly isInsecure: boolean
    /** Whether other threads listen on the same port. */
    readonly reusePort?: boolean
    /** The token of `/v1/explain`; '' for no such route. */
    readonly explainToken?: string
  },
): Promise<HttpServer> {
  const { host, port } = parseListenAddress(address)
  if (!isInsecure && !LOOPBACK.has(host ?? '')) {
    throw new CommandError(
      `--doh.listen ${address} would send responses unencrypted; use a loopback address, ` +
        'put a TLS proxy in front of it, or set KUBEDOH_INSECURE=1',
    )
  }
  const incoming = new Incoming()
  const writer = new ReplyWriter()
  const app = createDohApp({
    isPrivate: () => false,
    answer: (message, c) => {
      const current = resolver()
      const [listener] = current?.listeners ?? []
      if (current === undefined || listener === undefined) return undefined
      const client = { ...remoteOf(c.env), transport: 'https' } as const
      const result = current.answer(listener, incoming.read(message, client), writer)
      return ownResponse(result, writer)
    },
  })
  if (explainToken !== '') app.route('/', explainRoute(resolver, explainToken))
  const server = new HttpServer(app, { bounds: () => resolver()?.listeners[0]?.bounds ?? {} })
  try {
    await server.listen(host, port, { reusePort: reusePort === true })
  } catch (error) {
    throw new CommandError(listenMessage(error, `--doh.listen ${address}`), { cause: error })
  }
  return server
}

/** Creates `/v1/explain` for the holder of a token, which sees everything. */
function explainRoute(resolver: () => Resolver | undefined, token: string): Hono {
  return createExplainRoute({
    admit: (c) => {
      if (isBearer(c.req.header('authorization'), token)) {
        return { client: { ...remoteOf(c.env), transport: 'https' } }
      }
      const challenge = { 'www-authenticate': 'Bearer realm="kubedoh"' }
      throw new HttpError(401, 'unauthorized', 'The explain token is needed', challenge)
    },
    explain: (message, client) => explainMessage(resolver(), message, client),
  })
}

/** Returns whether an `Authorization` header has a token, in constant time. */
export function isBearer(header: string | undefined, token: string): boolean {
  return timingSafeEqual(sha256(header ?? ''), sha256(`Bearer ${token}`))
}

function sha256(text: string): Uint8Array {
  return createHash('sha256').update(text).digest()
}
