/**
 * Warnings about parts of a token request that have no effect on this gateway, such as a misspelled
 * cluster.
 * @module
 */
import { zonesOf } from '../corefile/arguments.ts'
import { formatName, isSubdomain, parseName } from '../dns/name.ts'
import type { GatewayConfig } from './config.ts'
import { matcherOf } from './token.ts'
import type { TokenRequest } from './token-request.ts'

/** Returns the warnings for a token request; none when every part can have an effect. */
export type TokenAdvice = (request: TokenRequest) => readonly string[]

/** Creates the advice of one configuration. */
export function createTokenAdvice(
  config: Pick<GatewayConfig, 'blocks' | 'clusters' | 'application'>,
): TokenAdvice {
  const clusters = [...config.clusters.keys()]
  const zones = servedZones(config)
  return ({ scope, identities }) => [
    ...scope.clusters
      .filter((pattern) => pattern !== '*' && !clusters.some(matcherOf([pattern])))
      .map((pattern) => `CLUSTERS has no cluster "${pattern}"`),
    // With recursion, a token may be for names of other servers.
    ...(scope.recurse ? [] : scope.origins)
      .filter((pattern) => pattern !== '*' && !zones.some((zone) => fits(pattern, zone)))
      .map((pattern) => `the Corefile serves no zone at, above or below "${pattern}"`),
    ...identities
      .filter((identity) => identity.startsWith('access:') && config.application === undefined)
      .map((identity) => `"${identity}" needs ACCESS_TEAM and ACCESS_AUDIENCE, which are not set`),
  ]
}

/** Returns the zones of clusters, and of server blocks other than the root's. */
function servedZones({ blocks }: Pick<GatewayConfig, 'blocks'>): readonly Uint8Array[] {
  return blocks.flatMap(({ keys, directives }) => {
    const ofBlock = keys.map(({ zone }) => zone)
    const ofClusters = directives
      .filter(({ name }) => name === 'kubernetes')
      .flatMap(({ args }) => zonesOf(args, ofBlock))
    return [...ofBlock.filter((zone) => zone.length > 1), ...ofClusters]
  })
}

function fits(pattern: string, zone: Uint8Array): boolean {
  if (pattern.includes('*')) return matcherOf([pattern])(formatName(zone))
  const name = parseName(pattern)
  return name !== undefined && (isSubdomain(name, zone) || isSubdomain(zone, name))
}
