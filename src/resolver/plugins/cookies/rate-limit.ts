/**
 * Bounds responses to the networks of clients that have not proved their address.
 * @module
 */
import { byteAt } from '../../../dns/bytes/bytes.ts'
import { sipHash } from './siphash.ts'

/** Counters of one server block: 512 KiB, whatever clients send. */
const COUNTERS = 65_536
/** A client's network: /24 of IPv4, /56 of IPv6. */
const IPV4_BYTES = 3
const IPV6_BYTES = 7
/** A network may use the responses of this time at once. */
const BURST_MS = 1000

/**
 * A rate for each network. A keyed hash selects the counter of a network, so that a client cannot
 * pick addresses that share one. Networks that share a counter share its rate.
 */
export class RateLimit {
  /** The time at which each counter's responses so far are paid for, in milliseconds. */
  private readonly paidUntilMs = new Float64Array(COUNTERS)
  private readonly intervalMs: number
  private readonly key: Uint8Array

  /**
   * @param rate responses a second
   * @param key of 16 bytes, secret
   */
  constructor(rate: number, key: Uint8Array) {
    this.intervalMs = BURST_MS / rate
    this.key = key
  }

  /**
   * Counts a response to a client's network; false if the network is over its rate. Responses above
   * the rate do not count.
   * @param address of 4 or 16 bytes
   * @param nowMs by a monotonic clock
   */
  take(address: Uint8Array, nowMs: number): boolean {
    const network = address.subarray(0, address.length === 4 ? IPV4_BYTES : IPV6_BYTES)
    const hash = sipHash(this.key, network)
    const counter = ((byteAt(hash, 0) << 8) | byteAt(hash, 1)) % COUNTERS
    const paidMs = Math.max(this.paidUntilMs[counter] ?? 0, nowMs) + this.intervalMs
    // Intervals such as 1000/3 ms are not exact.
    if (paidMs - nowMs > BURST_MS + this.intervalMs / 1024) return false
    this.paidUntilMs[counter] = paidMs
    return true
  }
}
