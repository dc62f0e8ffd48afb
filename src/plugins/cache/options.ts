/**
 * The `cache` directive's options (github.com/coredns/coredns, plugin/cache/setup.go).
 * @module
 */
import {
  argTexts,
  type Option,
  onlyDirective,
  parseCount,
  parseDuration,
  readOptions,
  zonesOf,
} from '../../corefile/arguments.ts'
import { configError } from '../../corefile/problem.ts'
import type { Directive, Word } from '../../corefile/server-block.ts'
import { ROOT } from '../../dns/name.ts'

/** Bounds of one half of the cache. */
export type Bounds = {
  /** Entries at most. */
  readonly entriesMax: number
  readonly ttlSecondsMin: number
  readonly ttlSecondsMax: number
  /** Zones that are not cached. */
  readonly except: readonly Uint8Array[]
}

/** Which entries to ask for again before their time is up. */
export type Prefetch = {
  /** Queries for an entry before it is prefetched; 0 for no prefetch. */
  readonly hitsMin: number
  /** The longest pause between these. */
  readonly pauseMsMax: number
  /** How much of its TTL is left then, in per cent. */
  readonly percent: number
}

/** What becomes of entries whose time is up (RFC 8767). */
export type Stale = {
  /** For how long they are served; 0 for not at all. */
  readonly seconds: number
  /** Whether to ask for them again first. */
  readonly isVerified: boolean
  /** How long to wait for that; 0 for as long as it takes. */
  readonly verifyMs: number
  /** TTL of what is served; 0 for that of the entry, which is 0 or what `keepttl` keeps. */
  readonly ttlSeconds: number
  /** How long not to ask for them again after that failed. */
  readonly recheckMs: number
  /** Whether positive entries have priority over newer negative ones. */
  readonly prefersPositive: boolean
}

/** What a `cache` directive says. */
export type CacheOptions = {
  readonly zones: readonly Uint8Array[]
  readonly success: Bounds
  readonly denial: Bounds
  /** How long server failures are kept, in seconds; 0 for not at all. */
  readonly failureSeconds: number
  /** Whether answers from the cache keep the TTL they had when they came in. */
  readonly keepsTtl: boolean
  readonly prefetch: Prefetch
  readonly stale: Stale
}

const ENTRIES_DEFAULT = 9984
/** The capacity that CoreDNS has at least, in 256 parts of the same size. */
const ENTRIES_MIN = 1024
const PARTS = 256
/** Entries that a half has at most, whatever the Corefile says. */
const ENTRIES_MAX = 1_048_576
const SUCCESS_SECONDS_MAX = 3600
const DENIAL_SECONDS_MAX = 1800
const SECONDS_MIN = 5
const SECONDS_MAX = 0xffffffff
const FAILURE_SECONDS_DEFAULT = 5
const STALE_MS_DEFAULT = 3_600_000
/** Longest TTL of a failure, five minutes (RFC 2308 §7.1, RFC 8767 §5). */
const FAILURE_MS_MAX = 300_000

type Draft = { -readonly [Key in keyof CacheOptions]: CacheOptions[Key] }
type Reader = (option: Option, draft: Draft) => void

/** Reads `cache [TTL] [ZONE…] { … }`. @throws {ConfigError} with the place of what is wrong */
export function parseCache(
  directives: readonly [Directive, ...Directive[]],
  blockZones: readonly Uint8Array[],
): CacheOptions {
  const directive = onlyDirective(directives)
  const [first, ...others] = directive.args
  const hasTtl = first !== undefined && /^[+-]?\d+$/.test(first.text)
  const ttl = hasTtl ? parseCount(first, 1, SECONDS_MAX) : undefined
  const common = { entriesMax: ENTRIES_DEFAULT, ttlSecondsMin: SECONDS_MIN, except: [] }
  const draft: Draft = {
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
  const given = readOptions(directive, READERS, draft)
  const [policy, second] = given.filter(({ name }) => name === 'serve_stale_policy')
  if (second !== undefined) {
    throw configError(second, '"serve_stale_policy" stands twice, once is allowed')
  }
  if (policy !== undefined && !given.some(({ name }) => name === 'serve_stale')) {
    throw configError(policy, '"serve_stale_policy" needs "serve_stale"')
  }
  return draft
}

const READERS: Readonly<Record<string, Reader>> = {
  success: (option, draft) => {
    draft.success = readBounds(option, draft.success)
  },
  denial: (option, draft) => {
    draft.denial = readBounds(option, draft.denial)
  },
  prefetch: (option, draft) => {
    draft.prefetch = readPrefetch(option, draft.prefetch)
  },
  serve_stale: (option, draft) => {
    draft.stale = readStale(option, draft.stale)
  },
  serve_stale_policy: (option, draft) => {
    const [policy = ''] = argTexts(option, 1)
    if (policy.toLowerCase() !== 'prefer_positive') {
      throw configError(option, `"serve_stale_policy" is prefer_positive only, got "${policy}"`)
    }
    draft.stale = { ...draft.stale, prefersPositive: true }
  },
  servfail: (option, draft) => {
    draft.failureSeconds = readFailure(option)
  },
  disable: readDisable,
  keepttl: (option, draft) => {
    argTexts(option, 0)
    draft.keepsTtl = true
  },
}

/** `CAPACITY [TTL [MINTTL]]`; the capacity is made what CoreDNS makes of it. */
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

/** `AMOUNT [DURATION [PERCENTAGE%]]` */
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

/** `[DURATION [immediate [TTL [RECHECK]] | verify [TIMEOUT [TTL [RECHECK]]]]]` */
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
  throw configError(word, `"${word.text}" is no TTL: it takes whole seconds, such as 30s`)
}

function readRecheck(word: Word): number {
  const durationMs = parseDuration(word)
  if (durationMs <= FAILURE_MS_MAX) return durationMs
  throw configError(word, `"${word.text}": what failed is tried again after 5m at most`)
}

function readFailure(option: Option): number {
  argTexts(option, 1)
  let durationMs = 0
  for (const word of option.args) durationMs = parseDuration(word)
  if (durationMs > FAILURE_MS_MAX) {
    throw configError(option, '"servfail" is at most 5m (RFC 2308 §7.1)')
  }
  return Math.floor(durationMs / 1000)
}

/** `success|denial [ZONE…]`; without zones, for all names. A later one takes an earlier's place. */
function readDisable(option: Option, draft: Draft): void {
  const [half] = argTexts(option, 1, Infinity)
  if (half !== 'success' && half !== 'denial') {
    throw configError(option, `"disable" takes success or denial, got "${half}"`)
  }
  draft[half] = { ...draft[half], except: zonesOf(option.args.slice(1), [ROOT]) }
}
