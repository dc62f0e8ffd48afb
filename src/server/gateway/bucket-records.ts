/**
 * Records in one object of a bucket, one record a line, which writers compare and swap. A version
 * that is replaced may stay as `KEY.2026-11-28T10-05-33.123Z`, by the time at which it was written:
 * the newest ones, and those that {@link surplusVersions} leaves; and always one with broken lines,
 * which may be of a later build.
 * @module
 */
import type { Bucket, BucketObject } from './bucket.ts'
import { forEachOf } from './bucket.ts'
import { surplusVersions } from './file-history.ts'
import {
  formatLines,
  type KnownLines,
  type LineFormat,
  type Named,
  type ParsedLines,
  parseLines,
} from './record-lines.ts'
import type { EarlierVersion, RecordVersion, RecordVersions } from './record-list.ts'

/** Versions that stay, the newest included, however close in time they are. */
const VERSIONS_KEPT = 16
const TIME = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d\.\d{3}Z)$/

/** What the versions need beside the bucket and the key. */
export type BucketRecordsOptions = {
  /** Whether replaced versions stay. */
  readonly keepsHistory: boolean
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Gets a key with a broken line, and the line's number from 1; never its text. */
  readonly onBroken: (key: string, line: number) => void
}

type Contents<T> = ParsedLines<T> & {
  readonly list: readonly T[]
  readonly object: BucketObject | undefined
}

/** The versions of an object; the first change writes the first. */
export class BucketVersions<T extends Named> implements RecordVersions<T> {
  readonly path: string
  private readonly bucket: Bucket
  private readonly form: LineFormat<T>
  private readonly options: BucketRecordsOptions
  private last: Contents<T> = {
    records: new Map(),
    list: [],
    lines: new Map(),
    broken: [],
    object: undefined,
  }

  constructor(bucket: Bucket, key: string, form: LineFormat<T>, options: BucketRecordsOptions) {
    this.path = key
    this.bucket = bucket
    this.form = form
    this.options = options
  }

  async readNewest(): Promise<RecordVersion<T>> {
    const before = this.last
    const object = await this.bucket.get(this.path, before.object)
    const newest = object === before.object ? before : await this.open(object)
    const { records, list } = newest
    return { records, list, writeNext: (next) => this.writeNext(newest, next) }
  }

  async readAt(atMs: number): Promise<EarlierVersion<T>> {
    const newest = await this.bucket.get(this.path)
    const times = newest === undefined ? [] : await this.times()
    if (newest !== undefined && newest.writtenMs <= atMs) return this.found(newest)
    const time = times.find((one) => millisecondsOf(one) <= atMs)
    const object = time === undefined ? undefined : await this.bucket.get(`${this.path}.${time}`)
    if (object !== undefined) return this.found(object)
    const oldest = times.at(-1)
    return { kind: 'missing', oldestMs: oldest ? millisecondsOf(oldest) : newest?.writtenMs }
  }

  private async found(object: BucketObject): Promise<EarlierVersion<T>> {
    const { records } = await this.parse(object)
    return { kind: 'found', writtenMs: object.writtenMs, records }
  }

  private async writeNext(
    { lines: known, broken, object }: Contents<T>,
    records: ReadonlyMap<string, T>,
  ): Promise<boolean> {
    const { bytes, lines } = await formatLines(this.form, records, known)
    const { keepsHistory, now } = this.options
    // The same bytes may have been written again: then they have the same entity tag.
    const beforeMs = object && ((await this.bucket.writtenMs(this.path)) ?? object.writtenMs)
    const writtenMs = Math.max(now(), (beforeMs ?? 0) + 1)
    const keepsBefore = keepsHistory || broken.length > 0
    if (keepsBefore && object !== undefined && beforeMs !== undefined) {
      await this.bucket.put(`${this.path}.${timeOf(beforeMs)}`, object.bytes, beforeMs)
    }
    const etag = await this.bucket.swap(this.path, bytes, { before: object?.etag, writtenMs })
    if (etag === undefined) return false
    const list = [...records.values()]
    this.last = { records, list, lines, broken: [], object: { etag, bytes, writtenMs } }
    // The change is made; the next one removes what stays.
    if (keepsHistory) await this.removeSurplus().catch(() => undefined)
    return true
  }

  private async removeSurplus(): Promise<void> {
    const older = (await this.times()).slice(VERSIONS_KEPT - 1)
    const surplus = surplusVersions(older, this.options.now())
    await forEachOf(surplus, (time) => this.bucket.remove(`${this.path}.${time}`))
  }

  /** Lists the times of earlier versions, the newest first. */
  private async times(): Promise<readonly string[]> {
    const prefix = `${this.path}.`
    return (await this.bucket.list(prefix))
      .map(({ key }) => key.slice(prefix.length))
      .filter((time) => TIME.test(time))
      .sort()
      .reverse()
  }

  private async open(object: BucketObject | undefined): Promise<Contents<T>> {
    const parsed =
      object === undefined
        ? { records: new Map<string, T>(), lines: new Map<string, T>(), broken: [] }
        : await this.parse(object)
    this.last = { ...parsed, list: [...parsed.records.values()], object }
    return this.last
  }

  private parse({ bytes }: BucketObject): Promise<ParsedLines<T>> {
    const { onBroken } = this.options
    const known: KnownLines<T> = this.last.lines
    return parseLines(this.form, bytes, known, (line) => onBroken(this.path, line))
  }
}

/** Colons would have to be encoded in keys. */
function timeOf(writtenMs: number): string {
  return new Date(writtenMs).toISOString().replaceAll(':', '-')
}

function millisecondsOf(time: string): number {
  return Date.parse(time.replace(TIME, '$1:$2:$3'))
}
