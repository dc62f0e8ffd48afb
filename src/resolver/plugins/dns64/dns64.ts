/**
 * The `dns64` plugin: gives IPv6-only clients addresses of IPv4 servers that a NAT64 translates
 * (RFC 6147, RFC 6052).
 * @module
 */

import {
  checkArgs,
  flag,
  type OptionReaders,
  onlyWord,
  options,
  readOptions,
} from '../../../corefile/arguments.ts'
import { configError, type Problem, problemAt } from '../../../corefile/problem.ts'
import type { Directive, Word } from '../../../corefile/server-block.ts'
import { byteAt, readUint16 } from '../../../dns/bytes/bytes.ts'
import { hasIPv6Form } from '../../../dns/names/address.ts'
import { type Network, parseNetwork } from '../../../dns/names/network.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { CLASS } from '../../../dns/names/rr-class.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { metricInfo } from '../../../dns/telemetry/metrics.ts'
import { EMPTY_REPLY, type Reply, type ResourceRecord } from '../../../dns/wire/message.ts'
import type { Query } from '../../../dns/wire/query.ts'
import type { Client } from '../../contract/client.ts'
import { andThen, type MaybePromise } from '../../contract/maybe-promise.ts'
import { failure, type Outcome } from '../../contract/outcome.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { Request } from '../../contract/request.ts'

type Translation = {
  prefix: Network
  /** Whether to replace existing IPv6 addresses as well. */
  isForAll: boolean
  /** Whether clients over IPv4 get translated addresses as well. */
  isForIPv4: boolean
}

const PREFIX_BITS_MIN = 32
const PREFIX_BITS_MAX = 96
/** The byte of an address that stays zero (RFC 6052 §2.2). */
const RESERVED_BYTE = 8
/** Longest TTL of a translated address without an SOA record (RFC 6147 §5.1.7). */
const TTL_SECONDS_MAX = 600

const TRANSLATED = metricInfo(
  'coredns_dns64_requests_translated_total',
  'Counter of DNS requests translated by dns64.',
  'server',
)

/** Configures `dns64 [PREFIX=64:ff9b::/96] { prefix PREFIX; translate_all; allow_ipv4 }`. */
export const dns64Plugin: PluginEntry = {
  name: 'dns64',
  mayAnswer: true,
  variesByClient: (directive) => !parseTranslation([directive]).isForIPv4,
  setup: (directives, { host, server }) => {
    const translation = parseTranslation(directives)
    const translated = host.metrics.counter(TRANSLATED, [server])
    return {
      plugin: {
        name: 'dns64',
        fastPath: { accepts: (query, client, reply) => isDone(query, client, reply, translation) },
        serve: (request, next) => {
          const { query, client } = request
          if (!isIntercepted(query, client, translation)) return next(request)
          return andThen(next(request), (outcome) => {
            if (!isLacking(outcome, translation)) return outcome
            translated.value++
            return translate(request, outcome, translation.prefix)
          })
        },
      },
      notices: directives.flatMap(noticesOf),
    }
  },
}

function parseTranslation(directives: readonly Directive[]): Translation {
  const translation: Translation = {
    prefix: { address: Uint8Array.of(0, 0x64, 0xff, 0x9b, ...new Uint8Array(12)), prefixBits: 96 },
    isForAll: false,
    isForIPv4: false,
  }
  for (const directive of directives) {
    const [inline] = checkArgs(directive, 1)
    if (inline !== undefined) translation.prefix = parsePrefix(inline)
    readOptions(directive, inline === undefined ? READERS : INLINE_READERS, translation)
  }
  return translation
}

const READERS: OptionReaders<Translation> = {
  prefix: (option) => ({ prefix: parsePrefix(onlyWord(option)) }),
  translate_all: (option) => ({ isForAll: flag(option) }),
  allow_ipv4: (option) => ({ isForIPv4: flag(option) }),
}
/** As in CoreDNS, the other options have no effect after a prefix on the directive's line. */
const INLINE_READERS: OptionReaders<Translation> = {
  ...READERS,
  translate_all: (option) => void flag(option),
  allow_ipv4: (option) => void flag(option),
}

