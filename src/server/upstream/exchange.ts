/**
 * A single exchange with an upstream.
 * @module
 */
import type { ExchangeOptions, TlsIdentity, Upstream } from '../../resolver/contract/host.ts'
import { openUpstream } from './upstream-client.ts'

/** Sends a query and resolves with its response. @throws {Error} with the reason */
export async function exchange(
  upstream: Upstream,
  message: Uint8Array,
  options: ExchangeOptions & { readonly tls?: TlsIdentity },
): Promise<Uint8Array> {
  const client = openUpstream(upstream, {
    tls: options.tls ?? {},
    expireMs: options.timeoutMs,
    ageMsMax: 0,
    idleMax: 0,
    dohMethod: 'POST',
    resolvers: [],
    onConnection: () => undefined,
  })
  try {
    return await client.exchange(message, options)
  } finally {
    client.close()
  }
}
