/**
 * The token that clients send: of a flag, of a file that another program keeps fresh, or of a
 * login.
 * @module
 */
import { CommandError } from '../../server/node/output.ts'
import { requireTextFile } from '../../server/node/read-files.ts'
import type { Input } from '../flags/flags.ts'
import { sendWithLogin, trimToken } from '../flags/operator-call.ts'

/** Variable with the path of a file with a token, such as a projected volume of a Pod. */
const FILE_VARIABLE = 'KUBEDOH_CLIENT_TOKEN_FILE'

/**
 * Where the token of a client comes from: `flag` has it once and for all, `file` and `login` have
 * another one later.
 */
export type TokenSource = 'flag' | 'file' | 'login'

/** Returns where the token comes from: the flag or its variable, else the file, else the login. */
export function tokenSourceOf(input: Input): TokenSource {
  if (input.text('token') !== '') return 'flag'
  return input.env(FILE_VARIABLE) === '' ? 'login' : 'file'
}

/**
 * Reads the token of the flag, or that in the file as it is now; '' for that of a login.
 * @throws {CommandError} for a file without a token, and a token that a header cannot carry
 */
export function readGivenToken(input: Input): string {
  const source = tokenSourceOf(input)
  if (source !== 'file') return trimToken(input.text('token'), '--token')
  const path = input.env(FILE_VARIABLE)
  const token = trimToken(requireTextFile(path), path)
  if (token !== '') return token
  throw new CommandError(`${path} has no token; ${FILE_VARIABLE} names it`)
}

/**
 * Sends a query with the token of a client, once more after the login was renewed.
 * @param url of the gateway
 * @throws {Error} what `ask` throws, and {CommandError} when the login cannot be renewed
 */
export async function askWithToken(
  input: Input,
  url: string,
  ask: (token: string) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const given = readGivenToken(input)
  if (given !== '') return ask(given)
  const reply = await sendWithLogin<Uint8Array | Error>(input, {
    url,
    kind: 'token',
    send: (token) => ask(token).catch((error: unknown) => passRefusal(error)),
    isRefused: isRefusal,
  })
  if (isRefusal(reply)) throw reply
  return reply
}

/** Returns whether a query failed because the gateway refused its token. */
export function isRefusal(reply: unknown): reply is Error {
  return reply instanceof Error && reply.message === 'HTTP status 401'
}

function passRefusal(error: unknown): Error {
  if (isRefusal(error)) return error
  throw error
}
