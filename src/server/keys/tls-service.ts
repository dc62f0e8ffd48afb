/**
 * TLS options of our servers: certificate and client authentication.
 * @module
 */
import {
  createSecureContext,
  type SecureContextOptions,
  type TLSSocket,
  type TlsOptions,
} from 'node:tls'
import type { ClientAuth, TlsService } from '../../resolver/contract/feature.ts'
import type { TlsIdentity } from '../../resolver/contract/host.ts'
import { authorities, checkFiles } from './tls-identity.ts'

/** Maximum time of a handshake, in milliseconds. */
export const HANDSHAKE_MS = 10_000

/**
 * Returns the TLS options of a server. The server itself closes connections of unauthorized
 * clients: it knows more about them than OpenSSL.
 */
export function serverOptions(service: TlsService): TlsOptions {
  return {
    ...contextOptions(service),
    requestCert: service.clientAuth !== 'nocert',
    rejectUnauthorized: false,
    handshakeTimeout: HANDSHAKE_MS,
  }
}

/** Returns the options that can change while the server runs. */
export function contextOptions({ cert, key, ca, clientAuth }: TlsService): SecureContextOptions {
  const isVerified = clientAuth === 'verify_if_given' || clientAuth === 'require_and_verify'
  const believed = ca ?? (isVerified ? authorities() : undefined)
  return { cert, key, ...(believed !== undefined && { ca: believed }), minVersion: 'TLSv1.2' }
}

/** Returns whether a client meets the server's requirements for client certificates. */
export function isWelcome(socket: TLSSocket, clientAuth: ClientAuth): boolean {
  switch (clientAuth) {
    case 'nocert':
    case 'request':
      return true
    case 'require':
      return hasCertificate(socket)
    case 'verify_if_given':
      return socket.authorized || !hasCertificate(socket)
    case 'require_and_verify':
      return socket.authorized && hasCertificate(socket)
  }
}

/** Checks that certificate and key match. @throws {Error} with the reason */
export function checkIdentity(identity: TlsIdentity): void {
  checkFiles(identity)
  const { cert, key } = identity
  createSecureContext({ ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) })
}

function hasCertificate(socket: TLSSocket): boolean {
  return Object.keys(socket.getPeerCertificate()).length > 0
}
