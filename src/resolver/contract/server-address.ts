/**
 * The addresses and ports of a server.
 * @module
 */
import type { Transport } from '../../corefile/zone-key.ts'

/** Ports where a Corefile names none. */
export type DefaultPorts = Readonly<Record<Transport, number>>

/** The registered ports of the transports (RFC 1035, RFC 7858, RFC 8484); CoreDNS's for gRPC. */
export const STANDARD_PORTS: DefaultPorts = { dns: 53, tls: 853, https: 443, grpc: 443 }

/** An address that a server listens on. */
export type ServerAddress = {
  /** The name in CoreDNS's metrics: `dns://:53`, `dns://169.254.20.10:53`. */
  readonly name: string
  /** '' for all addresses. */
  readonly address: string
}

/** Names the addresses of a server as CoreDNS's metrics do; one if it is bound to none. */
export function serverAddresses(
  transport: Transport,
  port: number,
  addresses: readonly string[],
): ServerAddress[] {
  return (addresses.length === 0 ? [''] : addresses).map((address) => {
    const host = address.includes(':') ? `[${address}]` : address
    return { address, name: `${transport}://${host}:${port}` }
  })
}
