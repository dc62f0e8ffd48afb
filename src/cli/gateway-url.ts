/**
 * The gateway that a command talks to.
 * @module
 */

import { CommandError } from '../node/output.ts'
import { LOOPBACK } from '../server/doh-listener.ts'
import type { Input } from './flags.ts'

/** What an HTTP header can carry of a token; spaces and line breaks are none of it. */
const TOKEN = /^[!-~]+$/

/**
 * Reads a token without what a file or a shell has put around it. Its text is in no error.
 * @param from what it was given by
 * @throws {CommandError} when it cannot be sent
 */
export function readToken(text: string, from: string): string {
  const token = text.trim()
  if (token === '' || TOKEN.test(token)) return token
  throw new CommandError(`${from} has a space or another character that no token has`)
}

/**
 * Reads `--gateway`. A token goes in a header, and not in the clear beyond this machine.
 * @throws {CommandError} when it is no URL, or `http://` to another machine without `--insecure`
 */
export function readGatewayUrl(input: Input): string {
  const text = input.text('gateway')
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isHttp = url?.protocol === 'http:'
  if (url !== undefined && `${url.username}${url.password}` !== '') {
    throw new CommandError('--gateway has a user or a password; give the token by its variable')
  }
  if (url === undefined || (!isHttp && url.protocol !== 'https:')) {
    throw new CommandError(`--gateway "${text}" is not a URL such as https://dns.example.org`)
  }
  if (isHttp && !input.isSet('insecure') && !LOOPBACK.has(url.hostname)) {
    throw new CommandError(
      `--gateway ${text} would send the token in the clear; use https://, or say --insecure`,
    )
  }
  return text
}
