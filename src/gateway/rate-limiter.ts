/**
 * How often somebody may ask: a bucket for each, filled at an even pace (the token bucket of
 * RFC 2697 §2, with one rate).
 * @module
 */
import { HttpError } from '../doh/http-error.ts'
import type { Client } from '../plugins/plugin.ts'

/** Says whether somebody may go on, and counts that they did. */
export type RateLimiter = {
  readonly allow: (key: string) => boolean | Promise<boolean>
}

/** How much is allowed. */
export type RateLimits = {
  readonly perMinute: number
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Who is remembered; of more, those who came first are forgotten. */
const KEYS_MAX = 20_000
/** What may come at once, as a part of what may come in a minute. */
const BURST = 0.2
const RETRY_SECONDS = '5'

/** Counts in memory, for one process or isolate. */
export class RateBuckets implements RateLimiter {
  private readonly limits: RateLimits
  private readonly buckets = new Map<string, { level: number; seenMs: number }>()

  constructor(limits: RateLimits) {
    this.limits = limits
  }

  readonly allow = (key: string): boolean => {
    const { perMinute, now } = this.limits
    const most = Math.max(1, perMinute * BURST)
    const nowMs = now()
    const known = this.buckets.get(key)
    if (known === undefined) {
      this.remember(key, { level: most - 1, seenMs: nowMs })
      return true
    }
    const gained = (Math.max(0, nowMs - known.seenMs) / 60_000) * perMinute
    const level = Math.min(most, known.level + gained)
    known.seenMs = nowMs
    known.level = level >= 1 ? level - 1 : level
    return level >= 1
  }

  private remember(key: string, bucket: { level: number; seenMs: number }): void {
    if (this.buckets.size >= KEYS_MAX) {
      const [oldest] = this.buckets.keys()
      if (oldest !== undefined) this.buckets.delete(oldest)
    }
    this.buckets.set(key, bucket)
  }
}

/**
 * Names whoever is counted by their address: networks of IPv6 are given out by 64 bits, so that one
 * client may have all of one.
 */
export function addressKey({ address }: Client): string {
  return address.includes(':') ? address.split(':', 4).join(':') : address
}

/** Makes the error of who asks too often. */
export function tooMany(): HttpError {
  return new HttpError(429, 'too_many_requests', 'Too many requests; slow down', {
    'retry-after': RETRY_SECONDS,
  })
}
