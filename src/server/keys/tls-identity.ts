/**
 * TLS options of connections to upstreams, with strict verification (RFC 8310 §5).
 * @module
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import {
  type ConnectionOptions,
  checkServerIdentity,
  createSecureContext,
  getCACertificates,
  type SecureContext,
} from 'node:tls'
import type { TlsIdentity, Upstream } from '../../resolver/contract/host.ts'

/**
 * Returns the TLS options of an upstream. Its certificate must be valid for the configured name,
 * else for the host of its URL or its address.
 * @throws {Error} for an unusable certificate or key
 */
export function tlsOptions(
  { address, url, serverName }: Upstream,
  identity: TlsIdentity,
): ConnectionOptions {
  const host = url === undefined ? address : new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')
  const name = serverName ?? host
  return {
    secureContext: tlsContext(identity),
    // SNI has hostnames only, no addresses (RFC 6066 §3).
    ...(isIP(name) === 0 && { servername: name }),
    rejectUnauthorized: true,
    checkServerIdentity: (_, shown) => checkServerIdentity(name, shown),
  }
}

/**
 * Creates the TLS context that all connections with one identity share.
 * @throws {Error} for an unusable certificate or key
 */
export function tlsContext(identity: TlsIdentity): SecureContext {
  checkFiles(identity)
  const { ca, cert, key } = identity
  return createSecureContext({
    ca: ca ?? authorities(),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    minVersion: 'TLSv1.2',
  })
}

/**
 * Rejects files that OpenSSL silently ignores: a CA file without a certificate, an empty key.
 * @throws {Error} with the reason
 */
export function checkFiles({ ca, key }: TlsIdentity): void {
  if (ca !== undefined) checkCertificate(ca)
  if (key !== undefined) createPrivateKey(key)
}

let known: string[] | undefined

/** The system's CAs, as in CoreDNS; Node's bundled CAs if the system has none. */
export function authorities(): string[] {
  if (known === undefined) {
    const machine = getCACertificates('system')
    known = machine.length > 0 ? machine : getCACertificates('default')
  }
  return known
}

/** Checks that there is a certificate: OpenSSL ignores other text, and would then trust nothing. */
function checkCertificate(ca: string): void {
  try {
    new X509Certificate(ca)
  } catch (cause) {
    throw new Error('the CA file has no PEM certificate', { cause })
  }
}
