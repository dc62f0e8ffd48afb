/**
 * The file of `hosts`, read again when it was written.
 * @module
 */

import { createPause } from '../../../dns/bytes/steps.ts'
import { errorText } from '../../../dns/bytes/unknown.ts'
import { metricInfo } from '../../../dns/telemetry/metrics.ts'
import type { Host } from '../../contract/host.ts'
import { WatchedFiles } from '../../plugin-kit/watched-files.ts'
import { type HostsOptions, HostsTable, readHosts } from './hosts-table.ts'

/** The file and how to read it. */
type FileOptions = HostsOptions & {
  readonly path: string
  /** Whether the Corefile names it: then it should exist. */
  readonly isNamed: boolean
  /** Time between checks of the file; 0 for none. */
  readonly reloadMs: number
}

const ENTRIES = metricInfo(
  'coredns_hosts_entries',
  'The combined number of entries in hosts and Corefile.',
  'hostsfile',
)
const RELOADED = metricInfo(
  'coredns_hosts_reload_timestamp_seconds',
  'The timestamp of the last reload of hosts file.',
)
const READABLE = metricInfo(
  'kubedoh_hosts_file_readable',
  'Whether the hosts file could be read at the last attempt: 1, or 0.',
  'hostsfile',
)

/** Follows a hosts file. */
export class HostsFile {
  private readonly host: Host
  private readonly options: FileOptions
  private readonly inlineCount: number
  private readonly files: WatchedFiles
  private current: HostsTable
  private wasReadable = true
  private isStopped = false
  private cancel: () => void = () => undefined

  /** @param inlineCount entries of the Corefile, which the metric includes */
  constructor(host: Host, options: FileOptions, inlineCount: number) {
    this.host = host
    this.options = options
    this.inlineCount = inlineCount
    this.files = new WatchedFiles(host)
    this.current = new HostsTable(options)
  }

  /** The entries of the file as last read; none before that. */
  get table(): HostsTable {
    return this.current
  }

  /** Reads the file, unless it is unchanged. Keeps the previous entries if it cannot be read. */
  async read(): Promise<void> {
    const { host, options, files } = this
    const { path, isNamed } = options
    if (files.isUnchanged) return
    files.clear()
    let bytes: Uint8Array
    try {
      bytes = await files.read(path)
    } catch (error) {
      if (isNamed) this.noteReadable(false, errorText(error))
      return
    }
    const { table, longLines } = await readHosts(bytes, options, createPause(host))
    this.current = table
    this.noteReadable(true)
    host.metrics.gauge(ENTRIES, [path]).value = table.entryCount + this.inlineCount
    host.metrics.gauge(RELOADED).value = host.now() / 1000
    if (longLines === 0) return
    const message = 'ignored lines of a hosts file that are over 64 KiB'
    host.log({ level: 'warning', message, path, lines: longLines })
  }

  /** Starts to check the file regularly. */
  start(): void {
    const { reloadMs } = this.options
    if (reloadMs <= 0 || this.isStopped) return
    this.cancel = this.host.after(reloadMs, () => {
      void this.read().then(() => this.start())
    })
  }

  stop(): void {
    this.isStopped = true
    this.cancel()
  }

  /** Logs each change, not each attempt. */
  private noteReadable(isReadable: boolean, reason = ''): void {
    const { host, options, wasReadable } = this
    const { path } = options
    host.metrics.gauge(READABLE, [path]).value = isReadable ? 1 : 0
    this.wasReadable = isReadable
    if (isReadable === wasReadable) return
    if (isReadable) host.log({ level: 'info', message: 'a hosts file can be read again', path })
    else {
      const message = 'cannot read a hosts file; its names are not answered or stay as they were'
      host.log({ level: 'warning', message, path, reason })
    }
  }
}
