/**
 * The `transfer` plugin: sends whole zones of the block's other plugins to secondaries (RFC 5936,
 * RFC 1995).
 * @module
 */

import { configError } from '../../../corefile/problem.ts'
import type { Directive } from '../../../corefile/server-block.ts'
import { readUint16 } from '../../../dns/bytes/bytes.ts'
import { errorText } from '../../../dns/bytes/unknown.ts'
import { formatName } from '../../../dns/names/name.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { isTransferType, TYPE } from '../../../dns/names/rr-type.ts'
import { EMPTY_REPLY, type ResourceRecord } from '../../../dns/wire/message.ts'
import type { Query } from '../../../dns/wire/query.ts'
import { readRdata, WireReader } from '../../../dns/wire/rdata-wire.ts'
import { soaSerial } from '../../../dns/wire/soa.ts'
import type { Host } from '../../contract/host.ts'
import { andThen, type MaybePromise } from '../../contract/maybe-promise.ts'
import { failure, type Outcome } from '../../contract/outcome.ts'
import type { Plugin } from '../../contract/plugin.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { Next, Request } from '../../contract/request.ts'
import { closestZone } from '../../plugin-kit/zones.ts'
import { Notifier } from './notifier.ts'
import { mayTransfer, parseRule, type TransferRule } from './options.ts'

type Serving = {
  readonly rules: readonly TransferRule[]
  readonly peers: () => readonly Plugin[]
  readonly host: Host
}

/** Configures `transfer [ZONE…] { to *|ADDRESS[:PORT]…  source ADDRESS }`, one rule each. */
export const transferPlugin: PluginEntry = {
  name: 'transfer',
  gateways: {
    at: 'gateway',
    is: 'ignored',
    because: 'it transfers no zones',
  },
  hasListArgs: true,
  setup: (directives, { host, zones, peers }) => {
    const notifiers = new Map<TransferRule, Notifier>()
    for (const directive of directives) {
      const rule = parseRule(directive, zones)
      notifiers.set(rule, openNotifier(host, rule, directive))
    }
    const rules = [...notifiers.keys()]
    return {
      plugin: {
        name: 'transfer',
        fastPath: { needsSlowPath: ({ type }) => isTransferType(type) },
        serve: (request, next) =>
          isTransferType(request.type)
            ? serve(request, next, { rules, peers, host })
            : next(request),
        zoneChanged: (zone) => {
          const rule = ruleFor(rules, zone)
          if (rule !== undefined) notifiers.get(rule)?.add(zone)
        },
        stop: () => {
          for (const notifier of notifiers.values()) notifier.stop()
        },
      },
    }
  },
}

function openNotifier(host: Host, rule: TransferRule, directive: Directive): Notifier {
  try {
    return new Notifier(host, rule)
  } catch (error) {
    throw configError(directive, errorText(error))
  }
}

/** Returns the rule with the longest zone that contains a name. */
function ruleFor(rules: readonly TransferRule[], name: Uint8Array): TransferRule | undefined {
  let found: TransferRule | undefined
  let longest = 0
  for (const rule of rules) {
    const zone = closestZone(rule.zones, name)
    if (zone === undefined || zone.length <= longest) continue
    longest = zone.length
    found = rule
  }
  return found
}

/**
 * Serves a transfer. Refuses UDP, whose source address may be forged, and clients with a view,
 * which may not see the whole zone.
 */
function serve(request: Request, next: Next, serving: Serving): MaybePromise<Outcome> {
  const { client, lowerName, type, query, originalQuery = query } = request
  if (client.transport === 'udp' || client.visibility !== undefined) return failure(RCODE.REFUSED)
  const rule = ruleFor(serving.rules, lowerName)
  if (rule === undefined) return next(request)
  if (!mayTransfer(rule, client.address)) return failure(RCODE.REFUSED)
  const serial = type === TYPE.IXFR ? ixfrSerial(originalQuery) : undefined
  if (type === TYPE.IXFR && serial === undefined) {
    return failure(RCODE.SERVFAIL, 'an IXFR query has no SOA record')
  }
  const records = recordsOf(serving.peers(), lowerName, serial)
  return andThen(records, (found) =>
    found === undefined ? next(request) : outcomeOf(found, request, serving.host),
  )
}

/** Returns the zone's records from the first plugin that has it. */
function recordsOf(
  peers: readonly Plugin[],
  zone: Uint8Array,
  serial: number | undefined,
): MaybePromise<Iterable<ResourceRecord> | undefined> {
  const [peer, ...others] = peers.filter(({ transfer }) => transfer !== undefined)
  if (peer === undefined) return undefined
  return andThen(peer.transfer?.(zone, serial), (found) =>
    found === undefined ? recordsOf(others, zone, serial) : found,
  )
}

/** Builds the outcome; as in CoreDNS, a lone SOA record ("no change") has no authority. */
function outcomeOf(records: Iterable<ResourceRecord>, request: Request, host: Host): Outcome {
  const iterator = records[Symbol.iterator]()
  const first = iterator.next()
  const second = iterator.next()
  if (first.done === true) return failure(RCODE.SERVFAIL, 'the zone is empty')
  if (second.done === true) return { ...EMPTY_REPLY, answer: [first.value] }
  const { value: soa } = first
  const { value: other } = second
  return { kind: 'transfer', records: counted({ soa, other, iterator }, request, host) }
}

function* counted(
  begun: { soa: ResourceRecord; other: ResourceRecord; iterator: Iterator<ResourceRecord> },
  request: Request,
  host: Host,
): Generator<ResourceRecord> {
  const { soa, other, iterator } = begun
  yield soa
  yield other
  let count = 2
  for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
    count++
    yield next.value
  }
  const facts = { zone: formatName(request.lowerName), to: request.client.address, records: count }
  host.log({ level: 'info', message: 'transferred a zone', ...facts })
}

/**
 * Returns the serial of the SOA record in a query's authority section; `undefined` unless it is the
 * only record there.
 */
export function ixfrSerial({ bytes, questionEnd }: Query): number | undefined {
  if (readUint16(bytes, 6) !== 0 || readUint16(bytes, 8) !== 1) return undefined
  const reader = new WireReader(bytes, questionEnd)
  reader.name()
  const type = reader.uint16()
  reader.uint16()
  reader.uint32()
  const rdata = readRdata(reader, type, reader.uint16())
  return type === TYPE.SOA && rdata !== undefined ? soaSerial(rdata) : undefined
}
