/**
 * DNS over plain HTTP for local tests (`--doh.listen`): the first server block answers.
 * @module
 */

import { Incoming, ownResponse } from '../chain/incoming.ts'
import type { Resolver } from '../chain/resolver.ts'
import { ReplyWriter } from '../dns/reply-writer.ts'
import { createDohApp } from '../doh/app.ts'
import { CommandError, listenMessage } from '../node/output.ts'
import { parseListenAddress } from './feature-servers.ts'
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
  }: {
    readonly resolver: () => Resolver | undefined
    readonly isInsecure: boolean
    /** Whether other threads listen on the same port. */
    readonly reusePort?: boolean
  },
): Promise<HttpServer> {
  const { host, port } = parseListenAddress(address)
  if (!isInsecure && !LOOPBACK.has(host ?? '')) {
    throw new CommandError(
      `--doh.listen ${address} would send responses unencrypted; use a loopback address, ` +
        'put a TLS proxy in front of it, or pass --insecure',
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
  const server = new HttpServer(app, { bounds: () => resolver()?.listeners[0]?.bounds ?? {} })
  try {
    await server.listen(host, port, { reusePort: reusePort === true })
  } catch (error) {
    throw new CommandError(listenMessage(error, `--doh.listen ${address}`), { cause: error })
  }
  return server
}
