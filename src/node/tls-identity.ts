/**
 * How TLS connections to upstreams are made and judged (RFC 8310 §5: strict).
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
import type { TlsIdentity, Upstream } from '../chain/host.ts'

/**
 * Makes the options by which an upstream is connected to: its certificate must be for the name it
 * is told to have, or else for the host of its URL, or its address.
 * @throws {Error} when a certificate or key cannot be used
 */
export function tlsOptions(
  { address, url, serverName }: Upstream,
  identity: TlsIdentity,
): ConnectionOptions {
  const host = url === undefined ? address : new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')
  const name = serverName ?? host
  return {
    secureContext: tlsContext(identity),
    // The name of a server is a name of a host (RFC 6066 §3).
    ...(isIP(name) === 0 && { servername: name }),
    rejectUnauthorized: true,
    checkServerIdentity: (_, shown) => checkServerIdentity(name, shown),
  }
}

/**
 * Makes what connections of one identity have in common.
 * @throws {Error} when a certificate or key cannot be used
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
 * Checks what OpenSSL would pass over: no certificate among authorities, an empty key.
 * @throws {Error} that says what is wrong
 */
export function checkFiles({ ca, key }: TlsIdentity): void {
  if (ca !== undefined) checkCertificate(ca)
  if (key !== undefined) createPrivateKey(key)
}

let known: string[] | undefined

/** The machine's authorities, as CoreDNS has it; those of Node when the machine has none. */
export function authorities(): string[] {
  if (known === undefined) {
    const machine = getCACertificates('system')
    known = machine.length > 0 ? machine : getCACertificates('default')
  }
  return known
}

/** What is no certificate would be passed over, and nothing be trusted. */
function checkCertificate(ca: string): void {
  try {
    new X509Certificate(ca)
  } catch (cause) {
    throw new Error('the file of authorities has no certificate in PEM form', { cause })
  }
}
