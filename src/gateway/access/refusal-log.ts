/**
 * Logs why tokens of issuers are refused.
 * @module
 */
import type { Host } from '../../resolver/contract/host.ts'
import type { KeysRuntime } from '../jwt/issuer-keys.ts'

/** How long an issuer's refused tokens are not logged after one was. */
const LOG_MS = 1000

/** Returns what logs a refusal: clients that send wrong tokens must not fill the log. */
export function refusalLog({
  log,
  clock,
}: Pick<KeysRuntime, 'clock'> & { readonly log: Host['log'] }): (
  issuer: string,
  reason: string,
) => void {
  let loggedMs = Number.NEGATIVE_INFINITY
  return (issuer, reason) => {
    if (clock.elapsed() - loggedMs < LOG_MS) return
    loggedMs = clock.elapsed()
    log({ level: 'warning', message: 'a token of an issuer is refused', issuer, reason })
  }
}
