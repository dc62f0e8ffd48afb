/**
 * A TCP server for the duration of a test.
 * @module
 */

import type { Answer } from '../../src/server/sockets/answer.ts'
import { TCP_LIMITS, type TcpLimits, TcpServer } from '../../src/server/sockets/tcp-server.ts'
import { connectionsGone } from './clients.ts'

/** Runs a function with a server on loopback. */
export async function withServer(
  answer: Answer,
  run: (port: number) => Promise<void>,
  { address = '127.0.0.1', ...limits }: Partial<TcpLimits> & { readonly address?: string } = {},
): Promise<void> {
  const server = new TcpServer(
    () => answer,
    () => ({ ...TCP_LIMITS, ...limits }),
  )
  const port = await server.listen(address, 0)
  try {
    await run(port)
  } finally {
    await server.close()
    await connectionsGone()
  }
}
