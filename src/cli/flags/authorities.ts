/**
 * The certificate authorities of `--ca`.
 * @module
 */
import { readFileSync } from 'node:fs'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
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
