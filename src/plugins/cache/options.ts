/**
 * The `cache` directive's options (github.com/coredns/coredns, plugin/cache/setup.go).
 * @module
 */
import {
  argTexts,
  type Option,
  onlyDirective,
  options,
  parseCount,
  parseDuration,
  unknownOption,
  zonesOf,
} from '../../corefile/arguments.ts'
import { configError } from '../../corefile/problem.ts'
import type { Directive } from '../../corefile/server-block.ts'

/** Bounds of one half of the cache. */
export type Bounds = {
  /** Entries at most. */
  readonly entriesMax: number
  readonly ttlSecondsMin: number
  readonly ttlSecondsMax: number
  /** Zones that are not cached. */
  readonly except: readonly Uint8Array[]
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
}

const ENTRIES_DEFAULT = 9984
const ENTRIES_MAX = 1_000_000
const SUCCESS_SECONDS_MAX = 3600
const DENIAL_SECONDS_MAX = 1800
const SECONDS_MIN = 5
const FAILURE_SECONDS_DEFAULT = 5
const FAILURE_MS_MAX = 300_000
const KNOWN = ['success', 'denial', 'servfail', 'disable', 'keepttl']

type Draft = {
  success: Bounds
  denial: Bounds
  failureSeconds: number
  keepsTtl: boolean
}

/** Reads `cache [TTL] [ZONE…] { … }`. @throws {ConfigError} with the place of what is wrong */
export function parseCache(
  directives: readonly [Directive, ...Directive[]],
  blockZones: readonly Uint8Array[],
): CacheOptions {
  const directive = onlyDirective(directives)
  const [first, ...others] = directive.args
  const hasTtl = first !== undefined && /^\d+$/.test(first.text)
  const ttl = hasTtl ? parseCount(first, 1, 0xffffffff) : undefined
  const zones = zonesOf(hasTtl ? others : directive.args, blockZones)
  const common = { entriesMax: ENTRIES_DEFAULT, ttlSecondsMin: SECONDS_MIN, except: [] }
  const draft: Draft = {
    success: { ...common, ttlSecondsMax: ttl ?? SUCCESS_SECONDS_MAX },
    denial: { ...common, ttlSecondsMax: ttl ?? DENIAL_SECONDS_MAX },
    failureSeconds: FAILURE_SECONDS_DEFAULT,
    keepsTtl: false,
  }
  for (const option of options(directive)) readOption(option, draft, zones)
  return { zones, ...draft }
}

function readOption(option: Option, draft: Draft, zones: readonly Uint8Array[]): void {
  switch (option.name) {
    case 'success':
      draft.success = readBounds(option, draft.success)
      return
    case 'denial':
      draft.denial = readBounds(option, draft.denial)
      return
    case 'servfail':
      draft.failureSeconds = readFailure(option)
      return
    case 'disable':
      readDisable(option, draft, zones)
      return
    case 'keepttl':
      argTexts(option, 0)
      draft.keepsTtl = true
      return
    default:
      throw unknownOption('cache', option, KNOWN)
  }
}

/** `CAPACITY [TTL [MINTTL]]` */
function readBounds(option: Option, bounds: Bounds): Bounds {
  argTexts(option, 1, 3)
  const [capacity, ttl, minTtl] = option.args
  return {
    ...bounds,
    entriesMax: capacity ? parseCount(capacity, 1, ENTRIES_MAX) : bounds.entriesMax,
    ttlSecondsMax: ttl ? parseCount(ttl, 1, 0xffffffff) : bounds.ttlSecondsMax,
    ttlSecondsMin: minTtl ? parseCount(minTtl, 0, 0xffffffff) : bounds.ttlSecondsMin,
  }
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

/** `success|denial [ZONE…]` */
function readDisable(option: Option, draft: Draft, zones: readonly Uint8Array[]): void {
  const [half] = argTexts(option, 1, Infinity)
  if (half !== 'success' && half !== 'denial') {
    throw configError(option, `"disable" takes success or denial, got "${half}"`)
  }
  const except = zonesOf(option.args.slice(1), zones)
  draft[half] = { ...draft[half], except: [...draft[half].except, ...except] }
}
