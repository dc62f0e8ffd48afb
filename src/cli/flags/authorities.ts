/**
 * The certificate authorities of `--ca`.
 * @module
 */
import { readFileSync } from 'node:fs'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { causeText } from '../../dns/bytes/unknown.ts'
import { checkFiles } from '../../server/keys/tls-identity.ts'
import { CommandError, whyUnreadable } from '../../server/node/output.ts'

/**
 * Reads the CA certificates in a PEM file.
 * @throws {CommandError} when the file is unreadable or has no certificate
 */
export function readAuthorities(path: string): string {
  let ca: string
  try {
    ca = readFileSync(path, 'utf8')
  } catch {
    throw new CommandError(`Cannot read the CA file ${path}: ${whyUnreadable(path)}`)
  }
  try {
    checkFiles({ ca })
  } catch (cause) {
    throw new CommandError(`No PEM certificate in the CA file ${path}`, { cause })
  }
  return ca
}

/** Makes `fetch` trust only these authorities for the rest of the process. */
export function trustAuthorities(path: string): void {
  setDefaultCACertificates([readAuthorities(path)])
}

/** Makes `fetch` trust these authorities, too, beside the system's. */
export function trustMoreAuthorities(path: string): void {
  setDefaultCACertificates([...getCACertificates('default'), readAuthorities(path)])
}

/** Reasons for which no authority vouches for a certificate; Node may append advice of its own. */
const UNTRUSTED =
  /^(self-signed certificate(?: in certificate chain)?|unable to (?:verify|get)[^;]*)/

/** Returns why a connection failed, and for a certificate of an unknown authority what to set. */
export function connectReason(error: unknown): string {
  const text = causeText(error)
  const [, reason] = UNTRUSTED.exec(text) ?? []
  if (reason === undefined) return text
  return `${reason}; set KUBEDOH_CA to the PEM file of its authority`
}
