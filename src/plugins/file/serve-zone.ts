/**
 * Converts the response of a zone to the outcome of a request, for all plugins with zones.
 * @module
 */

import { andThen, type MaybePromise } from '../../chain/maybe-promise.ts'
import { failure, type Outcome } from '../../chain/outcome.ts'
import type { Plugin } from '../../chain/plugin.ts'
import type { Request } from '../../chain/request.ts'
import { EMPTY_REPLY } from '../../dns/message.ts'
import { formatName } from '../../dns/name.ts'
import { RCODE } from '../../dns/rcode.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { findName } from './find-name.ts'
import type { ZoneAnswer } from './sections.ts'
import { answerFrom } from './zone-answer.ts'
import type { ZoneData } from './zone-data.ts'

/** How to handle names that do not exist in a zone. */
export type Absent = {
  /** Whether such a name goes to the next plugin. */
  readonly fallsThrough: (name: Uint8Array) => boolean
  /** The rest of the chain. */
  readonly next: (request: Request) => MaybePromise<Outcome>
}

/** Answers a request for a name in a zone; fails if the zone is not loaded yet. */
export function serveZone(
  zone: ZoneData | undefined,
  request: Request,
  { fallsThrough, next }: Absent,
): MaybePromise<Outcome> {
  if (request.type === TYPE.AXFR || request.type === TYPE.IXFR) return failure(RCODE.REFUSED)
  if (zone === undefined) return failure(RCODE.SERVFAIL, 'the zone is not loaded yet')
  return andThen(answerFrom(zone, request), (found) => {
    const isAbsent = found.kind === 'absent' || found.kind === 'empty'
    if (isAbsent && found.answer.length === 0 && fallsThrough(request.lowerName)) {
      return next(request)
    }
    return outcomeOf(found)
  })
}

/**
 * Passes on a request outside of a plugin's zones. As in CoreDNS, refuses it if no plugin follows.
 */
export function passOn(
  request: Request,
  next: Absent['next'],
  peers: readonly Plugin[],
  name: string,
): MaybePromise<Outcome> {
  const own = peers.findIndex((plugin) => plugin.name === name)
  const isLast = !peers.slice(own + 1).some(({ serve }) => serve !== undefined)
  return isLast ? failure(RCODE.REFUSED) : next(request)
}

/** Returns the wildcard that matches a name, for CoreDNS's `zone/wildcard`. */
export function wildcardOf(
  zone: ZoneData,
  { lowerName, type }: Pick<Request, 'lowerName' | 'type'>,
): string | undefined {
  const match = findName(zone, lowerName, type)
  return match.kind === 'wildcard' ? formatName(match.node.owner) : undefined
}

function outcomeOf(found: ZoneAnswer): Outcome {
  const { kind, answer, authority, additional, truncated } = found
  const hasAnswer = answer.length > 0
  if (kind === 'failure' && !hasAnswer) {
    return failure(RCODE.SERVFAIL, 'a DNAME record redirects the name to itself')
  }
  return {
    ...EMPTY_REPLY,
    rcode: RCODES[kind],
    // A referral is authoritative only after a CNAME of this zone.
    authoritative: kind !== 'referral' || hasAnswer,
    origin: found.isLive ? 'snapshot' : 'server',
    truncated,
    answer,
    authority,
    additional,
  }
}

const RCODES: Readonly<Record<ZoneAnswer['kind'], number>> = {
  found: RCODE.NOERROR,
  nodata: RCODE.NOERROR,
  empty: RCODE.NOERROR,
  absent: RCODE.NXDOMAIN,
  referral: RCODE.NOERROR,
  failure: RCODE.SERVFAIL,
  'too-long': RCODE.YXDOMAIN,
}
