/**
 * Follows files that the process reads again when they change: those of a server's certificates,
 * and a gateway's variables.
 * @module
 */
import { errorText } from '../../dns/bytes/unknown.ts'
import type { Log } from '../../dns/telemetry/log.ts'

/** Interval at which the files are compared with what is in use. */
const LOOK_MS = 10_000

/** What is in the files, and what is in use. */
export type CertificateOptions<T> = {
  readonly used: () => T
  /** Reads the files. Throws if it cannot. */
  readonly read: () => T
  /** Uses what was read. Throws if it cannot; the previous contents then stay in use. */
  readonly renew: (next: T) => Promise<void> | void
  readonly log: Log
  /** What the log calls the contents (default `certificate`). */
  readonly what?: string
}

/** The files of certificates, or others that are small. */
export class CertificateFiles<T> {
  private readonly options: CertificateOptions<T>
  private readonly timer: NodeJS.Timeout
  private tried: string | undefined

  /** Compares the files with what is in use every ten seconds, until `stop`. */
  constructor(options: CertificateOptions<T>) {
    this.options = options
    this.timer = setInterval(() => void this.look(), LOOK_MS)
    this.timer.unref()
  }

  /**
   * Uses the files if their contents have changed. Tries each content once: while files are being
   * replaced, key and certificate may not match. Logs a failure; never rejects.
   */
  async look(): Promise<void> {
    const { used, log, what = 'certificate' } = this.options
    const read = this.read()
    if (read.text === this.tried || read.text === JSON.stringify(used())) return
    this.tried = read.text
    try {
      await read.use()
      log({ level: 'info', message: `reloaded the changed ${what}` })
    } catch (error) {
      const message = `the changed ${what} is not used; the previous one stays`
      log({ level: 'error', message, reason: errorText(error) })
    }
  }

  /** Ends the checks. */
  stop(): void {
    clearInterval(this.timer)
  }

  private read(): { readonly text: string; readonly use: () => Promise<void> | void } {
    const { read, renew } = this.options
    try {
      const next = read()
      return { text: JSON.stringify(next), use: () => renew(next) }
    } catch (error) {
      return { text: errorText(error), use: () => Promise.reject(error) }
    }
  }
}
