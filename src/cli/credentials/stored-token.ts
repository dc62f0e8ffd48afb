/**
 * Tokens of the logins that are kept, renewed when they end.
 * @module
 */
import { parseJson, recordOf } from '../../dns/bytes/unknown.ts'
import { CommandError } from '../../server/node/output.ts'
import {
  type Credential,
  credentialPath,
  readCredential,
  withLockedCredentials,
  writeCredential,
} from './credential-file.ts'

/** A token that ends sooner is renewed first: the gateway's clock may be ahead. */
const MARGIN_MS = 60_000

/**
 * The client token of the gateway, or the ID token of the issuer, by which operators have
 * roles.
 */
export type StoredKind = 'token' | 'idToken'

/** Which token of which gateway, and how to read the environment. */
export type StoredTokenOptions = {
  /** The origin of the gateway's URL. */
  readonly gateway: string
  readonly kind: StoredKind
  readonly env: (name: string) => string
}

/**
 * Finds the token of the login at a gateway, and renews the login when it has ended; `undefined`
 * without a login.
 * @throws {CommandError} when it cannot be renewed, with the next step
 */
export async function findStoredToken({
  gateway,
  kind,
  env,
}: StoredTokenOptions): Promise<string | undefined> {
  const path = credentialPath(env)
  const kept = path === undefined ? undefined : readCredential(path, gateway)
  if (path === undefined || kept === undefined || isFresh(kept, kind)) return kept?.[kind]
  if (kept.refreshToken === '' && !isFresh(kept, 'idToken')) throw ended(gateway)
  return withLockedCredentials(path, async () => {
    // Another process may have renewed it meanwhile.
    const now = readCredential(path, gateway)
    if (now === undefined || isFresh(now, kind)) return now?.[kind]
    const renewed = await renew(gateway, now, (identified) =>
      writeCredential(path, gateway, identified),
    )
    writeCredential(path, gateway, renewed)
    return renewed[kind]
  })
}

/** Writes down a new refresh token at once: many issuers take each one only once. */
async function renew(
  gateway: string,
  kept: Credential,
  writeDown: (identified: Credential) => void,
): Promise<Credential> {
  const { exchangeIdToken } = await import('./gateway-login.ts')
  if (isFresh(kept, 'idToken'))
    return { ...kept, ...(await exchangeIdToken(gateway, kept.idToken)) }
  const { IdentityProvider } = await import('./identity-provider.ts')
  const provider = await IdentityProvider.open(kept)
  const identity = await provider.renew(kept.refreshToken).catch((error: unknown) => {
    throw isRefused(error) ? ended(gateway) : error
  })
  if (identity.subject !== kept.subject) throw ended(gateway)
  const identified = { ...kept, ...identity }
  writeDown(identified)
  return { ...identified, ...(await exchangeIdToken(gateway, identity.idToken)) }
}

/** Whether the issuer does not know the refresh token any more (RFC 6749 §5.2). */
function isRefused(error: unknown): boolean {
  const cause = error instanceof CommandError ? error.cause : undefined
  return cause instanceof Error && 'error' in cause && cause.error === 'invalid_grant'
}

function ended(gateway: string): CommandError {
  return new CommandError(
    `The login at ${gateway} has ended; run kubedoh login --gateway ${gateway}`,
  )
}

function isFresh(credential: Credential, kind: StoredKind): boolean {
  const endMs = kind === 'token' ? Date.parse(credential.expires) : endOf(credential.idToken)
  return endMs - MARGIN_MS > Date.now()
}

/** Returns when a JWT ends, in milliseconds since 1970; NaN if it does not say so. */
function endOf(jwt: string): number {
  const text = Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()
  return 1000 * Number(recordOf(parseJson(text)).exp)
}
