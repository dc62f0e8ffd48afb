/**
 * `kubedoh logout`: forgets a login.
 * @module
 */
import { errorText } from '../../dns/bytes/unknown.ts'
import { CommandError, type Output } from '../../server/node/output.ts'
import {
  type Credential,
  readCredential,
  withLockedCredentials,
  writeCredential,
} from '../credentials/credential-file.ts'
import { IdentityProvider } from '../credentials/identity-provider.ts'
import type { Input } from '../flags/flags.ts'
import { readGatewayUrl } from '../flags/operator-call.ts'
import { keptIn } from './login.ts'

/**
 * Removes the login at a gateway, and revokes its refresh token at the issuer. An issuer that is
 * away keeps nobody logged in here.
 * @throws {CommandError} without a login
 */
export async function runLogout(input: Input, output: Output): Promise<void> {
  const gateway = new URL(readGatewayUrl(input)).origin
  const path = keptIn(input)
  if (readCredential(path, gateway) === undefined) throw new CommandError(`No login at ${gateway}`)
  await withLockedCredentials(path, async () => {
    const kept = readCredential(path, gateway)
    writeCredential(path, gateway, undefined)
    if (kept !== undefined) output.stdout.write(await describeEnd(gateway, kept))
  })
}

async function describeEnd(gateway: string, kept: Credential): Promise<string> {
  const { issuer, subject, expires } = kept
  return (
    `logged out of ${gateway}; ${await revoke(kept)}\n` +
    `tokens given out earlier count until they end, the last one at ${expires}; an operator can ` +
    `revoke them:\n  kubedoh token revoke ${issuer} ${quoted(subject)} --gateway ${gateway}\n`
  )
}

/** Quotes an issuer's name for a person, in which shells may see more than a word. */
function quoted(subject: string): string {
  return `'${subject.replace(/[^ -~]/g, '?').replaceAll("'", "'\\''")}'`
}

async function revoke(kept: Credential): Promise<string> {
  const { issuer, refreshToken } = kept
  if (refreshToken === '') return 'there was no refresh token'
  try {
    const provider = await IdentityProvider.open(kept)
    const isRevoked = await provider.revoke(refreshToken)
    return isRevoked
      ? `the refresh token is revoked at ${issuer}`
      : `${issuer} revokes no refresh tokens; end the session there`
  } catch (error) {
    return `the refresh token is not revoked: ${errorText(error)}`
  }
}
