/**
 * Tokens of the logins that are kept, renewed when they end.
 * @module
 */
import { errorText, parseJson, recordOf } from '../../dns/bytes/unknown.ts'
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
  /** A token that the gateway refused: it has ended, whatever is written down. */
  readonly refused?: string
}

/** A login that only its person can renew. */
export class LoginEnded extends CommandError {
  constructor(gateway: string) {
    super(`The login at ${gateway} has ended; run kubedoh login --gateway ${gateway}`)
  }
}

/**
 * Finds the token of the login at a gateway, and renews the login when it has ended; `undefined`
 * without a login.
 * @throws {LoginEnded} when the person has to log in again
 * @throws {CommandError} when the issuer or the gateway is away, or gives this person no token
 */
export async function findStoredToken(options: StoredTokenOptions): Promise<string | undefined> {
  const { gateway, kind, env } = options
  const path = credentialPath(env)
  const kept = path === undefined ? undefined : readCredential(path, gateway)
  if (path === undefined || kept === undefined || isGood(kept, options)) return kept?.[kind]
  if (!isRenewable(kept, options)) throw new LoginEnded(gateway)
  return withLockedCredentials(path, async () => {
    // Another process may have renewed it meanwhile.
    const now = readCredential(path, gateway)
    if (now === undefined || isGood(now, options)) return now?.[kind]
    const renewed = await renew(now, options, (identified) =>
      writeCredential(path, gateway, identified),
    ).catch((error: unknown) => {
      if (error instanceof LoginEnded) throw error
      const next = `to log in again: kubedoh login --gateway ${gateway}`
      const reason = errorText(error)
      throw new CommandError(`Cannot renew the login at ${gateway}: ${reason}; ${next}`)
    })
    writeCredential(path, gateway, renewed)
    return renewed[kind]
  })
}

/** Returns the client token of the login at a gateway as it is kept, also one that has ended. */
export function keptToken(gateway: string, env: StoredTokenOptions['env']): string | undefined {
  const path = credentialPath(env)
  return path === undefined ? undefined : readCredential(path, gateway)?.token
}

/** Writes down a new refresh token at once: many issuers take each one only once. */
async function renew(
  kept: Credential,
  options: StoredTokenOptions,
  writeDown: (identified: Credential) => void,
): Promise<Credential> {
  const { gateway } = options
  const { exchangeIdToken } = await import('./gateway-login.ts')
  // What the gateway refused may hang on claims that have changed since.
  const isEnough = isFresh(kept, 'idToken') && kept.idToken !== options.refused
  if (isEnough && (options.refused === undefined || kept.refreshToken === '')) {
    return { ...kept, ...(await exchangeIdToken(gateway, kept.idToken)) }
  }
  if (kept.refreshToken === '') throw new LoginEnded(gateway)
  const { IdentityProvider } = await import('./identity-provider.ts')
  const provider = await IdentityProvider.open(kept)
  const identity = await provider.renew(kept.refreshToken).catch((error: unknown) => {
    throw isRefused(error) ? new LoginEnded(gateway) : error
  })
  if (identity.subject !== kept.subject) throw new LoginEnded(gateway)
  const identified = { ...kept, ...identity }
  writeDown(identified)
  return { ...identified, ...(await exchangeIdToken(gateway, identity.idToken)) }
}

/** Whether the issuer does not know the refresh token any more (RFC 6749 §5.2). */
function isRefused(error: unknown): boolean {
  const cause = error instanceof CommandError ? error.cause : undefined
  return cause instanceof Error && 'error' in cause && cause.error === 'invalid_grant'
}

function isGood(kept: Credential, { kind, refused }: StoredTokenOptions): boolean {
  return isFresh(kept, kind) && kept[kind] !== refused
}

function isRenewable(kept: Credential, { refused }: StoredTokenOptions): boolean {
  return kept.refreshToken !== '' || (isFresh(kept, 'idToken') && kept.idToken !== refused)
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
