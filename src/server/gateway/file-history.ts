/**
 * Earlier versions of a file of records, as far as they are kept: of each hour of two days the last
 * one, of each day of thirty, and the last one before these. An earlier version is `PATH.HOUR`,
 * `tokens.jsonl.2026-11-28T10` for example; the time at which it was written is the file's.
 * @module
 */
import { basename, dirname } from 'node:path'
import type { Files } from './files.ts'

/** Age from which on only the last version of each day stays. */
const HOURLY_MS = 2 * 24 * 3600 * 1000
/** Age from which on only one version stays. */
const DAILY_MS = 30 * 24 * 3600 * 1000
const HOUR = /^\d{4}-\d\d-\d\dT\d\d$/
const HOUR_LENGTH = '2026-11-28T10'.length
const DAY_LENGTH = '2026-11-28'.length

/** A version of a time, or when the oldest one was written, if there is any. */
export type FoundVersion =
  | { readonly kind: 'found'; readonly path: string; readonly writtenMs: number }
  | { readonly kind: 'missing'; readonly oldestMs: number | undefined }

/** The earlier versions of one file. */
export class FileHistory {
  private readonly path: string
  private readonly files: Files
  private readonly now: () => number

  constructor(path: string, files: Files, now: () => number) {
    this.path = path
    this.files = files
    this.now = now
  }

  /** Takes over files of versions that nobody reads any more, the oldest first. */
  async take(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      const found = await this.files.stat(path)
      if (found === undefined) continue
      const hour = new Date(found.mtimeMs).toISOString().slice(0, HOUR_LENGTH)
      await this.files.rename(path, `${this.path}.${hour}`)
    }
    for (const hour of surplusVersions(await this.hours(), this.now())) {
      await this.files.remove(`${this.path}.${hour}`)
    }
  }

  /**
   * Finds the version that was the newest at a time.
   * @param paths of the versions that are not taken over yet
   */
  async find(atMs: number, paths: readonly string[]): Promise<FoundVersion> {
    const all = [...paths, ...(await this.hours()).map((hour) => `${this.path}.${hour}`)]
    const times = await this.files.statAll(all)
    const written = all
      .flatMap((path, i) => ({ path, writtenMs: times[i]?.mtimeMs ?? Number.NaN }))
      .filter(({ writtenMs }) => !Number.isNaN(writtenMs))
      .sort((a, b) => b.writtenMs - a.writtenMs)
    const found = written.find(({ writtenMs }) => writtenMs <= atMs)
    if (found !== undefined) return { kind: 'found', ...found }
    return { kind: 'missing', oldestMs: written.at(-1)?.writtenMs }
  }

  /** Lists the hours of earlier versions, the newest first. */
  private async hours(): Promise<readonly string[]> {
    const prefix = `${basename(this.path)}.`
    return (await this.files.list(dirname(this.path)))
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length))
      .filter((name) => HOUR.test(name))
      .sort()
      .reverse()
  }
}

/**
 * Returns the versions that need not stay.
 * @param times of the versions, the newest first; each begins as `2026-11-28T10`
 */
export function surplusVersions(times: readonly string[], nowMs: number): readonly string[] {
  const kept = new Set<string>()
  return times.filter((time) => {
    const hour = time.slice(0, HOUR_LENGTH)
    const ageMs = nowMs - Date.parse(`${hour}:00Z`)
    const slot = ageMs < HOURLY_MS ? hour : ageMs < DAILY_MS ? hour.slice(0, DAY_LENGTH) : ''
    const isSurplus = kept.has(slot)
    kept.add(slot)
    return isSurplus
  })
}
