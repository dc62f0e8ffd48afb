/**
 * TLS for our own servers: what they show, and whom they let in.
 * @module
 */
import {
  createSecureContext,
  type SecureContextOptions,
  type TLSSocket,
  type TlsOptions,
} from 'node:tls'
import type { ClientAuth, TlsService } from '../chain/feature.ts'
import type { TlsIdentity } from '../chain/host.ts'
import { authorities, checkFiles } from './tls-identity.ts'

/** Time for a handshake. */
const HANDSHAKE_MS = 10_000

/**
 * Makes the options of a server. Connections whose clients are not welcome are for the server to
 * end: it learns more of them than OpenSSL does.
 */
export function serverOptions(service: TlsService): TlsOptions {
  return {
    ...contextOptions(service),
    requestCert: service.clientAuth !== 'nocert',
    rejectUnauthorized: false,
    handshakeTimeout: HANDSHAKE_MS,
  }
}

/** Those of them that may change while it serves. */
export function contextOptions({ cert, key, ca, clientAuth }: TlsService): SecureContextOptions {
  const isVerified = clientAuth === 'verify_if_given' || clientAuth === 'require_and_verify'
  const believed = ca ?? (isVerified ? authorities() : undefined)
  return { cert, key, ...(believed !== undefined && { ca: believed }), minVersion: 'TLSv1.2' }
}

/** Whether a client with its certificate, or without one, is what a server asks for. */
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

/** Checks that certificate and key belong together. @throws {Error} that says what is wrong */
export function checkIdentity(identity: TlsIdentity): void {
  checkFiles(identity)
  const { cert, key } = identity
  createSecureContext({ ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) })
}

function hasCertificate(socket: TLSSocket): boolean {
  return Object.keys(socket.getPeerCertificate()).length > 0
}
