/**
 * Measures freshness from end to end: gives a name of its own a new address, and asks the gateway
 * for it until the response has that address.
 * @module
 */

import type { Timing } from '../cluster/api/backoff.ts'
import { PROGRAMMING_BOUNDS } from '../cluster/follow/programming-latency.ts'
import type { ClusterObject } from '../cluster/objects/objects.ts'
import { parseObject } from '../cluster/objects/parse-object.ts'
import { equalBytes } from '../dns/bytes/bytes.ts'
import { parseAddress } from '../dns/names/address.ts'
import { type Metrics, metricInfo, observe } from '../dns/telemetry/metrics.ts'
import { parseResponse } from '../dns/wire/message.ts'

/** Interval of changes. */
const CHANGE_MS = 15_000
/** Interval of queries after a change. */
const ASK_MS = 20
/** Time after which a change counts as lost. */
const LOST_MS = 30_000
/** Addresses of 198.18.0.0/15, which no network uses (RFC 2544). */
const ADDRESSES = 2 ** 17

const EDGE = metricInfo(
  'kubedoh_exporter_edge_duration_seconds',
  'Time from a change of the canary to the first response of the gateway that has it.',
)
const LOST = metricInfo(
  'kubedoh_exporter_canary_lost_total',
  'Changes of the canary that no response had within 30 seconds.',
)

/** Options of a canary. */
export type CanaryOptions = Pick<Timing, 'sleep' | 'random' | 'elapsed'> & {
  /** The Service whose cluster IP changes; the cluster has none of that name. */
  readonly service: { readonly namespace: string; readonly name: string }
  /** Whether to change it now: only the elected exporter does. */
  readonly isLeader: () => boolean
  /** Takes the changed Service, to be published. */
  readonly change: (service: ClusterObject) => void
  /** Queries the gateway for its A records. Rejects without a response. */
  readonly ask: (signal: AbortSignal) => Promise<Uint8Array>
  /** Called when a change was lost. */
  readonly onError: (message: string) => void
  readonly metrics: Metrics
}

/** The canary. */
export class Canary {
  private readonly options: CanaryOptions
  private number: number

  constructor(options: CanaryOptions) {
    this.options = options
    this.number = Math.floor(options.random() * ADDRESSES)
  }

  /** Changes and asks until `signal` ends it. */
  async run(signal: AbortSignal): Promise<void> {
    const { isLeader, sleep } = this.options
    while (!signal.aborted) {
      if (isLeader()) await this.measure(signal)
      await sleep(CHANGE_MS, signal)
    }
  }

  private async measure(signal: AbortSignal): Promise<void> {
    const { change, metrics, elapsed, sleep, onError } = this.options
    const address = this.nextAddress()
    const startMs = elapsed()
    change(this.serviceAt(address))
    while (!signal.aborted) {
      const isSeen = await this.isAnswered(address, signal)
      const tookMs = elapsed() - startMs
      if (isSeen) {
        observe(metrics.histogram(EDGE, PROGRAMMING_BOUNDS), PROGRAMMING_BOUNDS, tookMs / 1000)
        return
      }
      if (tookMs > LOST_MS) {
        metrics.counter(LOST).value++
        onError(`the gateway does not answer with ${address} for the canary after 30 s`)
        return
      }
      await sleep(ASK_MS, signal)
    }
  }

  private async isAnswered(address: string, signal: AbortSignal): Promise<boolean> {
    try {
      const response = parseResponse(await this.options.ask(signal))
      const wanted = parseAddress(address)
      if (response === undefined || wanted === undefined) return false
      return response.answer.some(({ rdata }) => equalBytes(rdata, wanted))
    } catch (error) {
      // The gateway may be unreachable for a while: the time goes on.
      if (error instanceof Error) return false
      throw error
    }
  }

  private nextAddress(): string {
    this.number = (this.number + 1) % ADDRESSES
    const number = this.number
    return `198.${18 + (number >>> 16)}.${(number >>> 8) & 255}.${number & 255}`
  }

  private serviceAt(clusterIP: string): ClusterObject {
    const metadata = this.options.service
    const object = parseObject({ apiVersion: 'v1', kind: 'Service', metadata, spec: { clusterIP } })
    if (object === undefined || object.kind === 'problem') throw new TypeError('not a Service')
    return object
  }
}
