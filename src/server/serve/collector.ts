/**
 * Sends spans to a collector of OpenTelemetry.
 * @module
 */
import type { Log } from '../../dns/telemetry/log.ts'
import { Reporter } from '../../dns/telemetry/span-reporter.ts'
import { Tracer } from '../../dns/telemetry/tracer.ts'
import { random16 } from '../keys/random16.ts'
import { elapsed } from '../node/elapsed.ts'
import { postJson } from '../node/post-json.ts'

/** A collector. */
export type Collector = {
  /** Where it takes OTLP over HTTP. */
  readonly url: string
  /** The name of this program there. */
  readonly service: string
}

/** What waits for a collector that is away or hangs; then the oldest spans are lost. */
const LIMITS = { backlogMax: 2048, batchMax: 512, intervalMs: 1000 }

/** Creates the spans that go to a collector, by OTLP over HTTP as JSON. */
export function createTracer({ url, service }: Collector, log: Log): Tracer {
  const after = (delayMs: number, task: () => void): (() => void) => {
    const timer = setTimeout(task, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  }
  const reporter = new Reporter(
    { format: 'otlp', url, service, ...LIMITS },
    { after, log, postJson },
  )
  return new Tracer(reporter, { now: Date.now, elapsed, random16 })
}
