/**
 * Makes questions from a seed: names that a place knows and their neighbours, in any letter case,
 * of any type, with and without EDNS, from several addresses.
 * @module
 */
import { concatBytes, formatHex } from '../../src/dns/bytes/bytes.ts'
import { HEADER_BYTES } from '../../src/dns/names/limits.ts'
import { nameOf } from '../../src/dns/names/name.ts'
import { isBetweenNeighbours } from '../../src/dns/wire/edns.ts'
import { caseQuery } from '../conformance/case-query.ts'
import type { Case } from '../conformance/scenario.ts'
import type { Signing } from '../signed-messages.ts'

/** What to make questions about. */
export type Vocabulary = {
  /** Names worth asking for, absolute. */
  readonly names: readonly string[]
  /** Types worth asking for, more often than others. */
  readonly types: readonly string[]
  /** Whether a cache is before the upstreams: then no query has options for these. */
  readonly isOrdered?: boolean
  /** Whether most are to ask for signatures. */
  readonly wantsSignatures?: boolean
  /** Keys to sign most questions with. */
  readonly secrets?: readonly Secret[]
}

/** A key of transactions; the secret in base64. */
export type Secret = { readonly key: string; readonly secret: string }

/** A question, and nothing of its answer. */
export type GeneratedQuestion = Omit<Case, 'expect'> & {
  /** How it is signed; the clock is so many seconds off. */
  readonly tsig?: Omit<Signing, 'timeSeconds'> & { readonly offSeconds: number }
}

const TYPES = 'A AAAA TXT SRV MX NS SOA CNAME PTR HTTPS CAA DS ANY HINFO NAPTR TYPE65280'.split(' ')
const ODD_TYPES =
  'AXFR NULL LOC SPF URI SVCB RRSIG DNSKEY NSEC DNAME OPT TYPE0 TYPE65535 MAILB MF'.split(' ')
const LABELS =
  'a www api web x-1 _http _tcp * ns dns old-www ip-10-1-2-3 10 1 very-long-label 1-2-3-4 01-02-03-04 256-1-1-1 fd00--1 odd svc pod'.split(
    ' ',
  )
/** Labels with bytes that hostnames do not have, and of 63 bytes. */
const ODD_LABELS = ['b\\000in', 'sp\\032ace', 'dot\\.ted', '\\255', '-', 'l'.repeat(63)]
const SOURCES = ['127.0.0.1', '127.0.0.9', '127.0.0.40', '127.0.4.2', '127.1.0.1', '::1']
const ALGORITHMS = 'hmac-sha1 hmac-sha224 hmac-sha256 hmac-sha384 hmac-sha512'.split(' ')
const ODD_ALGORITHMS = ['hmac-md5.sig-alg.reg.int', 'HMAC-SHA256', 'hmac-sha3', '.']
const EDNS_SIZES = [512, 1232, 1400, 4096]
const ODD_SIZES = [0, 1, 100, 511, 700, 1024, 65_535]
/** NSID, ECS, EXPIRE, COOKIE, KEEPALIVE, PADDING, and one that nobody knows. */
const OPTIONS = [
  { code: 3, data: '' },
  { code: 8, data: '00011800c00002' },
  { code: 9, data: '' },
  { code: 10, data: '0102030405060708' },
  { code: 11, data: '' },
  { code: 12, data: '0000' },
  { code: 65_001, data: 'ab' },
]
/** How many questions are odd ones. */
const ODD_CHANCE = 0.08
const NO_EXPECTATION = { rcode: 'NOERROR', aa: false, tc: false, ra: false } as const
/** NOTIFY is no query for us: `test/resolver/chain/notify.test.ts`. */
const OPCODES = ['STATUS', 'IQUERY', 'UPDATE', '7']

