/**
 * Reports the state of the process to systemd (sd_notify(3)). Node has no datagram sockets in the
 * file system, so that systemd's own program `systemd-notify` sends the messages; units need
 * `NotifyAccess=all`.
 * @module
 */
import { spawn } from 'node:child_process'
import { errorCode } from '../../dns/bytes/unknown.ts'
import type { Log } from '../../dns/telemetry/log.ts'

/** Reports to systemd; does nothing without `NOTIFY_SOCKET`. */
export class ServiceManager {
  private readonly environment: Readonly<Record<string, string | undefined>>
  private readonly log: Log
  private watchdog: NodeJS.Timeout | undefined
  private hasFailed = false

  constructor(log: Log, environment: Readonly<Record<string, string | undefined>> = process.env) {
    this.log = log
    this.environment = environment
  }

  /** Reports that the server answers, and then the watchdog's half-time that it still runs. */
  ready(): void {
    this.notify('READY=1')
    const { WATCHDOG_USEC, WATCHDOG_PID } = this.environment
    const intervalMs = Number(WATCHDOG_USEC) / 2000
    const isOurs = WATCHDOG_PID === undefined || Number(WATCHDOG_PID) === process.pid
    if (!(intervalMs >= 1) || !isOurs) return
    this.watchdog = setInterval(() => this.notify('WATCHDOG=1'), intervalMs).unref()
  }

  /** Reports that the server ends. The watchdog goes on: `lameduck` takes time. */
  stopping(): void {
    this.notify('STOPPING=1')
  }

  /** Ends the watchdog. */
  close(): void {
    clearInterval(this.watchdog)
  }

  private notify(state: string): void {
    const { NOTIFY_SOCKET } = this.environment
    if (NOTIFY_SOCKET === undefined || NOTIFY_SOCKET === '') return
    const child = spawn('systemd-notify', [state], { stdio: 'ignore', env: this.environment })
    child.once('error', (error) => this.fail(errorCode(error)))
    child.once('exit', (status) => {
      if (status !== 0) this.fail(`status ${status}`)
    })
  }

  private fail(reason: string): void {
    if (this.hasFailed) return
    this.hasFailed = true
    this.log({ level: 'warning', message: `systemd-notify fails: ${reason}; use Type=exec` })
  }
}
