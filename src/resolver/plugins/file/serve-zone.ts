/**
 * Serves zones for all plugins that have some: the outcome of a request, transfers and metadata.
 * @module
 */

import { type Option, onlyWord, parseChoice } from '../../../corefile/arguments.ts'
import { formatName, labelOffsets, nameKey } from '../../../dns/names/name.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { isTransferType } from '../../../dns/names/rr-type.ts'
import { EMPTY_REPLY, type ResourceRecord } from '../../../dns/wire/message.ts'
import { isSerialAfter, soaSerial } from '../../../dns/wire/soa.ts'
import { andThen, type MaybePromise } from '../../contract/maybe-promise.ts'
import { failure, type Outcome } from '../../contract/outcome.ts'
import type { Plugin } from '../../contract/plugin.ts'
import type { Request } from '../../contract/request.ts'
import type { Rules } from '../kubernetes/nxdomain-rules.ts'
import { findZoneName } from './find-name.ts'
import type { ZoneAnswer } from './sections.ts'
import { answerFrom } from './zone-answer.ts'
import type { ZoneData } from './zone-data.ts'

/** How to answer from a zone, and what to do with names that do not exist in it. */
type Serving = {
  /** The rules of negative responses after a CNAME; CoreDNS's by default. */
  readonly rules?: Rules
  /** Whether such a name goes to the next plugin. */
  readonly fallsThrough: (name: Uint8Array) => boolean
  /** The rest of the chain. */
  readonly next: (request: Request) => MaybePromise<Outcome>
}

/** Answers a request for a name in a zone; fails if the zone is not loaded yet. */
export function serveZone(
  zone: ZoneData | undefined,
  request: Request,
  { rules, fallsThrough, next }: Serving,
): MaybePromise<Outcome> {
  if (isTransferType(request.type)) return failure(RCODE.REFUSED)
  if (zone === undefined) return failure(RCODE.SERVFAIL, 'the zone is not loaded yet')
  return andThen(answerFrom(zone, request, rules), (found) => {
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
  next: Serving['next'],
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
  const match = findZoneName(zone, lowerName, type)
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

/** Returns hooks that transfer zones, and that publish matching wildcards as metadata. */
export function zoneHooks(
  zones: ZoneMap<{ readonly zone: ZoneData | undefined }>,
): Required<Pick<Plugin, 'metadata' | 'transfer'>> {
  return {
    metadata: (label, { query }) => {
      if (label !== 'zone/wildcard') return undefined
      const question = { lowerName: query.name.subarray(0, query.nameBytes), type: query.type }
      const zone = zones.closest(question.lowerName)?.zone
      return zone && wildcardOf(zone, question)
    },
    transfer: (name, serial) => {
      const zone = zones.get(name)?.zone
      return zone && zoneTransfer(zone, serial)
    },
  }
}

/** Notifies a block's plugins of a new or changed zone. */
export function notifyPeers(peers: readonly Plugin[], zone: Uint8Array): void {
  for (const { zoneChanged } of peers) zoneChanged?.(zone)
}

/** A value for each of some zones. */
export class ZoneMap<T> {
  private readonly byKey = new Map<string, T>()

  set(zone: Uint8Array, value: T): void {
    this.byKey.set(nameKey(zone), value)
  }

  delete(zone: Uint8Array): void {
    this.byKey.delete(nameKey(zone))
  }

  /** Returns the value of a zone itself. */
  get(zone: Uint8Array): T | undefined {
    return this.byKey.get(nameKey(zone))
  }

  /** Returns the value of the longest zone that a name is in. */
  closest(name: Uint8Array): T | undefined {
    const key = nameKey(name)
    for (const at of [...labelOffsets(name), name.length - 1]) {
      const found = this.byKey.get(key.slice(at))
      if (found !== undefined) return found
    }
    return undefined
  }

  /** Lists all values, in the order of insertion. */
  values(): Iterable<T> {
    return this.byKey.values()
  }
}

/**
 * Lists the records of a zone, the SOA record first and last; only one SOA record if `serial` is no
 * older than the zone's (RFC 1995 §2).
 */
export function* zoneTransfer(
  zone: ZoneData,
  serial: number | undefined,
): Generator<ResourceRecord> {
  const { soa } = zone
  yield soa
  if (serial !== undefined && !isSerialAfter(soaSerial(soa.rdata), serial)) return
  yield* zone.soaSignatures
  yield* zone.nameservers
  yield* zone.nsSignatures
  for (const { sets } of zone.nodes.values()) for (const set of sets.values()) yield* set
  yield soa
}

/** Reads the option `answers coredns|rfc` of plugins that serve zones. @throws {ConfigError} */
export function readRules(option: Option): Rules {
  return parseChoice(onlyWord(option), ['coredns', 'rfc'])
}
