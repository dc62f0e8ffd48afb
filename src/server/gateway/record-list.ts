/**
 * A list of records that several processes change, whatever keeps its versions: a change is checked
 * against the newest version, and starts again when another process comes first.
 * @module
 */
import { Mutex } from '../../gateway/snapshots/store.ts'

/** How often other processes may come first before a read or a change fails. */
export const ATTEMPTS_MAX = 100

/** A version of the list. */
export type RecordVersion<T> = {
  readonly records: ReadonlyMap<string, T>
  /** The records again: the same list while the version is the same. */
  readonly list: readonly T[]
  /** Writes the version after this one; false when another process has. */
  readonly writeNext: (records: ReadonlyMap<string, T>) => Promise<boolean>
}

/** The version of a time, or when the oldest one was written, if there is any. */
export type EarlierVersion<T> =
  | {
      readonly kind: 'found'
      readonly writtenMs: number
      readonly records: ReadonlyMap<string, T>
    }
  | { readonly kind: 'missing'; readonly oldestMs: number | undefined }

/** What keeps the versions. */
export type RecordVersions<T> = {
  readonly readNewest: () => Promise<RecordVersion<T>>
  /** Reads the version that was the newest at a time, in milliseconds since 1970. */
  readonly readAt: (atMs: number) => Promise<EarlierVersion<T>>
  /** Where they are, for messages. */
  readonly path: string
}

/** The list; one process runs one change at a time. */
export class RecordList<T> {
  private readonly versions: RecordVersions<T>
  private readonly mutex = new Mutex()

  constructor(versions: RecordVersions<T>) {
    this.versions = versions
  }

  /** Lists the records. */
  async list(): Promise<readonly T[]> {
    return (await this.versions.readNewest()).list
  }

  /** Returns to the records of a time, as a new version, as far as earlier ones are kept. */
  async restore(atMs: number): Promise<EarlierVersion<T>> {
    const found = await this.versions.readAt(atMs)
    if (found.kind === 'found') {
      const replaceAll = (now: Map<string, T>): void => {
        now.clear()
        for (const [id, record] of found.records) now.set(id, record)
      }
      await this.change(replaceAll, () => true)
    }
    return found
  }

  /**
   * Runs a step over the records, and writes them if its result is a change. Runs the step again
   * when another process has changed them meanwhile.
   */
  change<Result>(
    step: (records: Map<string, T>) => Result,
    isChange: (result: Result) => boolean,
  ): Promise<Result> {
    return this.mutex.run(async () => {
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        const newest = await this.versions.readNewest()
        const records = new Map(newest.records)
        const result = step(records)
        if (!isChange(result) || (await newest.writeNext(records))) return result
      }
      throw new Error(`Cannot write ${this.versions.path}: other processes change it all the time`)
    })
  }
}
