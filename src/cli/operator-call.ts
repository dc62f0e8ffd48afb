/**
 * Requests of operators to a gateway.
 * @module
 */
import { recordOf } from '../bytes/unknown.ts'
import { CommandError } from '../node/output.ts'
import type { Input } from './flags.ts'
import { readGatewayUrl, readToken } from './gateway-url.ts'

const TIMEOUT_MS = 10_000
const ADMIN_VARIABLE = 'KUBEDOH_ADMIN_TOKEN'

/**
 * Sends a request with the operator's token, or a given one, and resolves with the response's body.
 * @throws {CommandError} without a token or a response, and for a status other than 2xx
 */
export async function callGateway(
  input: Input,
  method: string,
  path: string,
  body?: string,
  token = '',
): Promise<string> {
  const admin =
    token === ''
      ? readToken(input.env(ADMIN_VARIABLE), ADMIN_VARIABLE)
      : readToken(token, '--token')
  if (admin === '') {
    throw new CommandError(
      `${ADMIN_VARIABLE} is not set; create a token for it with "kubedoh keys --admin"`,
    )
  }
  const url = new URL(path, readGatewayUrl(input))
  let response: Response
  try {
    response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${admin}` },
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error
    throw new CommandError(
      `${url.origin}: ${cause instanceof Error ? cause.message : 'no response'}`,
    )
  }
  const text = await response.text()
  if (response.ok) return text
  throw new CommandError(`${url.origin}: ${errorMessage(text) ?? `HTTP status ${response.status}`}`)
}

function errorMessage(text: string): string | undefined {
  try {
    const { message } = recordOf(recordOf(JSON.parse(text)).error)
    return typeof message === 'string' ? message : undefined
  } catch {
    return undefined
  }
}
