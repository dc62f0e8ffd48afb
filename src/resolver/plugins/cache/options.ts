/**
 * The `cache` directive's options (github.com/coredns/coredns, plugin/cache/setup.go).
 * @module
 */
import {
  argTexts,
  flag,
  type Option,
  type OptionReaders,
  onlyDirective,
  onlyWord,
  options,
  parseCount,
  parseDuration,
  readOptions,
  zonesOf,
} from '../../../corefile/arguments.ts'
import { configError } from '../../../corefile/problem.ts'
import type { Directive, Word } from '../../../corefile/server-block.ts'
import { ROOT } from '../../../dns/names/name.ts'

/** Bounds of one half of the cache. */
export type Bounds = {
  /** Entries at most. */
  readonly entriesMax: number
  readonly ttlSecondsMin: number
  readonly ttlSecondsMax: number
  /** Zones that are not cached. */
  readonly except: readonly Uint8Array[]
}

/** Which entries to refresh before they expire. */
export type Prefetch = {
  /** Queries for an entry before it is prefetched; 0 for no prefetch. */
  readonly hitsMin: number
  /** The longest pause between these queries. */
  readonly pauseMsMax: number
  /** The remaining part of its TTL at which to prefetch it, in per cent. */
  readonly percent: number
}

/** How to serve expired entries (RFC 8767). */
export type Stale = {
  /** How long after expiry; 0 for not at all. */
  readonly seconds: number
  /** Whether to refresh them first. */
  readonly isVerified: boolean
  /** Time limit of that refresh; 0 for none. */
  readonly verifyMs: number
  /** TTL of stale responses; 0 for that of the entry, which is 0 unless `keepttl` keeps it. */
  readonly ttlSeconds: number
  /** Pause after a failed refresh. */
  readonly recheckMs: number
  /** Whether positive entries have priority over newer negative ones. */
  readonly prefersPositive: boolean
}

/** The options of a `cache` directive. */
export type CacheOptions = {
  readonly zones: readonly Uint8Array[]
  readonly success: Bounds
  readonly denial: Bounds
  /** Estimated bytes of each half; if absent, 8 KiB for each entry and what fits in the memory. */
  readonly bytesMax?: number
  /** The file that entries survive a restart in; absent for none. */
  readonly file?: Word
  /** How long the cache stores server failures, in seconds; 0 for not at all. */
  readonly failureSeconds: number
  /** Whether responses from the cache keep their original TTL. */
  readonly keepsTtl: boolean
  readonly prefetch: Prefetch
  readonly stale: Stale
}

const ENTRIES_DEFAULT = 9984
/** CoreDNS's smallest capacity, in 256 shards of the same size. */
const ENTRIES_MIN = 1024
const PARTS = 256
/** Most entries of a half, whatever the Corefile says. */
const ENTRIES_MAX = 1_048_576
/** Bounds of `max_bytes`: room for a large message, and 64 GiB. */
const BYTES_MIN = 1_048_576
const BYTES_MAX = 68_719_476_736
const SUCCESS_SECONDS_MAX = 3600
const DENIAL_SECONDS_MAX = 1800
const SECONDS_MIN = 5
const SECONDS_MAX = 0xffffffff
const FAILURE_SECONDS_DEFAULT = 5
const STALE_MS_DEFAULT = 3_600_000
/** Longest TTL of a failure, five minutes (RFC 2308 §7.1, RFC 8767 §5). */
const FAILURE_MS_MAX = 300_000

/** Reads `cache [TTL] [ZONE…] { … }`. @throws {ConfigError} with the position of the mistake */
export function parseCache(
  directives: readonly [Directive, ...Directive[]],
  blockZones: readonly Uint8Array[],
): CacheOptions {
  const directive = onlyDirective(directives)
  const [first, ...others] = directive.args
  const hasTtl = first !== undefined && /^[+-]?\d+$/.test(first.text)
  const ttl = hasTtl ? parseCount(first, 1, SECONDS_MAX) : undefined
  const common = { entriesMax: ENTRIES_DEFAULT, ttlSecondsMin: SECONDS_MIN, except: [] }
  const draft: CacheOptions = {
    zones: zonesOf(hasTtl ? others : directive.args, blockZones),
    success: { ...common, ttlSecondsMax: ttl ?? SUCCESS_SECONDS_MAX },
    denial: { ...common, ttlSecondsMax: ttl ?? DENIAL_SECONDS_MAX },
    failureSeconds: FAILURE_SECONDS_DEFAULT,
    keepsTtl: false,
    prefetch: { hitsMin: 0, pauseMsMax: 60_000, percent: 10 },
    stale: {
      seconds: 0,
      isVerified: false,
      verifyMs: 0,
      ttlSeconds: 0,
      recheckMs: 0,
      prefersPositive: false,
    },
  }
  readOptions(directive, READERS, draft)
  const given = options(directive)
  const [policy, second] = given.filter(({ name }) => name === 'serve_stale_policy')
  if (second !== undefined) {
    throw configError(second, '"serve_stale_policy" appears twice; remove one')
  }
  if (policy !== undefined && !given.some(({ name }) => name === 'serve_stale')) {
    throw configError(policy, '"serve_stale_policy" needs "serve_stale"')
  }
  return draft
}

