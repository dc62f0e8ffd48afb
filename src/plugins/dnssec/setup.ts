/**
 * The `dnssec` plugin: signs responses to clients that set DO (RFC 4035 §3.1), except transfers.
 * @module
 */

import { andThen } from '../../chain/maybe-promise.ts'
import type { Outcome } from '../../chain/outcome.ts'
import type { Plugin } from '../../chain/plugin.ts'
import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Request } from '../../chain/request.ts'
import type { Setup } from '../../chain/setup.ts'
import { EMPTY_REPLY, type ResourceRecord } from '../../dns/message.ts'
import { equalNames } from '../../dns/name.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { closestZone, closestZoneIndex } from '../../plugin-kit/zones.ts'
import type { DnssecHost } from './host.ts'
import { dnssecMetrics } from './metrics.ts'
import { parseDnssec } from './options.ts'
import { signReply } from './sign-reply.ts'
import { Signer } from './signer.ts'

/** TTL of the keys and their signatures. */
const KEYS_TTL_SECONDS = 3600

/** Configures `dnssec [ZONE…] { key file KEY…  cache_capacity N }`. */
const setup: Setup<DnssecHost> = (directives, context) => {
  const { host, server, peers } = context
  const { zones, keys, capacity, notices } = parseDnssec(directives, context)
  const metrics = dnssecMetrics(host.metrics, server)
  const signer = new Signer({ keys, capacity, now: host.now, metrics })
  const keysOf = (zone: Uint8Array, isSigned: boolean): Outcome => {
    const answer = keys.map(({ record }) => ({ ...record, owner: zone }))
    const signatures = isSigned ? signKeys(answer, zone, signer) : []
    return { ...EMPTY_REPLY, authoritative: true, answer: [...answer, ...signatures] }
  }
  return {
    notices,
    plugins: [
      {
        name: 'dnssec',
        fastPath: {
          needsSlowPath: (query) =>
            (query.wantsDnssec || query.type === TYPE.DNSKEY) &&
            closestZoneIndex(zones, query) >= 0,
        },
        serve: (request, next) => {
          const { query, lowerName, name, type } = request
          const zone = closestZone(zones, lowerName)
          if (zone === undefined || isHidden(peers(), request, zone)) return next(request)
          if (type === TYPE.DNSKEY && equalNames(zone, lowerName)) {
            return keysOf(zone, query.wantsDnssec)
          }
          if (!query.wantsDnssec) return next(request)
          return andThen(next(request), (outcome) =>
            outcome.kind === 'reply'
              ? signReply(outcome, { name, type, zone }, { zones, signer })
              : outcome,
          )
        },
      },
    ],
  }
}

/** The entry of `dnssec`. */
export const dnssecPlugin: PluginEntry<DnssecHost> = {
  name: 'dnssec',
  mayAnswer: true,
  setup,
}

/** Whether a zone is hidden from a client, which must not get its keys. */
function isHidden(
  peers: readonly Plugin[],
  { client: { visibility }, query }: Request,
  zone: Uint8Array,
): boolean {
  if (visibility === undefined) return false
  return (
    !visibility.seesName(query) ||
    peers.some(({ hides }) => hides?.(visibility, query, zone) === true)
  )
}

function signKeys(
  [first, ...others]: readonly ResourceRecord[],
  zone: Uint8Array,
  signer: Signer,
): ResourceRecord[] {
  if (first === undefined) return []
  const signatures = signer.sign([first, ...others], zone)
  return signatures.map((one) => ({ ...one, ttlSeconds: KEYS_TTL_SECONDS }))
}
