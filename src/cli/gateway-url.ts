/**
 * The URL of the gateway, and tokens for it.
 * @module
 */

import { CommandError } from '../node/output.ts'
import { LOOPBACK } from '../server/doh-listener.ts'
import type { Input } from './flags.ts'

/** Characters that a token in an HTTP header may have: no spaces, no line breaks. */
const TOKEN = /^[!-~]+$/

/**
 * Returns a token without the white space that files and shells add. Errors never contain the
 * token.
 * @param from the flag or variable it came from
 * @throws {CommandError} when a header cannot carry it
 */
export function readToken(text: string, from: string): string {
  const token = text.trim()
  if (token === '' || TOKEN.test(token)) return token
  throw new CommandError(`${from} contains a space or another character that tokens cannot have`)
}

/**
 * Reads `--gateway`. Never sends a token unencrypted to another machine.
 * @throws {CommandError} for other text than a URL, and `http://` to another machine without
 *   `--insecure`
 */
export function readGatewayUrl(input: Input): string {
  const text = input.text('gateway')
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isHttp = url?.protocol === 'http:'
  if (url !== undefined && `${url.username}${url.password}` !== '') {
    throw new CommandError(
      '--gateway has a user or password; set the token in its variable instead',
    )
  }
  if (url === undefined || (!isHttp && url.protocol !== 'https:')) {
    throw new CommandError(`--gateway "${text}" is not a URL such as https://dns.example.org`)
  }
  if (isHttp && !input.isSet('insecure') && !LOOPBACK.has(url.hostname)) {
    throw new CommandError(
      `--gateway ${text} would send the token unencrypted; use https:// or pass --insecure`,
    )
  }
  return text
}
