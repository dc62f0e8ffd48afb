/**
 * Which CI systems' jobs need no secret at a gateway: those for whose signed identity it gives a
 * token.
 * @module
 */
import type { JobAudiences } from '../onboarding/kit.ts'
import type { GatewayConfig } from './config.ts'

/** Issuers of GitHub, with the path of an enterprise, and of an Enterprise Server. */
const GITHUB = /^https:\/\/token\.actions\.githubusercontent\.com(?:\/|$)|\/_services\/token$/
const GITLAB = /^https:\/\/gitlab\./
/** An audience that shells and YAML take as it is. */
const PLAIN = /^[\w.:/~-]{1,256}$/

/** Returns the audiences of a configuration. Without exchange there are none. */
export function jobAudiences({
  issuers,
  exchangeKeys,
}: Pick<GatewayConfig, 'issuers' | 'exchangeKeys'>): JobAudiences {
  const audienceOf = (known: RegExp): string => {
    const its = issuers.filter(({ issuer }) => known.test(issuer))
    const audience = its.flatMap(({ audiences }) => audiences).find((one) => PLAIN.test(one))
    return exchangeKeys.length === 0 ? '' : (audience ?? '')
  }
  return { github: audienceOf(GITHUB), gitlab: audienceOf(GITLAB) }
}
