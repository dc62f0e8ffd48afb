/**
 * The `local` plugin: answers names that belong to the machine itself, such as `localhost` (RFC
 * 6761 §6.3) and 127.0.0.1, so that no query for them leaves the server.
 * @module
 */

import {
  checkArgs,
  type OptionReaders,
  onlyWord,
  parseChoice,
  readOptions,
} from '../../../corefile/arguments.ts'
import type { Directive } from '../../../corefile/server-block.ts'
import { byteAt } from '../../../dns/bytes/bytes.ts'
import { nameKey, nameOf } from '../../../dns/names/name.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { CLASS } from '../../../dns/names/rr-class.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { metricInfo } from '../../../dns/telemetry/metrics.ts'
import { EMPTY_REPLY, type Reply, type ResourceRecord } from '../../../dns/wire/message.ts'
import type { Query } from '../../../dns/wire/query.ts'
import { constantRdata } from '../../../dns/wire/rdata-text.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { Request } from '../../contract/request.ts'
import { closestZone, closestZoneIndex } from '../../plugin-kit/zones.ts'

const TTL_SECONDS = 604_800
const LOCALHOST = nameOf('localhost')
/** Bytes of the label `localhost` at the end of names, without the length byte. */
const LOCALHOST_BYTES = 9
const ARPA_BYTES = 4
/** The digit 0, and 12 and 25 as the first two digits of 127 and 255. */
const ZERO = 0x30
const ONE_TWO = 16 * 0x31 + 0x32
const TWO_FIVE = 16 * 0x32 + 0x35
const LOOPBACK = nameOf('1.0.0.127.in-addr.arpa')
const ZONES: readonly Uint8Array[] = [
  LOCALHOST,
  ...['0', '127', '255'].map((label) => nameOf(`${label}.in-addr.arpa`)),
]
const ADDRESSES: ReadonlyMap<number, Uint8Array> = new Map([
  [TYPE.A, constantRdata(TYPE.A, '127.0.0.1')],
  [TYPE.AAAA, constantRdata(TYPE.AAAA, '::1')],
])
const SOA = constantRdata(TYPE.SOA, `localhost. root.localhost. 1 0 0 0 ${TTL_SECONDS}`)

const INTERCEPTED = metricInfo(
  'coredns_local_localhost_requests_total',
  'Counter of special localhost subdomain requests.',
)

/**
 * Configures `local { localhost_prefix on|off }`: whether `localhost.` before any other name, which
 * search lists produce, means this machine as well (default on).
 */
export const localPlugin: PluginEntry = {
  name: 'local',
  mayAnswer: true,
  setup: (directives, { host }) => {
    const hasPrefix = directives.reduce(readPrefix, true)
    const intercepted = host.metrics.counter(INTERCEPTED)
    return {
      plugin: {
        name: 'local',
        fastPath: {
          needsSlowPath: (query) => mayBeLocal(query, hasPrefix),
        },
        serve: (request, next) => {
          if (isIntercepted(request.query, hasPrefix)) {
            intercepted.value++
            return addressReply(request) ?? nodata(request.name)
          }
          const zone = closestZone(ZONES, request.lowerName)
          return zone === undefined ? next(request) : zoneReply(request, zone)
        },
      },
    }
  },
}

const READERS: OptionReaders<{ prefix: 'on' | 'off' }> = {
  localhost_prefix: (option) => ({ prefix: parseChoice(onlyWord(option), ['on', 'off']) }),
}

function readPrefix(before: boolean, directive: Directive): boolean {
  checkArgs(directive, 0)
  return readOptions(directive, READERS, { prefix: before ? 'on' : 'off' }).prefix === 'on'
}

/** Tests the last label first: it rules out most names. */
function mayBeLocal(query: Query, hasPrefix: boolean): boolean {
  const { name, labels, labelCount } = query
  const lastBytes = labelCount === 0 ? 0 : byteAt(name, byteAt(labels, labelCount - 1))
  const mayBeZone =
    lastBytes === LOCALHOST_BYTES || (lastBytes === ARPA_BYTES && beginsLikeZone(query))
  if (mayBeZone && closestZoneIndex(ZONES, query) >= 0) return true
  return hasPrefix && labelCount > 1 && isLocalhost(query, 0)
}

/** Whether the label before `in-addr.arpa` may be 0, 127 or 255, by length and digits. */
function beginsLikeZone({ name, labels, labelCount }: Query): boolean {
  if (labelCount < 3) return false
  const at = byteAt(labels, labelCount - 3)
  const size = byteAt(name, at)
  if (size === 1) return byteAt(name, at + 1) === ZERO
  const digits = 16 * byteAt(name, at + 1) + byteAt(name, at + 2)
  return size === 3 && (digits === ONE_TWO || digits === TWO_FIVE)
}

/** Whether a name is below `localhost` or begins with that label. */
function isIntercepted(query: Query, hasPrefix: boolean): boolean {
  const { labelCount } = query
  if (labelCount < 2) return false
  return isLocalhost(query, labelCount - 1) || (hasPrefix && isLocalhost(query, 0))
}

function isLocalhost({ name, labels }: Query, index: number): boolean {
  const start = byteAt(labels, index)
  for (let i = 0; i < LOCALHOST.length - 1; i++) {
    if (byteAt(name, start + i) !== byteAt(LOCALHOST, i)) return false
  }
  return true
}

/** Answers for a name in one of the zones. */
function zoneReply(request: Request, zone: Uint8Array): Reply {
  const { name, lowerName, type } = request
  const apex = name.subarray(name.length - zone.length)
  if (apex.length === name.length) {
    if (type === TYPE.SOA) return reply(record(name, TYPE.SOA, SOA))
    if (type === TYPE.NS) return reply(record(name, TYPE.NS, LOCALHOST))
    return (zone === LOCALHOST ? addressReply(request) : undefined) ?? nodata(name)
  }
  if (nameKey(lowerName) === nameKey(LOOPBACK)) {
    return type === TYPE.PTR ? reply(record(name, TYPE.PTR, LOCALHOST)) : nodata(apex)
  }
  return { ...nodata(apex), rcode: RCODE.NXDOMAIN }
}

function addressReply({ name, type }: Request): Reply | undefined {
  const address = ADDRESSES.get(type)
  return address && reply(record(name, type, address))
}

function reply(answer: ResourceRecord): Reply {
  return { ...EMPTY_REPLY, answer: [answer] }
}

/** Returns NODATA with a synthetic SOA record at `owner`. */
function nodata(owner: Uint8Array): Reply {
  return { ...EMPTY_REPLY, authority: [record(owner, TYPE.SOA, SOA)] }
}

function record(owner: Uint8Array, type: number, rdata: Uint8Array): ResourceRecord {
  return { owner, type, class: CLASS.IN, ttlSeconds: TTL_SECONDS, rdata }
}
