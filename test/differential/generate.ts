/**
 * Makes questions from a seed: names that a place knows and their neighbours, in any letter case,
 * of any type, with and without EDNS, from several addresses.
 * @module
 */
import type { Case } from '../conformance/scenario.ts'
import type { Signing } from '../signed-messages.ts'

/** What to make questions about. */
export type Vocabulary = {
  /** Names worth asking for, absolute. */
  readonly names: readonly string[]
  /** Types worth asking for, more often than others. */
  readonly types: readonly string[]
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
const LABELS =
  'a www api web x-1 _http _tcp * ns dns old-www ip-10-1-2-3 10 1 very-long-label'.split(' ')
const SOURCES = ['127.0.0.1', '127.0.0.9', '127.0.0.40', '127.0.4.2', '127.1.0.1', '::1']
const ALGORITHMS = 'hmac-sha1 hmac-sha224 hmac-sha256 hmac-sha384 hmac-sha512'.split(' ')
const ODD_ALGORITHMS = ['hmac-md5.sig-alg.reg.int', 'HMAC-SHA256', 'hmac-sha3', '.']
const EDNS_SIZES = [512, 1232, 1400, 4096]

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
  { names, types, wantsSignatures = false, secrets = [] }: Vocabulary,
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
  return Array.from({ length: count }, (_, i): GeneratedQuestion => {
    const known = pick(names)
    const name = isTrue(0.35) ? neighbour(known) : known
    const src = pick(SOURCES)
    const qtype = pick(isTrue(0.75) ? types : TYPES)
    const isTcp = src === '127.0.0.1' && isTrue(0.1)
    return {
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
  })
}
