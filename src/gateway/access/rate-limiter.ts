/**
 * Rate limits: a bucket for each client, filled at an even pace (the token bucket of RFC 2697 §2,
 * with one rate).
 * @module
 */

import { errorText } from '../../dns/bytes/unknown.ts'
import { clientNetwork } from '../../dns/names/network.ts'
import type { Client } from '../../resolver/contract/client.ts'
import { HttpError } from '../doh/http-error.ts'

/** Counts requests by key; `allow` returns whether one more is within the limit. */
export type RateLimiter = {
  readonly allow: (key: string) => boolean | Promise<boolean>
}

/** The limit. */
export type RateLimits = {
  readonly perMinute: number
  /** Milliseconds since some moment, by a monotonic clock. */
  readonly elapsed: () => number
}

/** Most buckets. */
const KEYS_MAX = 20_000
/** Buckets that are dropped at once over the limit, because finding them sorts all. */
const KEYS_DROPPED = 1000
/** Size of a burst, as a part of a minute's requests. */
const BURST = 0.2
const RETRY_SECONDS = '5'

type Bucket = { level: number; seenMs: number }

/** Counts in memory, for one process or isolate. */
export class RateBuckets implements RateLimiter {
  private readonly limits: RateLimits
  private readonly buckets = new Map<string, Bucket>()

  constructor(limits: RateLimits) {
    this.limits = limits
  }

  readonly allow = (key: string): boolean => {
    const { perMinute, elapsed } = this.limits
    const most = Math.max(1, perMinute * BURST)
    const nowMs = elapsed()
    const known = this.buckets.get(key)
    if (known === undefined) {
      if (this.buckets.size >= KEYS_MAX) this.dropFullest(nowMs)
      this.buckets.set(key, { level: most - 1, seenMs: nowMs })
      return true
    }
    const level = Math.min(most, this.levelOf(known, nowMs))
    known.seenMs = nowMs
    known.level = level >= 1 ? level - 1 : level
    return level >= 1
  }

  /** Drops the fullest buckets, so that no client gets a new bucket for an empty one. */
  private dropFullest(nowMs: number): void {
    const levels = [...this.buckets].map(([key, one]) => ({ key, level: this.levelOf(one, nowMs) }))
    levels.sort((a, b) => b.level - a.level)
    for (const { key } of levels.slice(0, KEYS_DROPPED)) this.buckets.delete(key)
  }

  private levelOf({ level, seenMs }: Bucket, nowMs: number): number {
    return level + (Math.max(0, nowMs - seenMs) / 60_000) * this.limits.perMinute
  }
}

/** What a {@link FallbackLimiter} needs. */
type FallbackLimiterOptions = {
  readonly platform: RateLimiter
  readonly memory: RateLimiter
  /** Gets the text of the first error. */
  readonly onError: (message: string) => void
}

/** Counts by the platform, and in memory those requests that the platform fails to count. */
export class FallbackLimiter implements RateLimiter {
  private readonly options: FallbackLimiterOptions
  private hasFailed = false

  constructor(options: FallbackLimiterOptions) {
    this.options = options
  }

  /** Never throws, nor rejects. */
  readonly allow = (key: string): boolean | Promise<boolean> => {
    try {
      const allowed = this.options.platform.allow(key)
      if (typeof allowed === 'boolean') return allowed
      return allowed.catch((error: unknown) => this.countHere(key, error))
    } catch (error) {
      return this.countHere(key, error)
    }
  }

  /** Reports the first error only: a limiter that fails does so for each request. */
  private countHere(key: string, error: unknown): boolean | Promise<boolean> {
    if (!this.hasFailed) this.options.onError(errorText(error))
    this.hasFailed = true
    return this.options.memory.allow(key)
  }
}

/**
 * Returns the key of a client without a token: its IPv4 address, or the /64 of its IPv6 address,
 * because one client may have all of that.
 */
export function networkKey({ address }: Client): string {
  return clientNetwork(address)
}

/** Returns the error for a client over its rate limit. */
export function tooMany(): HttpError {
  return new HttpError(429, 'too_many_requests', 'Too many requests; slow down', {
    'retry-after': RETRY_SECONDS,
  })
}
