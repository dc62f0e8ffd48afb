/**
 * Whether upstreams are held to be up: checked only from the first failure on, and until they
 * answer.
 * @module
 */
import { FLAG } from '../../dns/query.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { writeQuery } from '../../dns/write-query.ts'
import type { Series } from '../../telemetry/metrics.ts'
import type { Host, Upstream } from '../host.ts'
import type { ForwardOptions } from './options.ts'

const CHECK_TIMEOUT_MS = 1000

/** One upstream's health. */
export class UpstreamHealth {
  readonly upstream: Upstream
  private readonly host: Host
  private readonly options: ForwardOptions
  private readonly failed: Series
  private failures = 0
  private isChecking = false
  private isStopped = false
  private cancel = (): void => {}

  constructor(upstream: Upstream, options: ForwardOptions, host: Host) {
    this.upstream = upstream
    this.options = options
    this.host = host
    this.failed = host.metrics.counter(
      {
        name: 'coredns_proxy_healthcheck_failures_total',
        help: 'Counter of the number of failed healthchecks.',
        labels: ['proxy_name', 'to'],
      },
      ['forward', upstreamName(upstream)],
    )
  }

  /** Whether it has failed so often that others go first. */
  get isDown(): boolean {
    return this.options.failuresMax > 0 && this.failures >= this.options.failuresMax
  }

  /** Takes note of a query that failed, and begins to check. */
  noteFailure(): void {
    if (this.options.failuresMax === 0 || this.isChecking || this.isStopped) return
    this.isChecking = true
    void this.check()
  }

  /** Takes note of an answer. */
  noteAnswer(): void {
    this.failures = 0
  }

  /** Ends all checks. */
  stop(): void {
    this.isStopped = true
    this.cancel()
  }

  private async check(): Promise<void> {
    const { healthCheckName, healthCheckRecurses, healthCheckMs, protocol } = this.options
    const query = writeQuery({
      name: healthCheckName,
      type: TYPE.NS,
      id: this.host.random16(),
      flags: healthCheckRecurses ? FLAG.RD : 0,
    })
    const transport = protocol === 'tcp' ? 'tcp' : 'udp'
    try {
      await this.host.exchange(this.upstream, query, {
        protocol: transport,
        timeoutMs: CHECK_TIMEOUT_MS,
      })
      this.failures = 0
      this.isChecking = false
    } catch {
      this.failures++
      this.failed.value++
      if (this.isStopped) return
      this.cancel = this.host.after(healthCheckMs, () => {
        void this.check()
      })
    }
  }
}

/** An upstream as metrics and messages call it. */
export function upstreamName({ address, port, url }: Upstream): string {
  if (url !== undefined) return new URL(url).origin
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}