const READERS: OptionReaders<CacheOptions> = {
  success: (option, { success }) => ({ success: readBounds(option, success) }),
  denial: (option, { denial }) => ({ denial: readBounds(option, denial) }),
  prefetch: (option, { prefetch }) => ({ prefetch: readPrefetch(option, prefetch) }),
  serve_stale: (option, { stale }) => ({ stale: readStale(option, stale) }),
  serve_stale_policy: (option, { stale }) => {
    const [policy = ''] = argTexts(option, 1)
    if (policy.toLowerCase() !== 'prefer_positive') {
      throw configError(option, `"serve_stale_policy" is prefer_positive only, got "${policy}"`)
    }
    return { stale: { ...stale, prefersPositive: true } }
  },
  servfail: (option) => ({ failureSeconds: readFailure(option) }),
  disable: readDisable,
  max_bytes: (option) => ({ bytesMax: parseCount(onlyWord(option), BYTES_MIN, BYTES_MAX) }),
  persist: (option) => ({ file: onlyWord(option) }),
  keepttl: (option) => ({ keepsTtl: flag(option) }),
}

/** Reads `CAPACITY [TTL [MINTTL]]`; rounds the capacity as CoreDNS does. */
function readBounds(option: Option, bounds: Bounds): Bounds {
  argTexts(option, 1, 3)
  const [capacity, ttl, minTtl] = option.args
  const wanted = capacity ? parseCount(capacity, 0, SECONDS_MAX) : ENTRIES_DEFAULT
  return {
    ...bounds,
    entriesMax: Math.min(Math.max(wanted - (wanted % PARTS), ENTRIES_MIN), ENTRIES_MAX),
    ttlSecondsMax: ttl ? parseCount(ttl, 1, SECONDS_MAX) : bounds.ttlSecondsMax,
    ttlSecondsMin: minTtl ? parseCount(minTtl, 0, SECONDS_MAX) : bounds.ttlSecondsMin,
  }
}

/** Reads `AMOUNT [DURATION [PERCENTAGE%]]`. */
function readPrefetch(option: Option, before: Prefetch): Prefetch {
  argTexts(option, 1, 3)
  const [amount, duration, percentage] = option.args
  return {
    hitsMin: amount ? parseCount(amount, 0, SECONDS_MAX) : before.hitsMin,
    pauseMsMax: duration ? parseDuration(duration) : before.pauseMsMax,
    percent: percentage ? readPercent(percentage) : before.percent,
  }
}

function readPercent(word: Word): number {
  const percent = Number(/^(\d+)%$/.exec(word.text)?.[1] ?? Number.NaN)
  if (percent >= 10 && percent <= 90) return percent
  throw configError(word, `"${word.text}" is not a percentage from 10% to 90%`)
}

/** Reads `[DURATION [immediate [TTL [RECHECK]] | verify [TIMEOUT [TTL [RECHECK]]]]]`. */
function readStale(option: Option, { prefersPositive }: Stale): Stale {
  const [, modeText = 'immediate'] = argTexts(option, 0, 5)
  const mode = modeText.toLowerCase()
  if (mode !== 'immediate' && mode !== 'verify') {
    throw configError(option, `"serve_stale" is immediate or verify, got "${modeText}"`)
  }
  const isVerified = mode === 'verify'
  if (!isVerified) argTexts(option, 0, 4)
  const [duration, , ...rest] = option.args
  const [timeout, ttl, recheck] = isVerified ? rest : [undefined, ...rest]
  const staleMs = duration ? parseDuration(duration) : STALE_MS_DEFAULT
  return {
    seconds: Math.floor(staleMs / 1000),
    isVerified,
    verifyMs: timeout ? parseDuration(timeout) : 0,
    ttlSeconds: ttl ? readStaleTtl(ttl) : 0,
    recheckMs: recheck ? readRecheck(recheck) : 0,
    prefersPositive,
  }
}

function readStaleTtl(word: Word): number {
  const seconds = parseDuration(word) / 1000
  if (Number.isInteger(seconds) && seconds <= SECONDS_MAX) return seconds
  throw configError(word, `"${word.text}" is not a TTL: use whole seconds, such as 30s`)
}

function readRecheck(word: Word): number {
  const durationMs = parseDuration(word)
  if (durationMs <= FAILURE_MS_MAX) return durationMs
  throw configError(word, `"${word.text}": the longest pause after a failed refresh is 5m`)
}

function readFailure(option: Option): number {
  const durationMs = parseDuration(onlyWord(option))
  if (durationMs > FAILURE_MS_MAX) {
    throw configError(option, '"servfail" is at most 5m (RFC 2308 §7.1)')
  }
  return Math.floor(durationMs / 1000)
}

/** Reads `success|denial [ZONE…]`, by default for all names. A later option replaces it. */
function readDisable(option: Option, draft: CacheOptions): Partial<CacheOptions> {
  const [half] = argTexts(option, 1, Infinity)
  if (half !== 'success' && half !== 'denial') {
    throw configError(option, `"disable" takes success or denial, got "${half}"`)
  }
  return { [half]: { ...draft[half], except: zonesOf(option.args.slice(1), [ROOT]) } }
}
