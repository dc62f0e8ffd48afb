/**
 * Keeps the Services' lines of a hosts file up to date.
 * @module
 */
import { errorCode } from '../../dns/bytes/unknown.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import { type Metrics, metricInfo, type Series } from '../../dns/telemetry/metrics.ts'
import type { FoundService } from './find-service.ts'
import { countEntries, mergeHosts } from './hosts-file.ts'
import { readText, replaceFile } from './replace-file.ts'

/** What to keep, and where. */
export type HostsOptions = {
  readonly path: string
  readonly services: readonly string[]
  readonly domain: string
  readonly find: (service: string) => Promise<FoundService>
  readonly log: Log
  readonly metrics: Metrics
}

const LOOKUP_FAILURES = metricInfo(
  'kubedoh_hosts_lookup_failures_total',
  'Failed look-ups of a Service; its entries stay.',
)
const WRITE_FAILURES = metricInfo(
  'kubedoh_hosts_write_failures_total',
  'Failed writes of the hosts file.',
)
const ENTRIES = metricInfo('kubedoh_hosts_entries', 'Entries in the hosts file.')

/** Updates one hosts file. */
export class HostsUpdater {
  private readonly options: HostsOptions
  /** The last logged reason by Service, so that each outage is logged once. */
  private readonly failing = new Map<string, string>()
  private fileError = ''
  private readonly lookupFailures: Series
  private readonly writeFailures: Series

  constructor(options: HostsOptions) {
    this.options = options
    this.lookupFailures = options.metrics.counter(LOOKUP_FAILURES)
    this.writeFailures = options.metrics.counter(WRITE_FAILURES)
  }

  /** Looks all Services up and returns the text that the file should have. */
  async preview(): Promise<string> {
    const found = await this.findAll()
    const { path, domain } = this.options
    return mergeHosts(readText(path), found, domain)
  }

  /**
   * Looks all Services up and writes the file if it differs. Logs failures, and returns whether
   * nothing failed.
   */
  async update(): Promise<boolean> {
    const found = await this.findAll()
    const { path, domain, log } = this.options
    let entries = 0
    try {
      const how = await replaceFile(path, (text) => {
        const merged = mergeHosts(text, found, domain)
        entries = countEntries(merged)
        return merged
      })
      if (how !== 'unchanged') log({ level: 'info', message: `wrote ${path}`, entries, how })
      this.options.metrics.gauge(ENTRIES).value = entries
      this.fileError = ''
    } catch (error) {
      this.writeFailures.value++
      const code = errorCode(error)
      if (code !== this.fileError) log({ level: 'error', message: `cannot write ${path}: ${code}` })
      this.fileError = code
    }
    return this.failing.size === 0 && this.fileError === ''
  }

  private async findAll(): Promise<Map<string, readonly string[] | undefined>> {
    const { services, find } = this.options
    const found = await Promise.all(
      services.map(async (service) => [service, this.note(service, await find(service))] as const),
    )
    return new Map(found)
  }

  /** Logs the start and the end of an outage. */
  private note(service: string, found: FoundService): readonly string[] | undefined {
    const { log } = this.options
    const previous = this.failing.get(service)
    if (found.kind === 'known') {
      if (previous !== undefined) log({ level: 'info', message: `resolved ${service} again` })
      this.failing.delete(service)
      return found.addresses
    }
    this.lookupFailures.value++
    const message = `cannot resolve ${service}: ${found.reason}; its entries stay`
    if (previous !== found.reason) log({ level: 'warning', message })
    this.failing.set(service, found.reason)
    return undefined
  }
}
