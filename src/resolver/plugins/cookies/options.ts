/**
 * Options of the `cookies` plugin.
 * @module
 */

import {
  checkArgs,
  type OptionReaders,
  onlyDirective,
  onlyWord,
  parseCount,
  readOptions,
} from '../../../corefile/arguments.ts'
import { configError } from '../../../corefile/problem.ts'
import type { Directive, Word } from '../../../corefile/server-block.ts'
import { parseHex } from '../../../dns/bytes/bytes.ts'
import type { Host } from '../../contract/host.ts'
import { readNamedFile } from '../../plugin-kit/tls-files.ts'
import { SIPHASH_KEY_BYTES } from './siphash.ts'

/** The options of a `cookies` directive. */
export type CookieOptions = {
  /** The secrets of the file, at least one; absent without a file. */
  readonly secrets?: readonly Uint8Array[]
  /** UDP responses a second for each network of unverified clients; absent for no bound. */
  readonly rate?: number
  /** One in this many queries above the rate gets a response; 0 for none. */
  readonly slip: number
}

const RATE_MAX = 1_000_000
const SLIP_MAX = 100
const SLIP = 1
/** The secret that signs, and the previous or the next one. */
const SECRETS_MAX = 2

const READERS: OptionReaders<CookieOptions> = {
  rate: (option) => ({ rate: parseCount(onlyWord(option), 1, RATE_MAX) }),
  slip: (option) => ({ slip: parseCount(onlyWord(option), 0, SLIP_MAX) }),
}

/**
 * Parses `cookies [SECRET-FILE] { rate N  slip N }`, and the file.
 * @throws {ConfigError} at the invalid word, in the Corefile or the file
 */
export function parseCookies(
  directives: readonly [Directive, ...Directive[]],
  readText: Host['readText'],
): CookieOptions {
  const directive = onlyDirective(directives)
  const [word] = checkArgs(directive, 1)
  const secrets = word && { secrets: readSecrets(word, readNamedFile(word, readText)) }
  return readOptions<CookieOptions>(directive, READERS, { slip: SLIP, ...secrets })
}

/** Reads one secret a line, without empty lines and comments. Errors do not show secrets. */
function readSecrets(word: Word, text: string): Uint8Array[] {
  const file = word.text
  const secrets: Uint8Array[] = []
  for (const [i, line] of text.split('\n').entries()) {
    const digits = line.replace(/#.*/, '').trim()
    if (digits === '') continue
    const at = { file, line: i + 1, column: line.search(/\S/) + 1 }
    const secret = parseHex(digits)
    if (secret?.length !== SIPHASH_KEY_BYTES) {
      const hint = 'create one with "openssl rand -hex 16"'
      throw configError(at, `a cookie secret has 32 hexadecimal digits; ${hint}`)
    }
    if (secrets.length === SECRETS_MAX) {
      throw configError(at, `a file has at most ${SECRETS_MAX} cookie secrets; remove the oldest`)
    }
    secrets.push(secret)
  }
  if (secrets.length === 0) throw configError(word, `"${file}" has no cookie secret`)
  return secrets
}
