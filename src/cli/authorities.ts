/**
 * The authorities that `--ca` names.
 * @module
 */
import { readFileSync } from 'node:fs'
import { setDefaultCACertificates } from 'node:tls'
import { CommandError, whyUnreadable } from '../node/output.ts'
import { checkFiles } from '../node/tls-identity.ts'

/**
 * Reads certificates of authorities, in PEM.
 * @throws {CommandError} when they cannot be read or are none
 */
export function readAuthorities(path: string): string {
  let ca: string
  try {
    ca = readFileSync(path, 'utf8')
  } catch {
    throw new CommandError(`Cannot read --ca ${path}: ${whyUnreadable(path)}`)
  }
  try {
    checkFiles({ ca })
  } catch (cause) {
    throw new CommandError(`--ca ${path} has no certificate in PEM form`, { cause })
  }
  return ca
}

/** Has `fetch` trust these authorities and no others, for the rest of the process. */
export function trustAuthorities(path: string): void {
  setDefaultCACertificates([readAuthorities(path)])
}