function parsePrefix(word: Word): Network {
  const network = parseNetwork(word.text)
  const isFitting =
    network?.address.length === 16 &&
    network.prefixBits % 8 === 0 &&
    PREFIX_BITS_MIN <= network.prefixBits &&
    network.prefixBits <= PREFIX_BITS_MAX
  if (network !== undefined && isFitting) return network
  const message = `"${word.text}" is not a prefix such as 64:ff9b::/96, of 32, 40, 48 … 96 bits`
  throw configError(word, message)
}

/** Warns of options that CoreDNS ignores: those of a directive with a prefix on its line. */
function noticesOf(directive: Directive): Problem[] {
  if (directive.args.length === 0) return []
  return options(directive).flatMap((option) => {
    if (option.name === 'prefix') return []
    const hint = 'write the prefix as an option below it'
    const message = `"${option.name}" has no effect after a prefix on the line of "dns64"; ${hint}`
    return [problemAt(option, message)]
  })
}

/** Whether a client that may need translation queries an IPv6 address. */
function isIntercepted(query: Query, { address }: Client, { isForIPv4 }: Translation): boolean {
  const isForIPv6Address = query.type === TYPE.AAAA && query.class === CLASS.IN
  return isForIPv6Address && (isForIPv4 || hasIPv6Form(address))
}

/** Whether a reply on the fast path, which has no CNAMEs, needs no translation. */
function isDone(
  query: Query,
  client: Client,
  reply: Uint8Array,
  translation: Translation,
): boolean {
  if (!isIntercepted(query, client, translation)) return true
  if ((byteAt(reply, 3) & 15) === RCODE.NXDOMAIN) return true
  return !translation.isForAll && readUint16(reply, 6) > 0
}

/** Whether to replace a reply: it has no usable IPv6 address and is not NXDOMAIN. */
function isLacking(outcome: Outcome, { isForAll }: Translation): outcome is Reply {
  if (outcome.kind !== 'reply') return false
  const { rcode, answer } = outcome
  if (rcode === RCODE.NXDOMAIN && answer.length === 0) return false
  return isForAll || !answer.some(({ type }) => type === TYPE.AAAA)
}

function translate(request: Request, lacking: Reply, prefix: Network): MaybePromise<Outcome> {
  return andThen(request.lookup(request.lowerName, TYPE.A), (found): Outcome => {
    if (found.kind === 'drop' || found.kind === 'transfer') {
      return failure(RCODE.SERVFAIL, 'the query for A got no response to translate')
    }
    const { truncated, origin, answer, authority, additional, options } =
      found.kind === 'reply' ? found : { ...EMPTY_REPLY, options: found.options }
    const soa = lacking.authority.findLast(({ type }) => type === TYPE.SOA)
    const ttlSecondsMax = soa?.ttlSeconds ?? TTL_SECONDS_MAX
    return {
      ...EMPTY_REPLY,
      truncated,
      origin: lacking.origin === 'snapshot' ? lacking.origin : origin,
      answer: answer.map((record) => translatedRecord(record, prefix, ttlSecondsMax)),
      authority,
      additional,
      options,
    }
  })
}

function translatedRecord(
  record: ResourceRecord,
  prefix: Network,
  ttlSecondsMax: number,
): ResourceRecord {
  if (record.type !== TYPE.A) return record
  const ttlSeconds = Math.min(record.ttlSeconds, ttlSecondsMax)
  return { ...record, type: TYPE.AAAA, ttlSeconds, rdata: embed(prefix, record.rdata) }
}

/** Appends an IPv4 address to a prefix (RFC 6052 §2.2). */
function embed({ address, prefixBits }: Network, ipv4: Uint8Array): Uint8Array {
  const embedded = new Uint8Array(16)
  const prefixBytes = prefixBits / 8
  embedded.set(address.subarray(0, prefixBytes))
  let at = prefixBytes
  for (const value of ipv4) {
    if (at === RESERVED_BYTE) at++
    embedded[at++] = value
  }
  return embedded
}
