/**
 * A file with a list of issuers.
 * @module
 */
import { readFileSync, statSync } from 'node:fs'
import { errorText } from '../../dns/bytes/unknown.ts'
import { CommandError, whyUnreadable } from '../../server/node/output.ts'

/** More than any list has: `ISSUERS` has at most 256 Ki characters. */
const BYTES_MAX = 1024 * 1024

/**
 * Reads a file of at most 1 MiB with JSON.
 * @throws {CommandError} when it is unreadable, or no JSON
 */
export function readIssuersFile(path: string): unknown {
  let text: string
  try {
    if (statSync(path).size > BYTES_MAX) throw new CommandError(`${path} is over 1 MiB`)
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`Cannot read ${path}: ${whyUnreadable(path)}`)
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new CommandError(`${path} is not JSON: ${errorText(error)}`, { cause: error })
  }
}
