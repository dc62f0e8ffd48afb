/**
 * The health of upstreams: checks an upstream from its first failure until it responds.
 * @module
 */

import { TYPE } from '../../../dns/names/rr-type.ts'
import { metricInfo, type Series } from '../../../dns/telemetry/metrics.ts'
import { FLAG } from '../../../dns/wire/query.ts'
import { writeQuery } from '../../../dns/wire/write-query.ts'
import type { Host, UpstreamClient } from '../../contract/host.ts'
import type { ForwardOptions } from './options.ts'

const CHECK_TIMEOUT_MS = 1000
/** The pause before a check is that of the Corefile, plus or minus a quarter. */
const JITTER = 0.25

/** Which upstream to check, and how. */
export type Checked = {
  /** The name in metrics. */
  readonly name: string
  readonly client: UpstreamClient
  readonly options: ForwardOptions
  readonly host: Host
}

/** One upstream's health. */
export class UpstreamHealth {
  private readonly checked: Checked
  private readonly failed: Series
  private failures = 0
  private isChecking = false
  private isStopped = false
  private cancel = (): void => {}

  constructor(checked: Checked) {
    this.checked = checked
    this.failed = checked.host.metrics.counter(
      metricInfo(
        'coredns_proxy_healthcheck_failures_total',
        'Counter of the number of failed healthchecks.',
        'proxy_name to',
      ),
      [checked.options.plugin, checked.name],
    )
  }

  /** Whether it has failed so often that queries avoid it. */
  get isDown(): boolean {
    const { failuresMax } = this.checked.options
    return failuresMax > 0 && this.failures >= failuresMax
  }

  /** Counts a failed query, and starts health checks. */
  noteFailure(): void {
    if (this.checked.options.failuresMax === 0 || this.isChecking || this.isStopped) return
    this.isChecking = true
    void this.check()
  }

  /** Resets the failures after a response. */
  noteAnswer(): void {
    this.failures = 0
  }

  /** Ends all checks. */
  stop(): void {
    this.isStopped = true
    this.cancel()
  }

  private async check(): Promise<void> {
    const { client, host, options } = this.checked
    const { healthCheckName, healthCheckRecurses, healthCheckMs, protocol } = options
    const query = writeQuery({
      name: healthCheckName,
      type: TYPE.NS,
      id: host.random16(),
      flags: healthCheckRecurses ? FLAG.RD : 0,
    })
    const transport = protocol === 'tcp' ? 'tcp' : 'udp'
    try {
      // On a new connection: one that was kept may be dead while the upstream is well.
      await client.exchange(query, {
        protocol: transport,
        timeoutMs: CHECK_TIMEOUT_MS,
        connectionAgeMsMax: 0,
      })
      this.failures = 0
      this.isChecking = false
    } catch {
      this.failures++
      this.failed.value++
      if (this.isStopped) return
      // Many servers and threads notice a failure at once, and must not stay in step.
      const spread = 1 + JITTER * (host.random16() / 0x8000 - 1)
      this.cancel = host.after(healthCheckMs * spread, () => {
        void this.check()
      })
    }
  }
}