/** A random number generator that repeats itself (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Makes questions, the same for the same seed. */
export function generateQuestions(
  { names, types, isOrdered = false, wantsSignatures = false, secrets = [] }: Vocabulary,
  { count, seed }: { readonly count: number; readonly seed: number },
): GeneratedQuestion[] {
  const random = seededRandom(seed)
  const isTrue = (chance: number): boolean => random() < chance
  const pick = <T>(list: readonly [T, ...T[]] | readonly T[]): T => {
    const one = list[Math.floor(random() * list.length)]
    if (one === undefined) throw new RangeError('nothing to pick from')
    return one
  }
  const neighbour = (name: string): string => {
    const labels = name.split('.')
    switch (Math.floor(random() * 4)) {
      case 0:
        return [pick(LABELS), name].join('.')
      case 1:
        return labels.slice(1).join('.') || '.'
      case 2:
        return [pick(LABELS), ...labels.slice(1)].join('.')
      default:
        return [pick(LABELS), pick(LABELS), name].join('.')
    }
  }
  const mixedCase = (name: string): string =>
    name.replace(/[a-z]/g, (letter) => (isTrue(0.3) ? letter.toUpperCase() : letter))
  const sign = (): Pick<GeneratedQuestion, 'tsig'> => {
    if (secrets.length === 0 || isTrue(0.15)) return {}
    const { key, secret } = pick(secrets)
    return {
      tsig: {
        key,
        secret: isTrue(0.08) ? pick(secrets).secret : secret,
        algorithm: pick(isTrue(0.95) ? ALGORITHMS : ODD_ALGORITHMS),
        offSeconds: isTrue(0.9) ? 0 : pick([-3600, -200, 200, 3600]),
        fudgeSeconds: isTrue(0.9) ? 300 : pick([0, 100, 7200]),
        ...(isTrue(0.03) && { macBytes: pick([0, 10, 16]) }),
        ...(isTrue(0.03) && { ttlSeconds: 60 }),
      },
    }
  }
  /**
   * What few clients send: other operations, classes, types, labels and sizes, EDNS options,
   * damage.
   */
  const odd = (question: GeneratedQuestion): Partial<GeneratedQuestion> => {
    const { qname } = question
    // Our cache keeps answers to these options apart (RFC 7871 §7.3).
    const isAsked = (code: number): boolean => !isOrdered || isBetweenNeighbours(code)
    const options = OPTIONS.filter(() => isTrue(0.3)).filter(({ code }) => isAsked(code))
    switch (Math.floor(random() * 8)) {
      case 0:
        return { opcode: pick(OPCODES) }
      case 1:
        return { qclass: pick(['ANY', 'NONE', 'CH', 'CLASS0', 'CLASS42']) }
      case 2:
        return { qtype: pick(ODD_TYPES), transport: 'udp' }
      case 3:
        return { qname: `${pick(ODD_LABELS)}.${qname.split('.').slice(1).join('.')}` }
      case 4:
        return { edns: { size: 1232, do: isTrue(0.3), options } }
      case 5:
        return { edns: { size: pick(EDNS_SIZES), do: isTrue(0.3), version: pick([1, 255]) } }
      case 6:
        return { ad: true, edns: { size: pick(ODD_SIZES), do: isTrue(0.3) } }
      default:
        // Over TCP, a reply without the question counts as none.
        return { raw: formatHex(damaged(question, random)), transport: 'udp' }
    }
  }
  return Array.from({ length: count }, (_, i): GeneratedQuestion => {
    const known = pick(names)
    const name = isTrue(0.35) ? neighbour(known) : known
    const src = pick(SOURCES)
    const qtype = pick(isTrue(0.75) ? types : TYPES)
    const isTcp = src === '127.0.0.1' && isTrue(0.1)
    const question: GeneratedQuestion = {
      id: `q${i}`,
      qname: isTrue(0.1) ? mixedCase(name) : name,
      qtype,
      transport: isTcp || qtype.endsWith('XFR') ? 'tcp' : 'udp',
      src: qtype.endsWith('XFR') ? '127.0.0.1' : src,
      rd: isTrue(0.95),
      cd: isTrue(0.05),
      ...(isTrue(0.02) && { qclass: pick(['CH', 'HS']) }),
      ...(isTrue(wantsSignatures ? 0.9 : 0.4) && {
        edns: { size: pick(EDNS_SIZES), do: isTrue(wantsSignatures ? 0.9 : 0.4) },
      }),
      ...sign(),
    }
    return isTrue(ODD_CHANCE) ? { ...question, ...odd(question) } : question
  })
}

/** Cuts a message, lengthens it, repeats its question, or changes a byte. */
function damaged(question: GeneratedQuestion, random: () => number): Uint8Array {
  const message = caseQuery({ ...question, expect: NO_EXPECTATION }, 0)
  // A question without its class counts as one in CoreDNS where a plugin takes any class.
  const nameEnd = HEADER_BYTES + nameOf(question.qname).length
  const at = (from: number, end = message.length): number =>
    from + Math.floor(random() * (end - from))
  switch (Math.floor(random() * 4)) {
    case 0:
      return message.subarray(0, at(HEADER_BYTES, nameEnd))
    case 1:
      return concatBytes(message, Uint8Array.of(0xff, 0xff))
    case 2:
      message[5] = 2
      return concatBytes(message, message.subarray(HEADER_BYTES))
    default:
      message[at(2)] = Math.floor(random() * 256)
      return message
  }
}
