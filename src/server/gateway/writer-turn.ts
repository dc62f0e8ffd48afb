/**
 * Turns of the processes that write one cluster's snapshots: files `turns/N`, the highest of which
 * counts. An odd N is somebody's turn, an even one says that nobody has it.
 *
 * A process takes a turn, ends it, or takes over that of a process that died, by creating the next
 * number: the file system lets one of several succeed. No clock of another machine matters: a turn
 * is over when this process has seen the same one for {@link STALE_MS}.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { HttpError } from '../../gateway/doh/http-error.ts'
import { elapsed } from '../node/elapsed.ts'
import type { Files } from './files.ts'

/** Longer than a publication of the largest cluster takes on a slow disk. */
const STALE_MS = 15_000
/** How long to wait for turns of others; an exporter gives a request 30 s. */
const WAIT_MS_MAX = 25_000
const POLL_MS = 20
/** Numbers behind the newest that stay, so that a slow process finds them taken. */
const KEPT = 16
const NUMBER = /^[1-9]\d{0,14}$/

/** The turns of one process in one folder. */
export class WriterTurn {
  private readonly folder: string
  private readonly files: Files
  private readonly staleMs: number
  /** The turn of this process, also one whose end the disk has refused; 0 for none. */
  private held = 0

  /** @param folder of the files; the first turn creates it */
  constructor(folder: string, files: Files, staleMs: number = STALE_MS) {
    this.folder = folder
    this.files = files
    this.staleMs = staleMs
  }

  /**
   * Runs a step in a turn of its own; call it for one step at a time.
   * @throws {HttpError} 503 when the turns of others take too long
   * @throws {StoreError} when the disk fails
   */
  async run<T>(step: () => Promise<T>): Promise<T> {
    await this.take()
    try {
      return await step()
    } finally {
      await this.end()
    }
  }

  /** Checks that nobody has taken the turn over. @throws {HttpError} 503 if so */
  async check(): Promise<void> {
    if (this.held > 0 && (await this.newest()) !== this.held) throw busy()
  }

  private async take(): Promise<void> {
    const startMs = elapsed()
    let seen = -1
    let seenMs = startMs
    for (;;) {
      const newest = await this.newest()
      if (newest > 0 && newest === this.held) return
      const nowMs = elapsed()
      if (newest !== seen) {
        seen = newest
        seenMs = nowMs
      }
      const isFree = newest % 2 === 0
      if (isFree || nowMs - seenMs >= this.staleMs) {
        if (await this.create(newest + (isFree ? 1 : 2))) return
      }
      if (nowMs - startMs >= WAIT_MS_MAX) throw busy()
      await sleep(POLL_MS)
    }
  }

  private async create(turn: number): Promise<boolean> {
    if (!(await this.files.create(this.pathOf(turn)))) return false
    const all = await this.numbers()
    // A slow process may create a number that others have used and removed.
    if (Math.max(...all) !== turn) return false
    this.held = turn
    for (const one of all) {
      if (one <= turn - KEPT) await this.files.remove(this.pathOf(one)).catch(() => undefined)
    }
    return true
  }

  private async end(): Promise<void> {
    try {
      await this.files.create(this.pathOf(this.held + 1))
      this.held = 0
    } catch {
      // The next step goes on with this turn; other processes take it over when it is stale.
    }
  }

  private async newest(): Promise<number> {
    return Math.max(0, ...(await this.numbers()))
  }

  private async numbers(): Promise<number[]> {
    return (await this.files.list(this.folder)).filter((name) => NUMBER.test(name)).map(Number)
  }

  private pathOf(turn: number): string {
    return `${this.folder}/${turn}`
  }
}

function busy(): HttpError {
  return new HttpError(503, 'busy', 'Other gateways write this cluster; try again')
}
